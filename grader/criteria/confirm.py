"""What the library does, and what changed. Never penalised for coming early."""

from __future__ import annotations

from grader.criteria.base import Case, Mark, nothing
from grader.timeline import Taken

ASKED = {"library": "what the library really does", "change": "what changed"}


def credited(case: Case) -> list[Taken]:
    """The first step for each of the two questions."""
    found = (next((t for t in case.timeline.evidence() if role in t.step.tells), None) for role in ASKED)
    return list(dict.fromkeys(t for t in found if t is not None))


def mark(case: Case) -> Mark:
    """Half for each of the questions that some step of the scenario can answer."""
    offered = [role for role in ASKED if any(role in step.tells for step in case.index.steps)]
    if not offered:
        return Mark(0.0, "This scenario offers no step for it.", applicable=False)
    asked = [role for role in offered if any(role in t.step.tells for t in case.timeline.evidence())]
    missed = [ASKED[role] for role in offered if role not in asked]
    if not asked:
        return nothing(f"You never looked at {' or '.join(missed)}.")
    said = f"You checked {' and '.join(ASKED[role] for role in asked)}"
    why = f"{said}, not {missed[0]}." if missed else f"{said}."
    return Mark(len(asked) / len(offered), why, tuple(sorted(t.event for t in credited(case))))
