"""Choosing a step, and turning its answer into exactly one event."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from gpu_worker.models import Evidence
from practice import draws
from practice.errors import AttemptClosed, NotNow, Slip
from practice.events import append, locked, refuse_a_full_log
from practice.models import Attempt, Choice, Event
from scenarios import evidence as service
from scenarios.errors import BankIncomplete

log = logging.getLogger(__name__)

PAGE_PURPOSES = ("step", "verify")


@dataclass(frozen=True)
class Chosen:
    """The evidence that will answer, and whether this call asked for it (False: it was asked for before)."""

    evidence: Evidence
    fresh: bool


@dataclass(frozen=True)
class Wish:
    """A step as a candidate asks for it. `expect` is the prediction made before: [{causes, finding}]."""

    step: str
    with_: Mapping[str, str]
    token: str
    purpose: str = "step"
    against: str | list[str] = ""
    expect: tuple[Mapping[str, Any], ...] = ()


def of_attempt(attempt: Attempt) -> list[Evidence]:
    """The evidence on the attempt's pages, in the order in which it was asked for."""
    return list(Evidence.objects.of(attempt.owner).filter(purpose__in=PAGE_PURPOSES))


def choose(attempt: Attempt, wish: Wish, *, now: datetime) -> Chosen:
    """Ask for a step's evidence. A token used before gives what it asked for then.

    Raises AttemptClosed; Slip for an unknown step or a bad parameter; NotNow while two steps are pending.
    """
    with transaction.atomic():
        held = locked(attempt)
        if before := held.choices.filter(token=wish.token).first():
            return Chosen(Evidence.objects.get(pk=before.evidence), fresh=False)
        if held.is_closed:
            raise AttemptClosed
        refuse_a_full_log(held)
        asked_before = set(held.choices.values_list("evidence", flat=True))
        evidence = _request(held, wish, now)
        _predict(held, wish, now)
        Choice.objects.create(attempt=held, token=wish.token, evidence=evidence.pk, against=wish.against, chosen_at=now)
    return Chosen(evidence, fresh=evidence.pk not in asked_before)


def refuse_while_measuring(attempt: Attempt) -> None:
    """Raises NotNow while a step of the attempt is pending: shown after a fix, its reading would count for nothing."""
    if Evidence.objects.of(attempt.owner).pending().filter(purpose__in=PAGE_PURPOSES).exists():
        raise NotNow("A step is still being measured. Wait until it is shown, then apply the fix.", "fix")


def _request(attempt: Attempt, wish: Wish, now: datetime) -> Evidence:
    instance = draws.instance_of(attempt)
    after = draws.after_fixes(attempt)
    if wish.purpose == "step" and after is not None:
        raise NotNow("A fix is in: the lab is in its state after it. Verify on the page of the conclusion.")
    if wish.purpose == "verify" and after is None:
        raise NotNow("There is nothing to verify yet: choose a fix first.")
    try:
        return service.request(
            attempt.owner,
            instance,
            wish.step,
            dict(wish.with_),
            now=now,
            purpose=wish.purpose,
            effect=after.effect if after else None,
            state=after.state if after else None,
        )
    except service.TooManyPending:
        raise NotNow("Two steps are running. Choose the next when one of them has answered.") from None
    except (service.UnknownStep, service.BadParameter) as error:
        raise Slip(_sentence(error)) from None


def _predict(attempt: Attempt, wish: Wish, now: datetime) -> None:
    if wish.expect:
        body: dict[str, Any] = {"step": wish.step, "with": dict(wish.with_), "expect": [dict(e) for e in wish.expect]}
        append(attempt, "predict", body, token=f"{wish.token}:predict", now=now)


def _sentence(error: Exception) -> str:
    # KeyError quotes its message.
    return str(error.args[0]) if error.args else str(error)


def settle(attempt: Attempt, *, now: datetime) -> list[Event]:
    """Give every evidence that may be shown its one event; safe to call from two tabs at once. Fresh events only.

    One that neither lab nor bank can answer stays pending, and is logged: the attempt goes on and can be closed.
    """
    if attempt.is_closed:
        return []
    told = set(attempt.events.filter(token__startswith="evidence:").values_list("token", flat=True))
    waiting = [row for row in of_attempt(attempt) if _token(row) not in told]
    return [event for row in waiting if (event := _settle_one(attempt, row, now))]


def _token(evidence: Evidence) -> str:
    return f"evidence:{evidence.pk}"


def _settle_one(attempt: Attempt, evidence: Evidence, now: datetime) -> Event | None:
    with transaction.atomic():
        held = locked(attempt)
        try:
            if held.is_closed or not service.settle(evidence, now=now):
                return None
        except BankIncomplete as lacking:
            log.error("evidence %s of attempt %s cannot be answered: %s", evidence.pk, attempt.pk, lacking)
            return None
        evidence.refresh_from_db()
        appended = append(held, evidence.purpose, _body(held, evidence), token=_token(evidence), now=now)
    return appended.event if appended.fresh else None


def _body(attempt: Attempt, evidence: Evidence) -> dict[str, Any]:
    body: dict[str, Any] = {
        "step": evidence.step,
        "with": dict(evidence.with_params),
        "finding": evidence.finding,
        "evidence": str(evidence.pk),
    }
    if evidence.purpose == "verify":
        choice = attempt.choices.filter(evidence=evidence.pk).first()
        return {**body, "against": choice.against if choice and choice.against else "floor"}
    return {**body, "opened_at_s": attempt.seconds_at(evidence.requested_at)}
