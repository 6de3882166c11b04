"""What steps cost: their own time, shared where passive reads were pending together, weighed where the job stops."""

from __future__ import annotations

import pytest

from grader.pricing import priced_minutes, spent_minutes, step_minutes
from grader.transcript import parse_transcript, variant_id
from tests.grader import simulated

STEPS = {variant_id(s.step, s.with_): s for s in simulated.knowledge().steps}
TIMES, ARRIVALS, TELEMETRY = "per-rank-step-times", "collective-arrivals", "host-telemetry"  # 3, 4 and 8 minutes
BENCH = {"step": "microbenchmark", "with": {"size": "job", "placement": "as-job"}}  # 8 minutes, and the job stops


def minutes(*events, stop_weight=1.0):
    made = [
        {"kind": "step", "finding": "even", **({"step": event} if isinstance(event, str) else event), "at_s": at_s}
        if event
        else {"kind": "note", "text": "", "at_s": at_s}
        for at_s, event in events
    ]
    read = parse_transcript({"scenario": "slow-all-reduce", "events": made})
    return step_minutes(read.events, STEPS, stop_weight)


def opened(step, at_s):
    return {**({"step": step} if isinstance(step, str) else step), "opened_at_s": at_s}


def test_steps_one_after_another_cost_their_sum_by_event():
    assert minutes((0, TIMES), (10, None), (20, ARRIVALS), (30, BENCH)) == {0: 3, 2: 4, 3: 8}


def test_a_minute_for_which_the_job_stops_counts_as_the_scenario_says():
    assert minutes((0, TIMES), (10, BENCH), stop_weight=2.5) == {0: 3, 1: 20}
    assert priced_minutes(STEPS[TIMES], 2.5) == 3


def test_a_read_asked_for_while_another_was_pending_costs_only_what_it_takes_longer():
    assert minutes((20, opened(TIMES, 0)), (30, opened(TELEMETRY, 5))) == {0: 3, 1: 5}
    assert minutes((20, opened(TELEMETRY, 0)), (30, opened(TIMES, 5))) == {0: 8, 1: 0}


def test_three_pending_together_cost_the_longest_of_them():
    together = minutes((20, opened(ARRIVALS, 0)), (25, opened(TIMES, 1)), (30, opened(TELEMETRY, 2)))
    assert together == {0: 4, 1: 0, 2: 4}


def test_one_asked_for_as_the_last_was_shown_was_not_pending_with_it():
    assert minutes((20, TIMES), (30, opened(ARRIVALS, 20))) == {0: 3, 1: 4}
    assert minutes((20, TIMES), (30, opened(ARRIVALS, 19.5))) == {0: 3, 1: 1}


def test_the_longest_is_forgotten_once_nothing_is_pending():
    found = minutes((20, opened(TELEMETRY, 0)), (40, opened(TIMES, 30)), (45, opened(ARRIVALS, 35)))
    assert found == {0: 8, 1: 3, 2: 1}


def test_what_stops_the_job_shares_its_time_with_nothing():
    assert minutes((20, opened(TIMES, 0)), (30, opened(BENCH, 5)), (40, opened(TELEMETRY, 15))) == {0: 3, 1: 8, 2: 5}


def test_the_first_read_shares_with_none():
    assert minutes((20, opened(TIMES, 0))) == {0: 3}


def test_neither_the_symptom_nor_a_step_that_nobody_offers_costs_anything():
    assert minutes((0, "symptom"), (5, "horoscope"), (10, TIMES)) == {2: 3}


def test_what_was_spent_is_the_sum_and_a_verification_is_free():
    events = [
        {"kind": "step", "step": TIMES, "at_s": 0},
        {"kind": "step", **BENCH, "at_s": 5},
        {"kind": "verify", **BENCH, "against": "floor", "at_s": 9},
    ]
    read = parse_transcript({"scenario": "slow-all-reduce", "events": events})
    weighed = simulated.knowledge().model_copy(update={"stop_weight": 1.5})
    assert spent_minutes(read, weighed) == pytest.approx(3 + 8 * 1.5)
