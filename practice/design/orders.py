"""What a person may do with an exercise: open it, keep what is written, hand it in, mark it. Each counts once."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from grader.design.base import NotAnAnswer
from grader.drills.making import LARGEST_SEED
from practice.design import items
from practice.design.base import Posed
from practice.errors import NotNow, Slip
from practice.models import DesignAttempt, Person
from practice.workbench import tokens

LONGEST_TEXT = 8000
MOST_FIELDS = 80
MOST_VALUES = 16
OF_THE_FORM = ("token", "csrfmiddlewaretoken", "give_up")
Post = Mapping[str, Sequence[str]]


def open_attempt(person: Person, item: str, *, token: str, now: datetime) -> DesignAttempt:
    """A new attempt with numbers of its own; the same token gives the attempt that it opened before.

    Raises Slip for an item that there is not.
    """
    seed = secrets.randbelow(LARGEST_SEED)
    posed = items.pose(item, seed)
    if posed is None:
        raise Slip("Choose an exercise from the list.", "item")
    with transaction.atomic():
        Person.objects.select_for_update().get(pk=person.pk)
        opened = {"item": item, "seed": seed, "fingerprint": posed.fingerprint, "opened_at": now}
        attempt, _ = DesignAttempt.objects.get_or_create(person=person, token=token, defaults=opened)
        if attempt.is_answered:  # a page from the browser's history, from before that one was handed in
            attempt = DesignAttempt.objects.create(person=person, token=tokens.fresh(), **opened)
    return attempt


def keep(attempt: DesignAttempt, post: Post) -> bool:
    """Keeps what is written so far. False where it was handed in already: then nothing changes."""
    kept = DesignAttempt.objects.filter(pk=attempt.pk).still_open().update(answer=written(post))
    return kept == 1


def answer(attempt: DesignAttempt, post: Post, *, now: datetime) -> None:
    """Judges what was handed in. The first answer counts; a second changes nothing.

    Raises Slip, by field, for a form that cannot be judged yet (it is kept, and nothing counts), and NotNow where an
    update has changed what was asked.
    """
    slips: NotAnAnswer | NotNow | None = None
    with transaction.atomic():
        held = _locked(attempt)
        if held.is_answered:
            return
        held.answer = written(post)
        try:
            _judge(held, posed_of(held), shown=bool(post.get("give_up")), now=now)
        except (NotAnAnswer, NotNow) as refused:
            slips = refused
        held.save()
    if isinstance(slips, NotNow):
        raise slips
    if slips:
        raise Slip("", fields=slips.fields)


def posed_of(attempt: DesignAttempt) -> Posed:
    """What the attempt was asked. Raises NotNow where a release asks otherwise or no more."""
    posed = items.pose(attempt.item, attempt.seed)
    if posed is None or posed.fingerprint != attempt.fingerprint:
        raise NotNow("This exercise was changed by an update while it was open. Start it anew.")
    return posed


def _judge(held: DesignAttempt, posed: Posed, *, shown: bool, now: datetime) -> None:
    given = {} if shown else held.answer
    judged = posed.kind.judge(posed.task, posed.kind.model_answer(posed.task) if shown else given)
    held.answered_at, held.shown = now, shown
    if not posed.kind.by_oneself:
        held.right, held.asked = (0 if shown else judged.right), judged.asked


def mark(attempt: DesignAttempt, ticked: Sequence[str], *, now: datetime) -> None:
    """Keeps which points of the checklist the person found in their answer; it may be done over.

    Raises NotNow before the answer is handed in, and where there is nothing to mark.
    """
    with transaction.atomic():
        held = _locked(attempt)
        posed = posed_of(held)
        if not (held.is_answered and posed.kind.by_oneself):
            raise NotNow("Hand your answer in first.")
        if held.shown:
            raise NotNow("The answer was shown: there is none of yours to mark.")
        points = [line.field for line in posed.kind.judge(posed.task, held.answer).lines]
        held.marks = [point for point in points if point in ticked]
        held.right, held.asked, held.marked_at = len(held.marks), len(points), now
        held.save()


def written(post: Post) -> dict[str, list[str]]:
    """What was typed and ticked, without what belongs to the form, within bounds."""
    named = [(name, values) for name, values in post.items() if name not in OF_THE_FORM]
    return {
        name.replace("\x00", "")[:60]: [plain(value)[:LONGEST_TEXT] for value in values][:MOST_VALUES]
        for name, values in named[:MOST_FIELDS]
    }


def plain(value: str) -> str:
    """As it was typed: a form sends each new line as two characters, and PostgreSQL holds no NUL."""
    return str(value).replace("\x00", "").replace("\r\n", "\n")


def _locked(attempt: DesignAttempt) -> DesignAttempt:
    """The attempt's row, held until the transaction ends. Call inside one."""
    return DesignAttempt.objects.select_for_update().get(pk=attempt.pk)
