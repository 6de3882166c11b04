"""The histories of the bank, for back-testing an alert: every instance's healthy run, then its faulted one."""

from __future__ import annotations

import functools

from gpu_worker.alerts import joined_trial
from gpu_worker.metrics import METRICS
from gpu_worker.specs import WholeRun
from grader.alerts import Alert, BackTest, Trial, back_test
from grader.knowledge import Knowledge
from scenarios import bank
from scenarios.causes import HEALTHY
from scenarios.instances import NOTHING, Instance
from scenarios.offered import JOB

Histories = tuple[tuple[str, str, tuple[WholeRun, ...], WholeRun | None], ...]


def back_test_on_bank(alert: Alert, table: str) -> BackTest:
    """The alert on every history of a table's bank. Raises BadSpec for a metric that the lab does not record."""
    return back_test(alert, trials(table, alert.metric))


def with_histories(knowledge: Knowledge, table: str, watched: frozenset[str]) -> Knowledge:
    """The knowledge with the bank's histories of the watched metrics: nothing is read where nothing is watched."""
    return _with_histories(knowledge.model_dump_json(by_alias=True), table, watched) if watched else knowledge


@functools.lru_cache(maxsize=8)
def _with_histories(knowledge: str, table: str, watched: frozenset[str]) -> Knowledge:
    """By the knowledge's text: one object a knowledge, so that what the grader remembers of it is found again."""
    known = Knowledge.model_validate_json(knowledge)
    tried = [m.model_copy(update={"trials": trials(table, m.id)}) if m.id in watched else m for m in known.metrics]
    return known.model_copy(update={"metrics": tuple(tried)})


@functools.lru_cache(maxsize=64)
def trials(table: str, metric: str) -> tuple[Trial, ...]:
    """One trial an instance with a cause, and one of all healthy instances' runs in a row."""
    return tuple(joined_trial(id, metric, healthy, faulted, cause) for id, cause, healthy, faulted in _histories(table))


@functools.lru_cache(maxsize=64)
def healthy_trial(table: str, metric: str) -> Trial:
    """All healthy instances' runs in a row: how quiet a metric is while nothing is wrong."""
    return joined_trial(HEALTHY, metric, _healthy_runs(table), None, HEALTHY)


def recorded(table: str) -> tuple[str, ...]:
    """The metrics that the table's healthy runs hold; none where its incidents are about no training job."""
    return tuple(metric for metric in METRICS if healthy_trial(table, metric).streams)


@functools.lru_cache(maxsize=4)
def _histories(table: str) -> Histories:
    histories = [
        (one.id, one.cause, (bank.baseline(table, one),), bank.whole_run(table, one.id, JOB))
        for one in _ran(table)
        if not one.is_healthy
    ]
    healthy = _healthy_runs(table)
    return (*histories, *([(HEALTHY, HEALTHY, healthy, None)] if healthy else []))


@functools.lru_cache(maxsize=4)
def _healthy_runs(table: str) -> tuple[WholeRun, ...]:
    return tuple(bank.whole_run(table, one.id, JOB) for one in _ran(table) if one.is_healthy)


def _ran(table: str) -> list[Instance]:
    return [one.instance for one in bank.heads(table) if (NOTHING, JOB) in one.held and not one.instance.pair]
