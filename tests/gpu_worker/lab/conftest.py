"""The lab's own tests. What is marked `lab` really runs it, with one warm launcher for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gpu_worker.lab import run as lab
from gpu_worker.lab.provenance import ACCEPT_DISTURBED
from gpu_worker.specs import ExperimentSpec, Fault, Job, Setting, WholeRun

# What these tests judge has wide bands; a neighbour's burst must not end them. Its share is in each run's provenance.
os.environ.setdefault(ACCEPT_DISTURBED, "2")

SHORT_JOB = Job(measured_steps=3, warmup_steps=2)
HEALTHY_LAUNCHES = 3
JOB_SIZE = {"placement": "as-job", "size": "job"}


def spec_for(experiment: str, *faults: Fault, **more: Any) -> ExperimentSpec:
    """A short run: three measured steps, or three kept iterations."""
    setting = Setting(job=SHORT_JOB)
    fields = {"experiment": experiment, "setting": setting, "faults": faults, "repeats": 3, **more}
    if experiment == "microbenchmark":
        fields.setdefault("with", JOB_SIZE)
    return ExperimentSpec.model_validate(fields)


def healthy_jobs(run: Callable[..., WholeRun]) -> Iterator[WholeRun]:
    """Healthy launches of the short job, the next one made where it is asked for.

    Other work on the machine only ever takes: what is slower than one of them is slower than a healthy job.
    """
    for seed in range(HEALTHY_LAUNCHES):
        yield run("job", setting=Setting(job=SHORT_JOB, seed=seed))


@pytest.fixture(scope="session")
def runs_of_session() -> Iterator[dict[tuple[int, str], WholeRun]]:
    """What ran already, by launch and spec."""
    yield {}
    lab.close()


@pytest.fixture
def run(request: pytest.FixtureRequest, runs_of_session: dict[tuple[int, str], WholeRun]) -> Callable[..., WholeRun]:
    """`run("job", fault, …)` really runs that experiment; equal specs share one run.

    A test that is tried again after a failure meets runs of its own (decision 46).
    """
    launch = getattr(request.node, "execution_count", 1)

    def run_once(experiment: str, *faults: Fault, **more: Any) -> WholeRun:
        spec = spec_for(experiment, *faults, **more)
        key = launch, spec.model_dump_json(by_alias=True)
        if key not in runs_of_session:
            runs_of_session[key] = lab.run_experiment(spec)
        return runs_of_session[key]

    return run_once
