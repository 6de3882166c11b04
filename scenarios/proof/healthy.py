"""The claim about healthy runs: no check accuses a job with nothing wrong."""

from __future__ import annotations

from scenarios.causes import HEALTHY
from scenarios.proof.base import Line, Subject, verdict
from scenarios.symptom import kind_of, variant_of

MOST_FALSE = 0.10


def passes(subject: Subject) -> Line:
    """How often healthy runs give another conclusive finding than they usually do, by the worst variant."""
    claim = f"no step gives a false finding in more than {MOST_FALSE:.0%} of healthy runs"
    tables, symptom = subject.calibration.tables.variants, variant_of(kind_of(subject.scenario))
    rates = {name: tables[name].healthy_false_rate for name in (*subject.index.variants, symptom)}
    unmeasured = tuple(f"{name}: no healthy run" for name, rate in rates.items() if rate is None)
    if unmeasured:
        return Line(
            "healthy", claim, f"{len(unmeasured)} of {len(rates)} steps have no healthy run", "unknown", unmeasured
        )
    known = {name: float(rate or 0.0) for name, rate in rates.items()}
    worst = max(known, key=lambda name: known[name])
    runs = max(tables[name].cells[HEALTHY].own_runs for name in known)
    clean = sum(rate == 0 for rate in known.values())
    figure = f"{known[worst]:.0%} at worst ({worst}); {clean} of {len(known)} steps without one in up to {runs} runs"
    wrong = tuple(f"{name}: {rate:.0%}" for name, rate in known.items() if rate > MOST_FALSE)
    return Line("healthy", claim, figure, verdict(not wrong), wrong)
