"""What a person may do in a sprint: open it, answer, go on, end it. Every order counts once."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from grader.drills.making import LARGEST_SEED
from practice.drills import items, schedule, scopes
from practice.drills.items import GAVE_UP, Outcome, Posed
from practice.errors import NotNow, Slip
from practice.models import Memory, Person, Question, Sprint
from scenarios.concept_format import MOST_OPTIONS

SURE = (10, 30, 50, 70, 90, 99)
LONGEST_ANSWER = 400


@dataclass(frozen=True)
class Wish:
    """What a start form asks for: so many questions, or so many minutes."""

    scope: str
    level: int
    wanted: int | None
    minutes: int | None


def wish(scope: str, level: str, length: str) -> Wish:
    """A start form read. Raises Slip by field."""
    slips = {}
    if scope not in scopes.SCOPES and scope != scopes.DUE:
        slips["scope"] = "Choose what to be asked about from the list."
    if level not in ("0", *map(str, scopes.LEVELS)):
        slips["level"] = "Choose a level from 1 to 3, or any."
    number, _, unit = length.partition("-")
    fits = (unit == "questions" and number in map(str, scopes.QUESTIONS)) or (
        unit == "minutes" and number in map(str, scopes.MINUTES)
    )
    if not fits:
        slips["length"] = "Choose how long the sprint is from the list."
    if slips:
        raise Slip("", fields=slips)
    amount = int(number)
    return Wish(scope, int(level), amount if unit == "questions" else None, amount if unit == "minutes" else None)


def open_sprint(person: Person, wished: Wish, *, token: str, now: datetime) -> Sprint:
    """A new sprint with its first question; the same token gives the sprint that it opened before.

    Raises NotNow where nothing is due and only that was wished for.
    """
    with transaction.atomic():
        Person.objects.select_for_update().get(pk=person.pk)
        if before := person.sprints.filter(token=token).first():
            return before
        sprint = Sprint.objects.create(
            person=person,
            scope=wished.scope,
            level=wished.level,
            wanted=wished.wanted,
            minutes=wished.minutes,
            opened_at=now,
            token=token,
        )
        if _ask(sprint, now) is None:
            raise NotNow("Nothing is due. Start a sprint on a topic instead.", "scope")
    return sprint


def go_on(sprint: Sprint, after: int, *, now: datetime) -> None:
    """The question after `after`, or the end. Going on twice from one question asks one."""
    with transaction.atomic():
        held = _locked(sprint)
        last = held.questions.last()
        if held.is_closed or last is None or last.index != after or not last.is_answered:
            return
        if _is_over(held, last.index + 1, now) or _ask(held, now) is None:
            _close(held, now)


def end(sprint: Sprint, *, now: datetime) -> None:
    """Ends it, a question without an answer uncounted."""
    with transaction.atomic():
        held = _locked(sprint)
        if not held.is_closed:
            held.questions.filter(answered_at=None).delete()
            _close(held, now)


def answer(sprint: Sprint, index: int, given: Mapping[str, Sequence[str]], *, now: datetime) -> None:
    """Judges and keeps the answer to question `index`. The first one counts; a second changes nothing.

    Raises Slip for an answer that is none (nothing is kept), NotNow where the question is not what it was.
    """
    try:
        with transaction.atomic():
            held = _locked(sprint)
            question = held.questions.filter(index=index).first()
            if question is None or question.is_answered:
                return
            if held.is_closed:
                raise NotNow("This sprint has ended. Start another.")
            posed = items.pose(question.item, question.seed)
            if posed is None or posed.fingerprint != question.fingerprint:
                raise _Reworded
            judged = GAVE_UP if given.get("give_up") else items.outcome(posed, given)
            _keep(question, posed, judged, given, now)
    except _Reworded:
        replace(sprint, index, now)
        raise NotNow("This question was changed by an update while you looked at it. Here is a new one.") from None


class _Reworded(Exception):
    """A release asks otherwise than this question did when it was shown."""


def _keep(question: Question, posed: Posed, judged: Outcome, given: Mapping[str, Sequence[str]], now: datetime) -> None:
    sure = _sure((given.get("sure") or [""])[0])
    seconds = max(0.0, (now - question.asked_at).total_seconds())
    rating = schedule.rating_of(judged.verdict == "right", seconds, posed.slow_after_s)
    question.answered_at, question.answer = now, _typed(given)
    question.verdict, question.slip = judged.verdict, judged.slip_name
    question.rating, question.sure = int(rating), None if judged.verdict == "gave-up" else sure
    question.due_at = _remember(question, rating, now)
    question.save()


def _remember(question: Question, rating: schedule.Rating, now: datetime) -> datetime:
    person = question.sprint.person
    before = Memory.objects.of(person).filter(item=question.item).first()
    after = schedule.review(before.state if before else None, rating, now)
    Memory.objects.update_or_create(
        person=person, item=question.item, defaults={"state": after.state, "due": after.due}
    )
    return after.due


def _typed(given: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What was said, without what belongs to the form."""
    apart = ("token", "csrfmiddlewaretoken", "index", "sure")
    return {
        name.replace("\x00", "")[:40]: [str(value).replace("\x00", "")[:LONGEST_ANSWER] for value in values][
            :MOST_OPTIONS
        ]
        for name, values in given.items()
        if name not in apart
    }


def _sure(typed: str) -> int | None:
    """A confidence in per cent, if one was given. Raises Slip for another than the form offers."""
    if not typed:
        return None
    if typed not in map(str, SURE):
        raise Slip(f"Choose how sure you are from {', '.join(map(str, SURE))} %, or leave it out.", "sure")
    return int(typed)


def _ask(sprint: Sprint, now: datetime) -> Question | None:
    """The next question of a sprint, None where none is left."""
    asked = list(sprint.questions.values_list("item", flat=True))
    item = _next_item(sprint, asked, now)
    seed = secrets.randbelow(LARGEST_SEED)
    posed = items.pose(item, seed) if item else None
    if item is None or posed is None:
        return None
    return Question.objects.create(
        sprint=sprint, index=len(asked), item=item, seed=seed, fingerprint=posed.fingerprint, asked_at=now
    )


def _next_item(sprint: Sprint, asked: Sequence[str], now: datetime) -> str | None:
    due = dict(Memory.objects.of(sprint.person).values_list("item", "due"))
    candidates = scopes.members(sprint.scope, sprint.level)
    return scopes.choose(candidates, due, asked, now, secrets.randbelow, only_due=sprint.scope == scopes.DUE)


def replace(sprint: Sprint, index: int, now: datetime) -> None:
    """Another question in the place of one that is no longer asked, or the end."""
    with transaction.atomic():
        held = _locked(sprint)
        held.questions.filter(index=index, answered_at=None).delete()
        if _ask(held, now) is None:
            _close(held, now)


def _is_over(sprint: Sprint, asked: int, now: datetime) -> bool:
    if sprint.wanted is not None:
        return asked >= sprint.wanted
    return sprint.seconds_at(now) >= 60 * (sprint.minutes or 0)


def _close(sprint: Sprint, now: datetime) -> None:
    sprint.closed_at = now
    sprint.save(update_fields=["closed_at"])


def _locked(sprint: Sprint) -> Sprint:
    """The sprint's row, held until the transaction ends. Call inside one."""
    return Sprint.objects.select_for_update().get(pk=sprint.pk)
