"""From the brief to the scorecard, with htmx and without JavaScript alike."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from grader.transcript import parse_transcript
from practice.models import Attempt, Scorecard
from tests.practice.conftest import Candidate, bodies, kinds


@pytest.fixture(params=[True, False], ids=["htmx", "plain"])
def candidate(request) -> Candidate:
    return Candidate(htmx=request.param)


def play(candidate: Candidate, cause: str, place: str, fix: str) -> Attempt:
    """A sound search for a degraded link, to the close."""
    attempt = candidate.start()
    answers = [
        candidate.do(attempt, "ask", fact="topology"),
        candidate.do(attempt, "estimate", collective_floor__production="5.6 s", collective_floor__lab="0.445 s"),
        candidate.do(
            attempt, "estimate", **{"collective-floor-production": "5.6 s", "collective-floor-lab": "0.445 s"}
        ),
        candidate.do(attempt, "verdict", collective="below-floor"),
        candidate.do(attempt, "hypothesis", causes=["throttled-rank", "degraded-link"]),
        candidate.do(
            attempt,
            "step",
            step="per-rank-step-times",
            **{"predict-throttled-rank": "one-rank-slow-compute", "predict-degraded-link": "even"},
        ),
        candidate.step(attempt, "microbenchmark", size="job", placement="as-job"),
    ]
    step_times, bench = attempt.events.filter(kind="step")
    answers += [
        candidate.do(
            attempt, "rule_out", families=["host", "input"], because=[step_times.index], text="ranks are even"
        ),
        candidate.do(attempt, "rule_out", causes=["no-overlap"], because=[bench.index]),
        candidate.do(attempt, "restore", causes=["no-overlap"]),
        candidate.step(attempt, "link-rates", scope="all"),
        candidate.do(attempt, "note", text="one uplink is low"),
        candidate.do(
            attempt, "diagnose", causes=[cause], where=place, confidence="90 %", because=[step_times.index, bench.index]
        ),
        candidate.do(attempt, "success", metric="fraction-of-floor", threshold="90 %"),
        candidate.do(attempt, "fix", fix=fix, **{f"where-{fix}": place}),
        candidate.do(attempt, "verify", variant="microbenchmark[placement=as-job,size=job]", against=["floor", "loss"]),
        candidate.do(attempt, "prevent", measures=["link-metrics", "busbw-floor-alert"]),
    ]
    ok = 200 if candidate.htmx else 302
    refused = [answer.content.decode() for answer in answers if answer.status_code != ok]
    assert len(refused) == 1, "only the estimate whose fields have no name of ours"
    candidate.do(attempt, "close")
    attempt.refresh_from_db()
    return attempt


def test_a_sound_search_ends_in_a_scorecard_that_names_the_hidden_cause(candidate, draws_cause):
    draws_cause("degraded-link")
    place = _place_of_next()
    attempt = play(candidate, "degraded-link", place, "replace-link")
    assert kinds(attempt) == [
        "ask", "estimate", "estimate", "verdict", "hypothesis", "predict", "step", "step", "rule_out", "rule_out",
        "restore", "step", "note", "diagnose", "success", "fix", "verify", "prevent", "close",
    ]  # fmt: skip
    assert attempt.is_closed
    card = Scorecard.objects.get(attempt=attempt)
    assert card.total > 0.7
    html = candidate.page(attempt, "scorecard")
    assert f"{round(100 * card.total)}" in html
    assert "It was one degraded link, and your search found it." in html
    assert "5.6 s" in html and "right" in html


def _place_of_next() -> str:
    from practice import draws
    from scenarios import library

    return draws.draw(library.get("slow-all-reduce")).instance.place or ""


def test_a_fix_that_cures_is_verified_as_healthy_and_one_that_does_not_is_not(candidate, draws_cause):
    draws_cause("fallback-transport")
    findings = []
    for fix in ("reboot-switches", "restore-transport"):
        attempt = candidate.start()
        candidate.do(attempt, "success", metric="fraction-of-floor", threshold="90 %")
        candidate.do(attempt, "fix", fix=fix)
        candidate.do(attempt, "verify", variant="microbenchmark[placement=as-job,size=job]", against="floor")
        findings.append(bodies(attempt, "verify")[0]["finding"])
    assert findings == ["below-floor", "at-floor"]


def test_another_fix_may_follow_and_is_measured_anew(candidate, draws_cause):
    draws_cause("fallback-transport")
    attempt = candidate.start()
    candidate.do(attempt, "success", metric="fraction-of-floor", threshold="90 %")
    for fix in ("restart-job", "restore-transport"):
        candidate.do(attempt, "fix", fix=fix)
        candidate.do(attempt, "verify", variant="microbenchmark[placement=as-job,size=job]", against="floor")
    assert [body["finding"] for body in bodies(attempt, "verify")] == ["below-floor", "at-floor"]


def test_the_log_of_an_attempt_is_a_transcript_that_the_grader_reads(candidate, draws_cause):
    draws_cause("degraded-link")
    attempt = play(candidate, "degraded-link", _place_of_next(), "replace-link")
    file = json.loads(candidate.client.get(reverse("practice:transcript", args=[attempt.pk])).content)
    read = parse_transcript(file)
    assert read.causes == ("degraded-link",)
    assert len(read.events) == attempt.events.count()


def test_an_attempt_closed_at_once_scores_nothing_and_is_no_error(candidate):
    attempt = candidate.start()
    candidate.do(attempt, "close")
    html = candidate.page(attempt, "scorecard")
    assert "No cause was named." in html
    assert Scorecard.objects.get(attempt=attempt).total == 0
