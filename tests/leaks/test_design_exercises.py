"""Before it is judged the page of an exercise is the same whatever is right: nothing of the answer is in it."""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime

import pytest
from django.utils import timezone

from grader.design import cadence, groups, shapes
from practice.design import items
from practice.models import DesignAttempt
from scenarios.design_format import DesignQuestion
from tests.practice.conftest import without_tokens
from tests.practice.design.conftest import Designer, put

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def frozen(monkeypatch, now: datetime) -> None:
    monkeypatch.setattr(timezone, "now", lambda: now)


def page(designer: Designer, attempt: DesignAttempt) -> str:
    return re.sub(r'data-ticks="\d+"|>\d\d:\d\d<', "", without_tokens(designer.page(attempt)))


def with_another_answer(task):
    """The same exercise, and everything that is right about it otherwise."""
    if isinstance(task, groups.Task):
        other = {kind: tuple((0, rank) for rank in range(1, 3)) for kind in task.groups}
        return dataclasses.replace(task, groups=other, experts_alone=((1, 2),))
    if isinstance(task, cadence.Task):
        tier = cadence.Tier("other", 7.0, 11.0, 13.0, 17.0)
        return dataclasses.replace(task, size_bytes=1.0, mtbf_s=2.0, far=tier, near=tier)
    if isinstance(task, shapes.Task):
        return shapes.Task(tuple(map(of_another_shape, task.layers)))
    assert isinstance(task, DesignQuestion)
    return with_other_points(task)


def of_another_shape(traced: shapes.Traced) -> shapes.Traced:
    traces = {one.name: dataclasses.replace(one, why="another reason") for one in traced.layer.traces}
    layer = dataclasses.replace(traced.layer, traces=tuple(traces.values()))
    asked = [
        dataclasses.replace(one, trace=traces[one.trace.name], shape=(3, 5, 7), before=(7, 5)) for one in traced.asked
    ]
    return shapes.Traced(layer, tuple(asked))


def with_other_points(task: DesignQuestion) -> DesignQuestion:
    def other(asked):
        points = tuple(p.model_copy(update={"text": "other", "why": "other", "figures": ()}) for p in asked.points)
        return asked.model_copy(update={"points": points})

    moves = {move: other(asked) for move, asked in task.moves.items()}
    source = task.source.model_copy(update={"title": "other", "url": None})
    return task.model_copy(update={"moves": moves, "source": source})


@pytest.mark.parametrize("seed", [2, 9])
@pytest.mark.parametrize("item", sorted(items.every()))
def test_the_page_of_an_exercise_is_the_same_under_another_answer(monkeypatch, item, seed):
    ada = Designer()
    attempt = ada.start(item)
    put(attempt, item, seed)
    before = page(ada, attempt)
    found = items.pose(item, seed)
    monkeypatch.setattr(items, "pose", lambda *_: dataclasses.replace(found, task=with_another_answer(found.task)))
    assert page(ada, attempt) == before and "Hand it in" in before


def test_no_shape_stands_on_the_page_but_those_that_are_given():
    ada = Designer()
    attempt = ada.start("shapes")
    put(attempt, "shapes", 5)
    task = items.pose("shapes", 5).task
    given = {shapes.written(t.with_) for traced in task.layers for t in traced.layer.traces if t.is_given}
    html = page(ada, attempt).partition("<main")[2].partition("Write a shape like")[0]
    assert set(re.findall(r"\[\d[\d, ]*\]", html)) == given


def test_the_comparison_would_see_a_leak(monkeypatch):
    ada = Designer()
    attempt = ada.start("cadence")
    put(attempt, "cadence", 2)
    before = page(ada, attempt)
    found = items.pose("cadence", 2)
    leaked = dataclasses.replace(
        found.task.told, global_window=cadence.Tidy("time", cadence.say(found.task.far.best_s))
    )
    told = dataclasses.replace(found, task=dataclasses.replace(found.task, told=leaked))
    monkeypatch.setattr(items, "pose", lambda *_: told)
    assert page(ada, attempt) != before
