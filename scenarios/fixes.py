"""What a fix does to the attempt's hidden cause, place included, and in which state several leave the lab."""

from __future__ import annotations

from collections.abc import Sequence

from grader.knowledge import Effect
from scenarios.format import Scenario
from scenarios.instances import CURES, NOTHING, Instance, State, accepted_places

Applied = tuple[str, str | None]  # a fix, and where


def effect(scenario: Scenario, instance: Instance, fix: str, where: str | None) -> Effect:
    """`cures`, `mitigates`, `nothing` or `harms`. One that takes a place does good only at the fault's, if it has one.

    `where` is a place like `host:3`. Raises KeyError for a fix that the scenario has not.
    """
    chosen = scenario.fix(fix)
    does = chosen.effects.get(instance.cause, "nothing")
    right = accepted_places(instance)
    misses = chosen.takes_place is not None and bool(right) and where not in right
    return "nothing" if misses and does in ("cures", "mitigates") else does


def left_behind(scenario: Scenario, instance: Instance, applied: Sequence[Applied]) -> State:
    """The lab's state after fixes, one after another. Raises KeyError for a fix that the scenario has not.

    A cure stays. A fix that changes the job and leaves the fault is taken back when the next one is applied.
    """
    cured = any(effect(scenario, instance, fix, where) == "cures" for fix, where in applied)
    trials = [fix for fix, _ in applied[-1:] if fix in instance.trials]
    return "+".join([CURES] * cured + trials) or NOTHING
