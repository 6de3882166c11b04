"""Success declared first, a fix that fits, one change at a time, verified against the floor and against the loss."""

from __future__ import annotations

from grader.criteria.base import Case, Mark, clamp, listed, not_applicable, nothing
from grader.knowledge import FixKnowledge
from grader.transcript import Fix, Success, Verify

DECLARED_SHARE, FITS_SHARE, ONE_AT_A_TIME_SHARE, FLOOR_SHARE, LOSS_SHARE = 0.2, 0.35, 0.1, 0.25, 0.1
WORTH = {"cures": 1.0, "mitigates": 0.5, "nothing": 0.0, "harms": 0.0}
FITS_THE_NAMED = 0.7  # it fits what the evidence supported, though the cause was another
NEXT_TRY = 0.7


def mark(case: Case) -> Mark:
    """Shares 0.2 declared, 0.35 fits, 0.1 one change at a time, 0.25 floor, 0.1 loss."""
    if not case.index.knowledge.fixes:
        return not_applicable("This scenario offers no fix.")
    fixes = case.timeline.fix_events
    if not fixes:
        return nothing("Nothing was repaired.")
    first = fixes[0][0]
    declared = [number for number, _ in case.timeline.events(Success) if number < first]
    verified = [(number, v) for number, v in case.timeline.events(Verify) if number > first]
    fits, fit_words = _fits(case)
    floor, loss = _against(verified, "floor"), _against(verified, "loss")
    score = (
        DECLARED_SHARE * bool(declared)
        + FITS_SHARE * fits
        + ONE_AT_A_TIME_SHARE * _one_at_a_time(fixes, verified)
        + FLOOR_SHARE * floor
        + LOSS_SHARE * loss
    )
    events = (*declared[:1], *(number for number, _ in fixes), *(number for number, _ in verified))
    return Mark(clamp(score), f"{fit_words} {_check_words(bool(declared), floor, loss)}", events)


def fix_effect(case: Case, fix: Fix) -> str:
    """The least of its effects on the hidden causes. A fix that takes a place does good only at the right one."""
    known = _known(case, fix)
    effects = [known.effects.get(cause, "nothing") for cause in case.truths] or ["nothing"]
    least = min(effects, key=lambda effect: WORTH[effect])
    return "nothing" if WORTH[least] and not _at_the_place(case, fix) else least


def _known(case: Case, fix: Fix) -> FixKnowledge:
    return next(known for known in case.index.knowledge.fixes if known.id == fix.fix)


def _fits(case: Case) -> tuple[float, str]:
    """Best fit over the fixes tried, each further try worth less, and the words for it."""
    best, words = 0.0, ""
    for tries, (_, fix) in enumerate(case.timeline.fix_events):
        worth = _worth(case, fix) * NEXT_TRY**tries
        if worth > best or not words:
            best, words = max(worth, best), _fit_words(case, fix)
    return best, words


def _worth(case: Case, fix: Fix) -> float:
    known = _known(case, fix)
    worth = WORTH[fix_effect(case, fix)]
    diagnosis = case.timeline.diagnosis
    if worth == 0 and diagnosis and case.timeline.evidence():
        top = float(case.timeline.judged.posterior[:-1].max())
        supported = [c for c in diagnosis[1].causes if c not in case.truths and _mass(case, c) >= top / 2]
        worth = FITS_THE_NAMED * max((WORTH[known.effects.get(c, "nothing")] for c in supported), default=0.0)
    return worth


def _mass(case: Case, cause: str) -> float:
    row = case.index.cause_row(cause)
    return float(case.timeline.judged.posterior[row]) if row is not None else 0.0


def _at_the_place(case: Case, fix: Fix) -> bool:
    """Whether it was applied where the fault is; without known places, or where it takes none, it was."""
    accepted = {place for cause in case.truths for place in case.transcript.places.get(cause, ())}
    return not _known(case, fix).takes_place or not accepted or fix.where in accepted


def _one_at_a_time(fixes: list[tuple[int, Fix]], verified: list[tuple[int, Verify]]) -> float:
    """Whether something was measured between any two changes; the last change needs its own measurement too."""
    ends = [number for number, _ in fixes[1:]] + [10**9]
    checked = [any(start < v < end for v, _ in verified) for (start, _), end in zip(fixes, ends, strict=True)]
    return sum(checked) / len(checked)


def _against(verified: list[tuple[int, Verify]], what: str) -> bool:
    return any(what in ([v.against] if isinstance(v.against, str) else v.against) for _, v in verified)


def _fit_words(case: Case, fix: Fix) -> str:
    title = f"Your fix, “{_known(case, fix).title}”,"
    effect = fix_effect(case, fix)
    helps = any(WORTH[_known(case, fix).effects.get(cause, "nothing")] for cause in case.truths)
    if helps and not _at_the_place(case, fix):
        return f"{title} would help, but {'it needs a place' if fix.where is None else 'not at that place'}."
    return {
        "cures": f"{title} cures it.",
        "mitigates": f"{title} eases it and leaves the cause in place.",
        "nothing": f"{title} does nothing for this cause.",
        "harms": f"{title} makes it worse.",
    }[effect]


def _check_words(declared: bool, floor: bool, loss: bool) -> str:
    missing = [
        words
        for ok, words in (
            (declared, "success was not declared before it"),
            (floor, "it was not measured against the floor"),
            (loss, "nobody looked whether the loss still falls the same"),
        )
        if not ok
    ]
    if not missing:
        return "Success was declared first, and it was measured again against the floor and the loss."
    return f"But {listed(missing)}."
