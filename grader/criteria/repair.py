"""Success declared first, a fix that fits, one change at a time, verified against the floor and against the loss."""

from __future__ import annotations

from math import inf

from pydantic import Field

from grader import fixes as effects
from grader.criteria.base import Case, Criterion, Mark, Settings, Share, Words, clamp, listed, not_applicable, nothing
from grader.knowledge import Effect, FixKnowledge
from grader.transcript import Fix, Success, Verify


class RepairWords(Words):
    not_offered: str = "This scenario offers no fix."
    never: str = "Nothing was repaired."
    cures: str = "Your fix, “{fix}”, cures it."
    mitigates: str = "Your fix, “{fix}”, eases it and leaves the cause in place."
    nothing: str = "Your fix, “{fix}”, does nothing for this cause."
    harms: str = "Your fix, “{fix}”, makes it worse."
    needs_a_place: str = "Your fix, “{fix}”, would help, but it needs a place."
    wrong_place: str = "Your fix, “{fix}”, would help, but not at that place."
    checked: str = "Success was declared first, and it was measured again against the floor and the loss."
    but: str = "But {missing}."
    not_declared: str = "success was not declared before it"
    no_floor: str = "it was not measured against the floor"
    unrepaired: str = "Whatever was checked, the job was left as slow as it was."
    guessed: str = "The first change came before any reading, so it was a guess."
    no_loss: str = "nobody looked whether the loss still falls the same"


class RepairSettings(Settings):
    title: str = "Repair, verified"
    declared: Share = 0.2
    fits: Share = 0.35
    one_at_a_time: Share = 0.1
    floor: Share = 0.25
    loss: Share = 0.1
    mitigates: Share = 0.5
    fits_the_named: Share = 0.7
    next_try: Share = 0.7
    unrepaired: Share = Field(default=1.0, description="what is left of the other shares where no fix fitted")
    guessed: Share = Field(default=0.5, description="what is left once a fix was tried before any reading")
    words: RepairWords = RepairWords()


def mark(case: Case) -> Mark:
    """Shares 0.2 declared, 0.35 fits, 0.1 one change at a time, 0.25 floor, 0.1 loss. Where no fix fitted, the checks
    found out no more than that, and a part of their shares is lost."""
    its = case.its(RepairSettings)
    if not case.index.knowledge.fixes:
        return not_applicable(its.words.not_offered)
    fixes = case.timeline.fix_events
    if not fixes:
        return nothing(its.words.never)
    first = fixes[0][0]
    declared = [number for number, _ in case.timeline.events(Success) if number < first]
    verified = [(number, v) for number, v in case.timeline.events(Verify) if number > first]
    fits, fit_words = _fits(case)
    floor, loss = _against(verified, "floor"), _against(verified, "loss")
    checks = (
        its.declared * bool(declared)
        + its.one_at_a_time * _one_at_a_time(fixes, verified)
        + its.floor * floor
        + its.loss * loss
    )
    score = its.fits * fits + checks * (1.0 if fits else its.unrepaired)
    shares = its.declared + its.fits + its.one_at_a_time + its.floor + its.loss
    events = (*declared[:1], *(number for number, _ in fixes), *(number for number, _ in verified))
    guessed = not any(t.event < first for t in case.timeline.evidence())
    why = f"{fit_words} {_check_words(its, bool(declared), floor, loss)}"
    why = why if fits or its.unrepaired == 1 else f"{why} {its.words.unrepaired}"
    why = f"{why} {its.words.guessed}" if guessed else why
    return Mark(clamp(score / max(shares, 1e-9)) * (its.guessed if guessed else 1.0), why, events)


def fix_effect(case: Case, fix: Fix) -> Effect:
    """The least of its effects on the hidden causes."""
    return effects.effect(case.index.knowledge, case.transcript, fix)


def _known(case: Case, fix: Fix) -> FixKnowledge:
    return effects.known(case.index.knowledge, fix)


def _effect_worth(case: Case, effect: Effect) -> float:
    """What an effect earns: a cure all, easing it a part."""
    return {"cures": 1.0, "mitigates": case.its(RepairSettings).mitigates}.get(effect, 0.0)


def _fits(case: Case) -> tuple[float, str]:
    """Best fit over the fixes tried, each further try worth less, and the words for it."""
    best, words = 0.0, ""
    for tries, (_, fix) in enumerate(case.timeline.fix_events):
        worth = _worth(case, fix) * case.its(RepairSettings).next_try ** tries
        if worth > best or not words:
            best, words = max(worth, best), _fit_words(case, fix)
    return best, words


def _worth(case: Case, fix: Fix) -> float:
    """By its effect on the hidden cause; else part of what it would do to what the evidence supported."""
    worth = _effect_worth(case, fix_effect(case, fix))
    diagnosis = case.timeline.diagnosis
    if worth == 0 and diagnosis and case.timeline.evidence():
        top = float(case.timeline.judged.posterior[:-1].max())
        supported = [c for c in diagnosis[1].causes if c not in case.truths and _mass(case, c) >= top / 2]
        helps = (_effect_worth(case, _known(case, fix).effects.get(c, "nothing")) for c in supported)
        worth = case.its(RepairSettings).fits_the_named * max(helps, default=0.0)
    return worth


def _mass(case: Case, cause: str) -> float:
    row = case.index.cause_row(cause)
    return float(case.timeline.judged.posterior[row]) if row is not None else 0.0


def _one_at_a_time(fixes: list[tuple[int, Fix]], verified: list[tuple[int, Verify]]) -> float:
    """Whether something was measured between any two changes; the last change needs its own measurement too."""
    ends = [*(number for number, _ in fixes[1:]), inf]
    checked = [any(start < v < end for v, _ in verified) for (start, _), end in zip(fixes, ends, strict=True)]
    return sum(checked) / len(checked)


def _against(verified: list[tuple[int, Verify]], what: str) -> bool:
    return any(what in ([v.against] if isinstance(v.against, str) else v.against) for _, v in verified)


def _fit_words(case: Case, fix: Fix) -> str:
    words = case.its(RepairSettings).words
    helps = any(_effect_worth(case, _known(case, fix).effects.get(cause, "nothing")) for cause in case.truths)
    there = effects.at_the_place(case.index.knowledge, case.transcript, fix)
    said: str = getattr(words, fix_effect(case, fix))
    if helps and not there:
        said = words.needs_a_place if fix.where is None else words.wrong_place
    return said.format(fix=_known(case, fix).title)


def _check_words(its: RepairSettings, declared: bool, floor: bool, loss: bool) -> str:
    words = its.words
    asked = ((declared, its.declared, words.not_declared), (floor, its.floor, words.no_floor),
             (loss, its.loss, words.no_loss))  # fmt: skip
    missing = [said for done, share, said in asked if share and not done]
    return words.but.format(missing=listed(missing)) if missing else words.checked


CRITERION = Criterion(
    "repair",
    RepairSettings,
    mark,
    "Says first what success would be, changes one thing, and measures it against the floor and the loss.",
)
