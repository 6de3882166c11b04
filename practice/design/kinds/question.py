"""A design question answered move by move, then marked by oneself against what a strong answer contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from grader.design.base import Given, Judged, Line, NotAnAnswer, text_of
from practice import markdown
from practice.design.base import Item, Typed
from scenarios import design_questions
from scenarios.design_format import MOVES, DesignQuestion, Point

TITLES = {
    "baseline": "Establish the baseline",
    "bottleneck": "Identify the bottleneck",
    "ownership": "Map ownership",
    "communication": "Map communication",
    "correctness": "Protect correctness",
}


@dataclass(frozen=True)
class MoveAsked:
    """A move with the field for it. `ask` says what it is about, and nothing of what an answer should contain."""

    id: str
    title: str
    ask: str
    typed: str
    error: str


@dataclass(frozen=True)
class PointShown:
    id: str
    text: str
    why: str
    commands: tuple[str, ...]
    ticked: bool


@dataclass(frozen=True)
class MoveShown:
    """A move with what was written, and the points to look for in it."""

    id: str
    title: str
    ask: str
    written: str
    points: tuple[PointShown, ...]

    @property
    def ticked(self) -> int:
        return sum(point.ticked for point in self.points)


class QuestionKind:
    id = "question"
    place = 4
    title = "Answer a design question"
    day = "day 5"
    lead = (
        "One question, as an interviewer would put it, answered in five moves: baseline, bottleneck, ownership, "
        "communication, correctness. Then mark yourself against what a strong answer contains."
    )
    script = ""
    chart = False
    by_oneself = True

    def items(self) -> Sequence[Item]:
        questions = design_questions.every().values()
        return tuple(Item(f"question/{one.key}", one.title, f"{one.minutes} minutes") for one in questions)

    def pose(self, item: Item, seed: int) -> tuple[DesignQuestion, str]:
        question = design_questions.every()[item.id.partition("/")[2]]
        return question, design_questions.fingerprint(question)

    def ask(self, task: DesignQuestion, typed: Typed) -> dict[str, Any]:
        moves = [
            MoveAsked(move, TITLES[move], task.moves[move].ask, typed.value(move), typed.error(move)) for move in MOVES
        ]
        return {**_question(task), "moves": moves}

    def judge(self, task: DesignQuestion, given: Given) -> Judged:
        """Nothing but that something was written: the points are the person's own to mark."""
        if not any(text_of(given, move) for move in MOVES):
            raise NotAnAnswer({MOVES[0]: "Nothing is written yet: begin with what you would measure first."})
        return Judged(tuple(Line(id, point.text, False, "", point.text) for id, point in task.points().items()))

    def model_answer(self, task: DesignQuestion) -> dict[str, list[str]]:
        """There is no one text that is right; this is what the points say."""
        return {move: [" ".join(point.text for point in task.moves[move].points)] for move in MOVES}

    def result(self, task: DesignQuestion, given: Given, judged: Judged, marks: Sequence[str]) -> dict[str, Any]:
        moves = [_move(task, move, text_of(given, move), set(marks)) for move in MOVES]
        return {**_question(task), "moves": moves, "points": judged.asked, "source": task.source}


def _question(task: DesignQuestion) -> dict[str, Any]:
    text: SafeString = markdown.html(task.question)
    return {"question": text, "facts": task.facts, "minutes": task.minutes}


def _move(task: DesignQuestion, move: Any, written: str, ticked: set[str]) -> MoveShown:
    asked = task.moves[move]
    points = tuple(_point(f"{move}-{at}", point, ticked) for at, point in enumerate(asked.points))
    return MoveShown(move, TITLES[move], asked.ask, written, points)


def _point(id: str, point: Point, ticked: set[str]) -> PointShown:
    return PointShown(id, point.text, point.why, tuple(one.command for one in point.figures), id in ticked)


KIND = QuestionKind()
