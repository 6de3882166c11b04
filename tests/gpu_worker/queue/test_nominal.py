"""Waits are computed as if every experiment took its nominal time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from gpu_worker.serving.nominal import Asked, finishes

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def asked(id: str, created: float, priority: int = 10, nominal_s: float = 10, hurried: float | None = None) -> Asked:
    if hurried is None:
        return Asked(id, at(created), priority, priority, None, nominal_s)
    return Asked(id, at(created), priority, 20, at(hurried), nominal_s)


def ends(*runs: Asked, machines: int = 1) -> dict:
    return {id: (end - START).total_seconds() for id, end in finishes(runs, machines=machines).items()}


def test_runs_of_one_priority_are_served_in_order_of_arrival():
    assert ends(asked("b", 1), asked("a", 0), asked("c", 2)) == {"a": 10, "b": 20, "c": 30}


def test_a_more_urgent_run_goes_ahead_of_waiting_ones_and_interrupts_none():
    assert ends(asked("a", 0), asked("b", 1), asked("c", 2, priority=30)) == {"a": 10, "c": 20, "b": 30}


def test_hurrying_helps_from_its_moment_on():
    hurried_in_time = ends(asked("a", 0), asked("b", 1), asked("c", 2, hurried=5))
    hurried_too_late = ends(asked("a", 0), asked("b", 1), asked("c", 2, hurried=12))
    assert hurried_in_time == {"a": 10, "c": 20, "b": 30}
    assert hurried_too_late == {"a": 10, "b": 20, "c": 30}


def test_an_idle_machine_starts_at_once():
    assert ends(asked("a", 0), asked("b", 50)) == {"a": 10, "b": 60}


def test_two_machines_serve_two_runs_at_once():
    assert ends(asked("a", 0), asked("b", 1), asked("c", 2), machines=2) == {"a": 10, "b": 11, "c": 20}


def test_no_run_no_end():
    assert finishes([]) == {}


RUNS = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.sampled_from([5, 10, 20, 30]),
        st.sampled_from([10.0, 15.0]),
        st.one_of(st.none(), st.integers(1, 90)),
    ),
    max_size=12,
)


def by_hand(runs: list[Asked], machines: int) -> dict:
    """The same, the plain and slow way."""
    waiting = sorted(runs, key=lambda run: (run.created_at, str(run.id)))
    free = [run.created_at for run in waiting[:1]] * machines
    found = {}
    while waiting:
        free.sort()
        moment = max(free[0], min(run.created_at for run in waiting))
        there = [run for run in waiting if run.created_at <= moment]
        chosen = max(there, key=lambda run: run.priority_at(moment))
        waiting.remove(chosen)
        free[0] = found[chosen.id] = moment + timedelta(seconds=chosen.nominal_s)
    return found


@given(RUNS, st.integers(1, 3))
def test_every_run_ends_once_as_the_plain_rule_says(runs, machines):
    made = [
        Asked(str(n), at(created), priority, 30 if hurried else priority, at(hurried) if hurried else None, nominal)
        for n, (created, priority, nominal, hurried) in enumerate(runs)
    ]
    assert finishes(made, machines=machines) == by_hand(made, machines)
