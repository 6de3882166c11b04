"""What a fix does to the attempt's hidden cause, place included, and in which state several leave the lab."""

from __future__ import annotations

from collections.abc import Sequence

from grader.knowledge import Effect
from scenarios.format import Fix, Scenario
from scenarios.instances import CURES, HALF, NOTHING, Instance, State, places_of

Applied = tuple[str, str | None]  # a fix, and where


def effect(scenario: Scenario, instance: Instance, fix: str, where: str | None) -> Effect:
    """`cures`, `mitigates`, `nothing` or `harms`. One that takes a place does good only at the fault's, if it has one.

    Under two causes a fix that cures one of them mitigates. `where` is a place like `host:3`. Raises KeyError for a fix
    that the scenario has not.
    """
    does = set(effects(scenario, instance, fix, where).values())
    if does == {"cures"}:
        return "cures"
    if "harms" in does:
        return "harms"
    return "mitigates" if does & {"cures", "mitigates"} else "nothing"


def effects(scenario: Scenario, instance: Instance, fix: str, where: str | None) -> dict[str, Effect]:
    """What a fix does to each cause of the instance. Raises KeyError for a fix that the scenario has not."""
    chosen = scenario.fix(fix)
    return {one.cause: effect_on(chosen, one.cause, places_of(instance, one), where) for one in instance.drawn}


def effect_on(fix: Fix, cause: str, right: Sequence[str], where: str | None) -> Effect:
    does = fix.effects.get(cause, "nothing")
    misses = fix.takes_place is not None and bool(right) and where not in right
    return "nothing" if misses and does in ("cures", "mitigates") else does


def left_behind(scenario: Scenario, instance: Instance, applied: Sequence[Applied]) -> State:
    """The lab's state after fixes, one after another. Raises KeyError for a fix that the scenario has not.

    A cure stays. A fix that changes the job and leaves the fault is taken back when the next one is applied.
    """
    done = [effects(scenario, instance, fix, where) for fix, where in applied]
    cured = [one.cause for one in instance.drawn if any(each[one.cause] == "cures" for each in done)]
    trials = [fix for fix, _ in applied[-1:] if fix in instance.trials]
    cures = [CURES] if cured and len(cured) == len(instance.drawn) else [f"{HALF}{cause}" for cause in cured]
    return "+".join(cures + trials) or NOTHING
