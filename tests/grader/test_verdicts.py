"""What was said of the collective is held to its own measure, whatever the brief was about."""

from __future__ import annotations

from grader.knowledge import Cell, Knowledge
from tests.grader import played, simulated
from tests.grader.scoring import STANDARD, grade

OTHERWISE = {"collective-at-floor": "one-pace", "collective-below-floor": "long-tail", "inconclusive": "inconclusive"}


def about_something_else(knowledge: Knowledge) -> Knowledge:
    """The same tables under a symptom whose findings do not name the floor."""

    def renamed(cell: Cell) -> Cell:
        p, upper = ({OTHERWISE[finding]: value for finding, value in one.items()} for one in (cell.p, cell.upper))
        return cell.model_copy(update={"p": p, "upper": upper})

    symptom = knowledge.symptom.model_copy(
        update={
            "findings": tuple(OTHERWISE[finding] for finding in knowledge.symptom.findings),
            "cells": {cause: renamed(cell) for cause, cell in knowledge.symptom.cells.items()},
        }
    )
    return knowledge.model_copy(update={"symptom": symptom})


def said_of(fraction: float, knowledge: Knowledge) -> str:
    made = {**played.transcript(played.SOUND), "symptom": "inconclusive", "truths": {"fraction-of-floor": fraction}}
    return grade(made, knowledge, STANDARD).criteria["quantify"].why


def test_a_symptom_that_leaves_the_floor_open_leaves_the_verdict_open():
    assert "either may be said" in said_of(0.3, simulated.knowledge())


def test_a_symptom_about_something_else_leaves_it_to_the_measured_fraction():
    knowledge = about_something_else(simulated.knowledge())
    assert "as the measured collective was" in said_of(0.3, knowledge)
    assert "but the measured collective was at floor" in said_of(0.95, knowledge)
