"""The best search to compare with: how far it goes, what it remembers, which way it takes."""

from __future__ import annotations

import pytest

from grader.index import index_of
from grader.policy import ENOUGH_CERTAINTY, best_path, expected_minutes
from tests.grader.two_causes import cause, cell, knowledge, step

EVEN = (cause("host-fault", "host", 1), cause("bad-link", "fabric", 1))


def telling(name, p_host, p_link, **fields):
    """A step of its own experiment that shows `a` with these chances."""
    cells = {"host-fault": cell({"a": p_host, "b": 1 - p_host}), "bad-link": cell({"a": p_link, "b": 1 - p_link})}
    return step(name, ("a", "b"), cells, experiment=name, **fields)


def index(*steps):
    return index_of(knowledge(causes=EVEN, steps=steps))


@pytest.fixture
def sure():
    return index(telling("sure", 1.0, 0.0))


@pytest.mark.parametrize(("of", "shows"), [("host-fault", "a"), ("bad-link", "b")])
def test_one_step_that_settles_it_is_the_whole_path_for_either_cause(sure, of, shows):
    (only,) = best_path(sure, "below", of)
    assert (only.step, only.title, only.finding, only.minutes) == ("sure", "sure", shows, 4.0)
    assert only.gain_bits == pytest.approx(1.0, abs=1e-3)
    assert only.certainty == pytest.approx(0.49 / (0.49 + 0.02 * 0.5), abs=1e-3)
    assert expected_minutes(sure, "below", of, ENOUGH_CERTAINTY) == 4.0


def test_a_search_that_never_gets_sure_ends_after_twelve_steps():
    """Each step tells a little, and shows the same thing 98 times in 100, so that nothing branches."""
    endless = index(*(telling(f"step-{number}", 0.98, 0.8) for number in range(20)))
    path = best_path(endless, None, "host-fault")
    assert len(path) == 12
    assert path[-1].certainty < ENOUGH_CERTAINTY
    assert [one.certainty for one in path] == sorted(one.certainty for one in path)
    assert expected_minutes(endless, None, "host-fault", ENOUGH_CERTAINTY) == pytest.approx(12 * 4)


def test_minutes_are_the_mean_over_what_the_steps_may_show():
    """The cheap step settles it half the time; else the dear one does."""
    half = index(telling("cheap", 0.5, 0.0, minutes=2), telling("dear", 1.0, 0.0, minutes=40))
    assert expected_minutes(half, None, "host-fault", ENOUGH_CERTAINTY) == pytest.approx(2 + 0.5 * 40, abs=0.01)
    assert expected_minutes(half, None, "bad-link", ENOUGH_CERTAINTY) == pytest.approx(42, abs=0.01)


def test_what_is_rarer_than_three_in_a_hundred_is_not_followed():
    rare = index(telling("cheap", 0.98, 0.0, minutes=2), telling("dear", 1.0, 0.0, minutes=40))
    assert expected_minutes(rare, None, "host-fault", ENOUGH_CERTAINTY) == pytest.approx(2, abs=0.01)


def test_less_certainty_costs_less_and_more_than_enough_costs_no_more():
    steps = index(*(telling(f"step-{number}", 0.9, 0.2) for number in range(4)))
    little, much, most = (expected_minutes(steps, None, "host-fault", wanted) for wanted in (0.6, 0.94, 0.99))
    assert 4 <= little < much <= most
    assert most == expected_minutes(steps, None, "host-fault", ENOUGH_CERTAINTY)
    assert expected_minutes(steps, None, "host-fault", 0.4) == 0


def test_a_certainty_counts_in_whole_per_cents():
    """The first reading leads to 0.80; 0.80 and 0.809 are the same to want, and 0.81 is more."""
    steps = index(*(telling(f"step-{number}", 0.9, 0.2) for number in range(4)))
    after_one = best_path(steps, None, "host-fault")[0].certainty
    per_cent = int(after_one * 100) / 100
    minutes = [expected_minutes(steps, None, "host-fault", wanted) for wanted in (per_cent, per_cent + 0.009)]
    assert minutes[0] == minutes[1] < expected_minutes(steps, None, "host-fault", per_cent + 0.01)


def test_nothing_more_is_done_where_nothing_more_could_be_learnt():
    dull = index(telling("dull", 0.5, 0.5))
    assert best_path(dull, None, "host-fault") == []
    assert expected_minutes(dull, None, "host-fault", ENOUGH_CERTAINTY) == 0


def test_what_was_reckoned_is_remembered_for_its_symptom_and_cause(sure):
    first = best_path(sure, "below", "host-fault")
    assert best_path(sure, "below", "host-fault") is first
    assert best_path(sure, "below", "bad-link")[0].finding == "b"
    assert best_path(sure, None, "host-fault") is not first


@pytest.mark.parametrize("of", ["host-fault", "bad-link"])
def test_a_search_ends_once_any_cause_is_sure_though_more_could_be_learnt(of):
    """Either finding of the first step leaves 4 to 5 in a hundred in doubt."""
    again = index(telling("first", 0.975, 0.025), telling("again", 0.975, 0.025, minutes=5))
    assert [one.step for one in best_path(again, None, of)] == ["first"]
    assert expected_minutes(again, None, of, ENOUGH_CERTAINTY) == pytest.approx(4)
