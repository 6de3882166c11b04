"""What was given stays: score, rubric revision and scenario revision of an attempt, whatever is edited since."""

from __future__ import annotations

import pytest

from practice import attempts
from practice.models import Attempt, Scorecard
from scenarios import grading, rubrics
from tests.practice.conftest import token


@pytest.fixture
def next_rubric(tmp_path, monkeypatch):
    """A second revision of the standard in force, under which only the hints' price differs."""
    text = (rubrics.FOLDER / "standard.yaml").read_text()
    revision = rubrics.get("standard").revision

    def put_in_force() -> int:
        changed = text.replace(f"revision: {revision}\n", f"revision: {revision + 1}\n")
        (tmp_path / "standard.yaml").write_text(changed.replace("quantify: 0.22", "quantify: 0.20").replace(
            "rule-outs: 0.20\n", "rule-outs: 0.22\n", 1))  # fmt: skip
        (tmp_path / f"standard@{revision}.yaml").write_text(text)
        monkeypatch.setattr(rubrics, "FOLDER", tmp_path)
        return revision + 1

    return put_in_force


def test_a_new_revision_of_the_rubric_leaves_given_scores_alone(ada, next_rubric):
    attempt = ada.start()
    ada.do(attempt, "estimate", **{"collective-floor-production": "5.6 s"})
    ada.do(attempt, "close")
    before = Scorecard.objects.get(attempt=attempt)
    given = (before.total, before.body["rubric"], before.body["rubric_revision"], before.body["revision"])
    newest = next_rubric()
    again = attempts.close(Attempt.objects.get(pk=attempt.pk), token=token(), now=attempt.opened_at)
    stored = Scorecard.objects.get(attempt=attempt)
    for card in (again, stored):
        assert (card.total, card.body["rubric"], card.body["rubric_revision"], card.body["revision"]) == given
    assert given[2] == newest - 1
    assert f"{round(100 * before.total)}" in ada.page(attempt, "scorecard")


def test_an_attempt_closed_after_it_is_scored_by_the_new_one(ada, next_rubric):
    attempt = ada.start()
    newest = next_rubric()
    ada.do(attempt, "close")
    assert Scorecard.objects.get(attempt=attempt).body["rubric_revision"] == newest


def test_an_old_attempt_can_be_scored_again_by_the_revision_that_it_had(ada, next_rubric):
    from practice import draws
    from practice.transcripts import transcript_of

    attempt = ada.start()
    ada.do(attempt, "estimate", **{"collective-floor-production": "5.6 s"})
    ada.do(attempt, "close")
    attempt.refresh_from_db()
    body = Scorecard.objects.get(attempt=attempt).body
    next_rubric()
    old = rubrics.get(body["rubric"], body["rubric_revision"])
    scenario = draws.scenario_of(attempt)
    assert scenario.revision == body["revision"]
    assert grading.scorecard(transcript_of(attempt), scenario, old).total == body["total"]
    assert grading.scorecard(transcript_of(attempt), scenario).total != body["total"]
