"""What an experiment is: one or more phases on one fabric, what the ranks do in them, and what is kept of it.

Each module of `gpu_worker.experiments` exposes one as `EXPERIMENT` and is found by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpu_worker.specs import ExperimentSpec, Job

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan


@dataclass(frozen=True)
class Setup:
    """The setting with every fault's changes in it: what an experiment composes its phases from."""

    spec: ExperimentSpec
    hosts: tuple[int, ...]  # host of each rank, as the job runs
    job: Job
    rank_job: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    checkpoint: Mapping[str, Any] = field(default_factory=dict)  # fields of `checkpoints.knobs.Knobs`


@dataclass(frozen=True)
class Phase:
    """One launch of ranks: who runs where, and what they do. The phases of a run share its fabric and its faults.

    `hosts` is the host of each rank; `packed` joins all of them over the loopback of one host. `rank_job` holds, by
    rank, fields of the job that differ for it. `fed` ranks get a socket to the store of documents. `body` is
    `module:function`, called in each rank as `(plan, rank, channel, source) -> result` with a phase as a dict.
    `hang_after_s`: the measured part may hang; it is ended after so long and what is known by then is kept
    (`gpu_worker.launcher.hang.Watch`). Its ranks then send `{"event": "step", "done": …, "total": …}`, and are asked
    where they are at the step `arguments["ask_at_step"]` and when nothing is heard any more.
    `stored` ranks have the run's storage: files that live as long as the run, written and read over the management
    network. `mortal` ranks may die in the measured part; all that is kept of one that does is `{"died": True}`.
    `afterwards`: the body's result holds a function of that name without arguments. It is called in each rank once the
    measured part is over and all its counters are read, so that it disturbs nothing; what it returns joins the result.
    """

    name: str
    hosts: tuple[int, ...]
    job: Job
    body: str
    packed: bool = False
    fed: bool = False
    rank_job: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    size_bytes: int = 0
    repeats: int = 1
    arguments: Mapping[str, Any] = field(default_factory=dict)
    hang_after_s: float | None = None
    stored: bool = False
    mortal: tuple[int, ...] = ()
    afterwards: bool = False


@dataclass(frozen=True)
class Experiment:
    """`choices` are the values that each parameter in a spec's `with` may have (all have to be given).

    `nominal_s` is the wall time that a candidate is shown, the same whatever the cause. `phases(setup)` is pure; the
    first is the main one: its counters, paths and placement are the run's own, and the faults' proofs read it.
    `record(plan, raw)` gives the fields of `WholeRun` that this experiment fills (ranks, iterations, recorded).
    """

    id: str
    title: str
    nominal_s: float
    choices: Mapping[str, tuple[str, ...]]
    phases: Callable[[Setup], tuple[Phase, ...]]
    record: Callable[[RunPlan, Mapping[str, Any]], dict[str, Any]]
