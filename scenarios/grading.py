"""One attempt to its scorecard: the scenario's knowledge, its track's rubric, and histories for the alerts written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from gpu_worker.metrics import METRICS
from grader.grade import grade
from grader.knowledge import Knowledge
from grader.rubric import Rubric
from grader.scorecard import Scorecard
from grader.transcript import Prevent, Transcript, parse_transcript
from scenarios import rubrics
from scenarios.alert_trials import trials, with_histories
from scenarios.errors import BankIncomplete
from scenarios.format import Scenario
from scenarios.knowledge import knowledge_for


def scorecard(
    transcript: Transcript | Mapping[str, Any], scenario: Scenario, rubric: Rubric | None = None
) -> Scorecard:
    """Score an attempt of a scenario revision, by its own rubric unless another is given.

    Raises TranscriptError for what cannot be read, BankIncomplete without calibration, ScenarioError without a rubric.
    """
    read = parse_transcript(transcript)
    return grade(read, knowledge_of(read, scenario), rubric or rubric_of(scenario))


def rubric_of(scenario: Scenario) -> Rubric:
    """The rubric that the scenario names, else its track's. Raises ScenarioError where there is none."""
    return rubrics.named(scenario.rubric) if scenario.rubric else rubrics.for_track(scenario.track)


def read_histories(prevents: Iterable[Mapping[str, Any]], table: str) -> None:
    """Have the histories in memory that scoring these `prevent` events will ask for. What cannot be read is left for
    the scoring to refuse by name."""
    metrics = {
        alert.get("metric") for body in prevents for alert in body.get("alerts") or () if isinstance(alert, dict)
    }
    for metric in metrics & METRICS.keys():
        with suppress(BankIncomplete):
            trials(table, metric)


def knowledge_of(transcript: Transcript, scenario: Scenario) -> Knowledge:
    """The scenario's knowledge, with histories of the metrics that the transcript's alerts watch."""
    watched = {alert.metric for event in transcript.events if isinstance(event, Prevent) for alert in event.alerts}
    return with_histories(knowledge_for(scenario), scenario.table, frozenset(watched))
