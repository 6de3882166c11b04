"""What is said beside the score: lucky, misled, hinted, conditions. Each with its reason."""

from __future__ import annotations

from pydantic import Field

from grader.criteria.base import Case, Frozen, Share, listed
from grader.criteria.diagnosis import Support, support
from grader.criteria.rule_outs import claims
from grader.transcript import Close, Hint, Reveal


class Lucky(Frozen):
    """When a right answer counts as lucky, and what it is then worth at most."""

    cap: Share = 0.30
    doubled: float = Field(default=2.0, ge=1, le=100, description="evidence that moved it so far since the symptom")
    majority: Share = Field(default=0.5, description="or raised it so high, carried it")


def labels(case: Case, lucky: Lucky) -> dict[str, str]:
    """Label -> reason."""
    found: dict[str, str] = {}
    held = support(case)
    if held and is_lucky(held, lucky):
        found["lucky"] = (
            f"Right, but without evidence: your readings gave {listed([case.title(c) for c in held.named])} "
            f"{held.mass * 100:.0f} %. The total is capped."
        )
    misled = [c.cause for c in claims(case) if c.status == "entailed" and c.cause in case.truths and not c.restored]
    if misled:
        found["misled"] = f"Your own readings excluded {case.title(misled[0])}, which it was. That costs nothing."
    hints = hint_levels(case)
    if hints:
        found["hinted"] = f"{len(hints)} {'hint' if len(hints) == 1 else 'hints'} taken."
    if case.transcript.conditions:
        found["conditions"] = ", ".join(
            f"{name}: {value}" for name, value in sorted(case.transcript.conditions.items())
        )
    return found


def is_lucky(held: Support, lucky: Lucky) -> bool:
    """Right, though the evidence in hand did not carry it: no step taken, another cause clearly ahead, or a share that
    evidence has neither doubled since the symptom nor raised to a majority."""
    if not held.right:
        return False
    unsupported = held.mass < held.top / 2
    unmoved = held.mass < lucky.doubled * held.first_mass and held.mass < lucky.majority
    return held.steps == 0 or unsupported or unmoved


def hint_levels(case: Case) -> list[int]:
    """Levels of the hints taken before the close. The time budget does not make them free."""
    events = case.transcript.events
    end = next((i for i, e in enumerate(events) if isinstance(e, Close | Reveal)), len(events))
    return [event.level for event in events[:end] if isinstance(event, Hint)]
