"""What a fix does to the attempt's hidden cause, place included."""

from __future__ import annotations

from grader.knowledge import Effect
from scenarios.format import Scenario
from scenarios.instances import Instance, accepted_places


def effect(scenario: Scenario, instance: Instance, fix: str, where: str | None) -> Effect:
    """`cures`, `mitigates`, `nothing` or `harms`. A fix that takes a place does good only at the fault's own.

    `where` is a place like `host:3`. Raises KeyError for a fix that the scenario has not.
    """
    chosen = scenario.fix(fix)
    does = chosen.effects.get(instance.cause, "nothing")
    misses = chosen.takes_place is not None and where not in accepted_places(instance)
    return "nothing" if misses and does in ("cures", "mitigates") else does


def combined(effects: list[Effect]) -> Effect:
    """What several fixes, one after another, leave behind: a cure stays a cure; harm is not undone by nothing."""
    for strongest in ("cures", "harms", "mitigates"):
        if strongest in effects:
            return strongest  # type: ignore[return-value]
    return "nothing"
