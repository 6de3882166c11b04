"""`scenario prove`: whether an incident can be solved as it is meant to be, from its stored calibration. Pure, quick.

One file a claim or two; each takes a Subject and returns Lines. docs/proofs.md keeps the table of what is shipped.
"""

from __future__ import annotations

from scenarios.format import Scenario
from scenarios.proof import apart, golden, healthy, search, work
from scenarios.proof.base import Line, Proof, subject_of

__all__ = ["Line", "Proof", "prove"]

# In the order in which a candidate meets them.
CLAIMS = (
    work.headline,
    search.splits_first,
    search.bisects,
    search.ends_in_time,
    search.change_log_suggests,
    apart.told_apart,
    work.compute_spares_the_fabric,
    healthy.passes,
    golden.paths_pass,
)


def prove(scenario: Scenario) -> Proof:
    """Every claim with its figure and verdict. Raises BankIncomplete where there is no calibration to prove it from."""
    subject = subject_of(scenario)
    lines = tuple(claim(subject) for claim in CLAIMS)
    return Proof(scenario.key, scenario.revision, subject.calibration.table, subject.calibration.digest, lines)
