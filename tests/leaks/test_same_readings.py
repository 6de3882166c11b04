"""The same stored readings, rendered under each hidden cause, give the same bytes: the page knows nothing else."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.db import transaction
from django.utils import timezone

from scenarios import evidence, library
from tests.leaks.scenes import KEY, Readings, Scene, one_of_each_cause

pytestmark = pytest.mark.django_db


@pytest.fixture
def frozen(monkeypatch, now: datetime) -> datetime:
    """One moment for every rendering."""
    monkeypatch.setattr(timezone, "now", lambda: now)
    return now


class RolledBack(Exception):
    pass


def rendered(
    instance, readings: Readings, now: datetime, *, concluded: bool, turn: int | None = None
) -> dict[str, bytes]:
    """Everything that a candidate can fetch, or a turn's share of the evidence, after which the scene is gone."""
    answers: dict[str, bytes] = {}
    try:
        with transaction.atomic():
            scene = Scene(instance, readings, now).play()
            if concluded:
                scene.conclude()
                scene.evidence(50, "host-telemetry", {}, purpose="verify", state="s", effect="nothing")
            else:
                scene.evidence(60, "host-telemetry", {}, pending=True)
            answers.update(scene.answers(turn))
            raise RolledBack
    except RolledBack:
        return answers


def readings_of(instance) -> Readings:
    symptom = evidence.symptom(library.get(KEY), instance)
    return Readings(instance, dict(symptom.numbers), symptom.fraction_of_floor)


@pytest.mark.parametrize("concluded", [False, True], ids=["searching", "concluding"])
def test_the_same_readings_give_the_same_bytes_under_every_cause(frozen: datetime, concluded: bool):
    drawn = one_of_each_cause(library.get(KEY))
    readings = readings_of(drawn["degraded-link"])
    first_cause, *others = drawn
    first = rendered(drawn[first_cause], readings, frozen, concluded=concluded)
    assert len(first) > 40
    assert sum(answer.startswith(b"200") for answer in first.values()) > 30
    # The pages hold all evidence. One by one it is asked for in turns, each under every eighth cause.
    for turn, cause in enumerate(others):
        again = rendered(drawn[cause], readings, frozen, concluded=concluded, turn=turn)
        assert len(again) > 30 and again.keys() <= first.keys()
        different = [address for address in again if first[address] != again[address]]
        assert different == [], f"{cause} differs from {first_cause}"


def test_the_test_would_see_a_leak(frozen: datetime):
    """Other readings do give other bytes: the comparison is not blind."""
    drawn = one_of_each_cause(library.get(KEY))
    one = rendered(drawn["no-overlap"], readings_of(drawn["degraded-link"]), frozen, concluded=False, turn=1)
    other = rendered(drawn["no-overlap"], readings_of(drawn["no-overlap"]), frozen, concluded=False, turn=1)
    assert sum(one[address] != other[address] for address in one) > 10
