"""What each fix really does to each cause: the declared effects held against stored runs with the fix applied.

A fix that cures leaves the fault out; one that changes the job is applied to it under the fault; any other leaves the
run as it is, which is then its own witness.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from gpu_worker.specs import WholeRun
from gpu_worker.symptoms import slow_collective
from grader.knowledge import Effect
from scenarios import bank, fixes
from scenarios.format import Fix, Scenario
from scenarios.instances import NOTHING, Instance, accepted_places, is_cured
from scenarios.symptom import kind_of, runs_of

# What is left of the healthy run after the fix (useful work a second, or what else the symptom measures), and the same
# over what the incident leaves.
CURED_FROM = 0.9
LEAST_LEFT = 0.01  # an incident may leave nothing
EASED_FROM, HARMED_TO = 1.1, 0.9


@dataclass(frozen=True)
class MeasuredCell:
    """One fix against one cause: medians of what is left over `instances`, and the effect that they say."""

    fix: str
    cause: str
    declared: Effect
    removed: bool  # whether the runs are without the fault: what leaves it can ease at most
    of_healthy: float
    of_incident: float
    instances: int

    @property
    def measured(self) -> Effect:
        if self.removed and self.of_healthy >= CURED_FROM and self.of_incident >= EASED_FROM:
            return "cures"
        if self.of_incident >= EASED_FROM:
            return "mitigates"
        return "harms" if self.of_incident <= HARMED_TO else "nothing"

    def __str__(self) -> str:
        said = f"declared {self.declared}, measured {self.measured}"
        return f"{self.fix} under {self.cause}: {said} ({self.of_incident:.2f} times what the incident leaves)"


def work_ratio(run: WholeRun, before: WholeRun) -> float:
    """Useful work a second and an accelerator, now over before."""
    return float(slow_collective.read(run, before).readings["work_ratio"].value)


def measured_cells(scenario: Scenario) -> Iterator[MeasuredCell]:
    """Every cell of the matrix that whole instances of the bank can tell of; none where nothing says what is left."""
    if kind_of(scenario).left is None:
        return
    whole = [one for one in bank.complete_instances(scenario) if one.cause in scenario.prior]
    for fix in scenario.fixes:
        for cause in scenario.prior:
            pairs = [pair for one in whole if one.cause == cause and (pair := applied(scenario, one, fix))]
            if pairs:
                removed, of_healthy, of_incident = zip(*pairs, strict=True)
                declared = fix.effects.get(cause, "nothing")
                works = median(of_healthy), median(of_incident)
                yield MeasuredCell(fix.id, cause, declared, all(removed), *works, len(pairs))


def applied(scenario: Scenario, instance: Instance, fix: Fix) -> tuple[bool, float, float] | None:
    """Whether the fix at the fault's place removes it, and what is left then of the healthy run and over the incident.

    None where the fix takes a place that this instance's fault has not: an uplink is no host's.
    """
    places = [place for place in accepted_places(instance) if place.startswith(f"{fix.takes_place}:")]
    if fix.takes_place and instance.place and not places:
        return None
    state = fixes.left_behind(scenario, instance, [(fix.id, places[0] if places else None)])
    kind = kind_of(scenario)
    after, incident = (kind.left_of(*runs_of(instance, kind, one)) or 0.0 for one in (state, NOTHING))
    return is_cured(state), after, over(after, incident)


def over(after: float, incident: float) -> float:
    """What is left after the fix over what the incident leaves: nothing twice is no change."""
    return max(after, LEAST_LEFT) / max(incident, LEAST_LEFT)
