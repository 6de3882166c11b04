"""What a fix does to the hidden causes, and whether it leaves the lab in the state that the search was in."""

from __future__ import annotations

from grader.knowledge import Effect, FixKnowledge, Knowledge
from grader.transcript import Curveball, Fix, Transcript

GOOD: dict[Effect, int] = {"harms": 0, "nothing": 1, "mitigates": 2, "cures": 3}


def known(knowledge: Knowledge, fix: Fix) -> FixKnowledge:
    return next(one for one in knowledge.fixes if one.id == fix.fix)


def hidden_causes(transcript: Transcript, before: int | None = None) -> tuple[str, ...]:
    """The hidden causes, with those that a curveball had added before an event."""
    thrown = [event.cause for event in transcript.events[:before] if isinstance(event, Curveball)]
    return tuple(dict.fromkeys([*transcript.causes, *thrown]))


def effect(knowledge: Knowledge, transcript: Transcript, fix: Fix) -> Effect:
    """The least of its effects on the hidden causes. A fix that takes a place does good only at the right one."""
    effects: list[Effect] = [
        known(knowledge, fix).effects.get(cause, "nothing") for cause in hidden_causes(transcript)
    ] or ["nothing"]
    least = min(effects, key=lambda one: GOOD[one])
    return "nothing" if GOOD[least] > GOOD["nothing"] and not at_the_place(knowledge, transcript, fix) else least


def at_the_place(knowledge: Knowledge, transcript: Transcript, fix: Fix) -> bool:
    """Whether it was applied where the fault is; without known places, or where it takes none, it was."""
    accepted = {place for cause in hidden_causes(transcript) for place in transcript.places.get(cause, ())}
    return not known(knowledge, fix).takes_place or not accepted or fix.where in accepted


def changes_the_lab(knowledge: Knowledge, transcript: Transcript, number: int, fix: Fix) -> bool:
    """Whether readings taken after it are of another incident: it did something to a cause, or changed the job.

    A fix that did nothing leaves the incident as it was, so the search may go on. Where no cause is known, nobody can
    tell, and what follows is not held to be evidence.
    """
    causes = hidden_causes(transcript, number)
    one = known(knowledge, fix)
    if not causes or one.changes_optimisation or one.changes_job:
        return True
    there = at_the_place(knowledge, transcript, fix)
    did = [one.effects.get(cause, "nothing") for cause in causes]
    return any(e == "harms" or (e != "nothing" and there) for e in did)
