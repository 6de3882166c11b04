"""Claims about magnitudes: the headline holds under every cause, and compute faults leave the fabric alone."""

from __future__ import annotations

from statistics import median
from typing import Any

from grader.index import FABRIC_FAMILIES
from scenarios import reports
from scenarios.causes import CAUSES, HEALTHY
from scenarios.proof.base import Line, Subject, verdict
from scenarios.symptom import kind_of, variant_of
from scenarios.tables_file import SYMPTOM_VARIANT

MICROBENCHMARK = "microbenchmark[placement=as-job,size=job]"
FRACTION = "fraction_of_floor"


def headline(subject: Subject) -> Line:
    """Median of what each cause's runs leave of the healthy one, as the symptom measures it."""
    if subject.scenario.headline is None:
        return Line("headline", "useful work is what was lost", "the scenario says that it is not", "no question")
    low, high = subject.scenario.headline
    what = kind_of(subject.scenario).left_words
    claim = f"{what} under every cause lies at {low:.0%} to {high:.0%} of healthy (median of its runs)"
    reported = left_reported(subject)
    work = {cause: reported[cause] for cause in subject.scenario.prior if cause in reported}
    lacking = tuple(f"{cause}: no runs" for cause in subject.scenario.prior if cause not in work)
    if lacking:
        return Line(
            "headline", claim, f"{len(work)} of {len(subject.scenario.prior)} causes have runs", "unknown", lacking
        )
    medians = {cause: float(one["median"]) for cause, one in work.items()}
    least, most = (choose(medians, key=lambda cause: medians[cause]) for choose in (min, max))
    outside = sum(reports.outside(one, (low, high)) for one in work.values())
    runs = sum(one["runs"] for one in work.values())
    figure = f"{medians[least]:.2f} ({least}) to {medians[most]:.2f} ({most}); {outside} of {runs} runs lie outside"
    wrong = tuple(f"{cause}: {share:.2f}" for cause, share in medians.items() if not low <= share <= high)
    return Line("headline", claim, figure, verdict(not wrong), wrong)


def left_reported(subject: Subject) -> dict[str, dict[str, Any]]:
    """By cause, as calibration reports it: useful work, or what another symptom measures."""
    variant, all_reports = variant_of(kind_of(subject.scenario)), subject.calibration.reports
    if variant == SYMPTOM_VARIANT:
        return dict(all_reports.get("useful_work", {}))
    return reports.useful_work(all_reports.get("left", {}).get(variant, {}))


def compute_spares_the_fabric(subject: Subject) -> Line:
    """The collective alone stays at its floor under every cause that is not the fabric's, in every run."""
    floor = subject.scenario.at_floor_from
    claim = f"causes outside the fabric leave {MICROBENCHMARK} at {floor:g} of the floor or more"
    if MICROBENCHMARK not in subject.index.row_of:
        return Line("spares-fabric", claim, "the scenario does not offer it", "no question")
    lowest = {cause: min(found) for cause in others(subject) if (found := fractions(subject, cause))}
    if not lowest:
        return Line("spares-fabric", claim, "no such cause was measured", "unknown")
    least = min(lowest, key=lambda cause: lowest[cause])
    middle = median(fractions(subject, least))
    figure = f"lowest {lowest[least]:.2f} ({least}, median {middle:.2f}), over {len(lowest)} causes"
    wrong = tuple(f"{cause}: {share:.2f}" for cause, share in lowest.items() if share < floor)
    return Line("spares-fabric", claim, figure, verdict(not wrong), wrong)


def others(subject: Subject) -> list[str]:
    return [cause for cause in subject.scenario.prior if CAUSES[cause].family not in FABRIC_FAMILIES]


def fractions(subject: Subject, cause: str) -> list[float]:
    """What the microbenchmark read under a cause; under one that cannot touch it, what healthy runs read."""
    seen = [one for one in subject.calibration.observations if one.variant == MICROBENCHMARK]
    own = [one.readings[FRACTION] for one in seen if one.cause == cause]
    return own or [one.readings[FRACTION] for one in seen if one.cause == HEALTHY]
