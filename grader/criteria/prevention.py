"""Measures that would have shown it: precision of the set chosen, given that one of them catches the cause."""

from __future__ import annotations

from grader.criteria.base import Case, Mark, listed, not_applicable, nothing
from grader.criteria.diagnosis import support
from grader.transcript import Prevent


def mark(case: Case) -> Mark:
    """Share of the chosen measures that would have caught the cause, or the cause that the evidence supported."""
    known = {measure.id: measure for measure in case.index.knowledge.measures}
    if not known:
        return not_applicable("This scenario offers no measure.")
    made = case.timeline.events(Prevent)
    chosen = list(dict.fromkeys(measure for _, event in made for measure in event.measures))
    if not chosen:
        return nothing("Nothing was said about catching it next time.")
    wanted = _wanted(case)
    caught = [m for m in chosen if set(known[m].catches) & wanted]
    events = tuple(number for number, _ in made)
    quoted = {m: f"“{known[m].title}”" for m in chosen}
    if not caught:
        return Mark(0.0, f"Of your measures, {listed(list(quoted.values()))} would not have shown this cause.", events)
    idle = [quoted[m] for m in chosen if m not in caught]
    said = f"Of your measures, {listed([quoted[m] for m in caught])} would have shown it"
    return Mark(len(caught) / len(chosen), f"{said}; {listed(idle)} would not." if idle else f"{said}.", events)


def _wanted(case: Case) -> set[str]:
    held = support(case)
    supported = held is not None and held.steps > 0 and 2 * held.mass >= held.top
    return {*case.truths, *(held.named if supported and held else ())}
