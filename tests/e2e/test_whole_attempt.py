"""One incident, end to end, in a real browser against the real stack, under two different hidden causes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.candidate import Candidate, lab_is_idle, open_with
from tests.support.operator import Operator

pytestmark = [pytest.mark.browser, pytest.mark.lab, pytest.mark.redis, pytest.mark.stack, pytest.mark.slow]

PASSIVE = "per-rank-step-times"
BENCH = {"size": "job", "placement": "as-job"}
BENCH_ID = "microbenchmark[placement=as-job,size=job]"


def faults_of(draw: dict) -> list[dict]:
    return [{"cause": draw["cause"], "place": draw["place"], "params": draw["params"]}]


def live_steps(operator: Operator, attempt: str, draw: dict) -> list[dict]:
    """Steps answered by runs that started after the attempt opened, with the drawn fault at its place and magnitude."""
    return [
        shown
        for shown in operator.evidence(attempt)
        if shown["purpose"] == "step"
        and shown["live"]
        and shown["started_at"] > draw["opened_at"]
        and shown["faults"] == faults_of(draw)
        and draw["cause"] in shown["fired"]
    ]


def live_verification(operator: Operator, attempt: str) -> dict:
    """The last verification, which a run of its own answered."""
    last = operator.evidence(attempt)[-1]
    assert last["purpose"] == "verify"
    assert last["live"], f"{last['note']} {operator.runs(attempt)}"
    return last


def fix_time(operator: Operator, attempt: str, draw: dict, fix: str) -> float:
    at_s = next(e["at_s"] for e in operator.events(attempt) if e["kind"] == "fix" and e["fix"] == fix)
    return draw["opened_at"] + at_s


def says_nothing_before_the_close(page: Page, draw: dict) -> None:
    """The page holds neither the instance nor a magnitude of the fault; readings are judged elsewhere."""
    html = page.content()
    assert draw["id"] not in html
    for value in draw["params"].values():
        assert str(value) not in html


def test_a_degraded_link_is_found_fixed_and_verified(candidate: Candidate, operator: Operator):
    draw = open_with(candidate, operator, "degraded-link")
    attempt = candidate.attempt
    candidate.ask("precision")
    candidate.note_floor("5.6 s", "0.445 s")
    candidate.give_verdict("below-floor")
    candidate.suspect("degraded-link", "throttled-rank")
    lab_is_idle(operator)

    times = candidate.step(PASSIVE, predict={"throttled-rank": "one-rank-slow-compute", "degraded-link": "even"})
    expect(times).to_contain_text("measured live")
    expect(times.locator("figure .main-svg, figure svg").first).to_be_visible()
    candidate.rule_out(times, "throttled-rank", "slow-input-rank", why="all ranks are alike")
    candidate.take_back("slow-input-rank")
    bench = candidate.step("microbenchmark", **BENCH)
    candidate.rule_out(bench, "no-overlap", "comparison-changed", why="the collective alone is slow")
    candidate.step("link-rates", scope="all")
    candidate.note("One link runs below its rate.")
    candidate.picture("workbench")
    says_nothing_before_the_close(candidate.page, draw)
    assert len(live_steps(operator, attempt, draw)) == 3, operator.runs(attempt)

    candidate.conclude()
    candidate.diagnose("degraded-link", draw["place"], "90")
    candidate.declare_success("fraction-of-floor", "90 %")
    candidate.fix("replace-link", draw["place"])
    lab_is_idle(operator)
    candidate.verify(BENCH_ID, "floor")
    says_nothing_before_the_close(candidate.page, draw)
    candidate.prevent("link-metrics", "preflight-microbenchmark")

    verified = live_verification(operator, attempt)
    assert verified["started_at"] > fix_time(operator, attempt, draw, "replace-link") - 1
    assert verified["faults"] == []
    assert verified["finding"] == "at-floor"

    candidate.close()
    candidate.picture("scorecard")
    reads_a_good_scorecard(candidate.page, "degraded-link", operator, attempt)
    assert candidate.complaints == []
    assert candidate.foreign == []


def test_a_throttled_rank_survives_the_wrong_fix_and_not_the_right_one(candidate: Candidate, operator: Operator):
    draw = open_with(candidate, operator, "throttled-rank")
    attempt = candidate.attempt
    rank = draw["place"]
    host = next(place for place in draw["accepted"] if place.startswith("host:"))
    candidate.note_floor("5.6 s")
    candidate.give_verdict("below-floor")
    lab_is_idle(operator)

    times = candidate.step(PASSIVE)
    candidate.rule_out(times, "no-overlap", "comparison-changed")
    candidate.step("collective-arrivals")
    candidate.step("host-telemetry")
    assert len(live_steps(operator, attempt, draw)) == 3, operator.runs(attempt)

    candidate.conclude()
    candidate.diagnose("throttled-rank", rank, "90")
    candidate.declare_success("step-time", "700 ms")
    candidate.fix("reboot-switches")
    lab_is_idle(operator)
    candidate.verify(BENCH_ID, "floor")
    wrong = live_verification(operator, attempt)
    assert wrong["faults"] == faults_of(draw)
    assert wrong["started_at"] > fix_time(operator, attempt, draw, "reboot-switches") - 1

    candidate.fix("drain-host", host)
    lab_is_idle(operator)
    candidate.verify("host-telemetry", "floor")
    right = live_verification(operator, attempt)
    assert right["faults"] == []
    assert right["started_at"] > fix_time(operator, attempt, draw, "drain-host") - 1
    candidate.prevent("step-time-distributions")
    candidate.close()
    reads_a_good_scorecard(candidate.page, "throttled-rank", operator, attempt)
    assert candidate.complaints == []


def reads_a_good_scorecard(page: Page, cause: str, operator: Operator, attempt: str) -> None:
    """Criteria with reasons, the posterior after each step, the best next step, and what was hidden."""
    total = operator.ask(
        "s = Scorecard.objects.get(attempt_id=attempt)\nresult = [s.total, s.body['posterior']]", attempt=attempt
    )
    assert total[0] > 0.5
    assert max(total[1], key=total[1].get) == cause
    expect(page.locator(".top .big")).to_contain_text(str(round(100 * total[0])))
    expect(page.locator(".cr .muted").first).to_have_text(re.compile(r"\w+"))
    expect(page.locator("table.worth tbody tr")).to_have_count(3)
    expect(page.locator("table.heat tr.true")).to_contain_text("hidden cause")
    expect(page.locator(".hidden-cause")).to_be_visible()
