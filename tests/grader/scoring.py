"""`grade` by the rubric that scores searches, so that a test need not name it each time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader import grade as grading
from grader.knowledge import Knowledge
from grader.rubric import Rubric
from grader.scorecard import Scorecard
from grader.transcript import Transcript
from scenarios import rubrics

STANDARD = rubrics.get("standard")


def grade(transcript: Transcript | Mapping[str, Any], knowledge: Knowledge, rubric: Rubric = STANDARD) -> Scorecard:
    return grading.grade(transcript, knowledge, rubric)
