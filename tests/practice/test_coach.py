"""The guide of a first incident: one move at a time, from the candidate's own log alone."""

from __future__ import annotations

import pytest

from practice import draws
from practice.orders import families
from practice.progress import fold
from practice.workbench.coach import MOVES, coach
from tests.practice.conftest import Candidate, token

FIRST = "first-five-minutes"


@pytest.fixture(params=[True, False], ids=["htmx", "plain"])
def candidate(request) -> Candidate:
    return Candidate(htmx=request.param)


def move(attempt, here="search"):
    scenario = draws.scenario_of(attempt)
    told = coach(scenario, fold(attempt.events.all(), families(scenario)), here=here, closed=attempt.is_closed)
    return told and told.move.name


def test_the_moves_are_said_one_by_one_to_the_close(candidate, draws_cause):
    draws_cause("degraded-link")
    attempt = candidate.start(FIRST)
    said = [move(attempt)]

    def do(kind, **fields):
        answer = candidate.do(attempt, kind, **fields)
        assert answer.status_code in (200, 302), answer.content.decode()[-300:]
        said.append(move(attempt))

    do("estimate", **{"collective-floor-production": "0.63 s"})
    do("verdict", collective="below-floor")
    do("step", step="per-rank-step-times")
    first = attempt.events.get(kind="step")
    do("rule_out", causes=["throttled-rank"], because=[first.index])
    do("step", step="microbenchmark", **{"with-size": "job", "with-placement": "as-job"})
    second = attempt.events.filter(kind="step").last()
    do("rule_out", causes=["no-overlap"], because=[second.index])
    do("diagnose", causes=["degraded-link"], confidence="90")
    do("success", metric="fraction-of-floor", threshold="90 %")
    do("fix", fix="replace-link", **{"where-replace-link": draws.instance_of(attempt).place})
    do("verify", variant="microbenchmark[placement=as-job,size=job]", against=["floor", "loss"])
    do("prevent", measures=["link-metrics"])
    assert said == [
        "Floor", "Verdict", "Split", "Rule out", "Bisect", "Rule out", "Name it", "Success", "Repair", "Verify",
        "Prevent", "Close",
    ]  # fmt: skip
    candidate.do(attempt, "close")
    attempt.refresh_from_db()
    assert move(attempt) is None
    assert 'id="coach"' not in candidate.page(attempt)


@pytest.mark.parametrize("cause", ["throttled-rank", "no-overlap"])
def test_what_is_struck_decides_and_not_what_a_reading_says(candidate, draws_cause, cause):
    """The finding stays hidden until the debrief: the same moves under another cause are told the same."""
    draws_cause(cause)
    attempt = candidate.start(FIRST)
    candidate.do(attempt, "estimate", **{"collective-floor-production": "0.63 s"})
    candidate.do(attempt, "verdict", collective="below-floor")
    candidate.step(attempt, "per-rank-step-times")
    candidate.do(attempt, "rule_out", causes=["no-overlap"], because=[attempt.events.get(kind="step").index])
    assert move(attempt) == "Bisect"
    candidate.do(attempt, "rule_out", causes=["degraded-link"], because=[attempt.events.get(kind="step").index])
    assert move(attempt) == "Name it"


def test_who_goes_on_without_ruling_out_is_not_held_back(candidate, draws_cause):
    draws_cause("no-overlap")
    attempt = candidate.start(FIRST)
    candidate.step(attempt, "per-rank-step-times")
    candidate.step(attempt, "link-rates", scope="all")
    assert move(attempt) == "Floor", "it is late, and still worth something"
    candidate.do(attempt, "estimate", **{"collective-floor-production": "0.63 s"})
    assert move(attempt) == "Bisect"
    assert move(attempt, here="conclusion") == "Name it"


def test_the_page_has_it_with_its_place_and_an_order_brings_the_next(ada):
    attempt = ada.start(FIRST)
    page = ada.page(attempt)
    assert 'id="coach"' in page and 'href="#estimates"' in page
    assert f'of <span class="num">{len(MOVES)}</span>' in page
    answer = ada.do(attempt, "estimate", **{"collective-floor-production": "0.63 s"}).content.decode()
    assert 'href="#verdict"' in answer and 'hx-swap-oob="true"' in answer[answer.index('id="coach"') :][:80]
    refused = ada.do(attempt, "estimate", **{"collective-floor-production": "fast"}, with_token=token())
    assert refused.status_code == 422


def test_an_estimate_that_is_not_asked_has_no_field(plain_ada):
    page = plain_ada.page(plain_ada.start(FIRST))
    assert 'id="collective-floor-production"' in page and 'id="collective-floor-lab"' not in page
    assert 'name=""' not in page


def test_an_incident_that_teaches_nothing_has_none(ada):
    attempt = ada.start()
    assert move(attempt) is None
    assert 'id="coach"' not in ada.page(attempt)


def test_every_place_of_a_move_is_on_its_page(plain_ada):
    attempt = plain_ada.start(FIRST)
    pages = {"search": plain_ada.page(attempt), "conclusion": plain_ada.page(attempt, "conclusion")}
    for one, _ in MOVES:
        assert f'id="{one.anchor}"' in pages[one.page], one.name
