"""Instances: one draw of cause, place, magnitude and setting, shown by every step of an attempt."""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gpu_worker.faults import kind_of
from gpu_worker.lab.touch import is_touched
from gpu_worker.specs import ExperimentSpec, Fault, Job, Setting, experiment_key
from scenarios.causes import HEALTHY
from scenarios.errors import BankIncomplete
from scenarios.format import Scenario

EXPERIMENT = re.compile(r"^(?P<name>[a-z]+(-[a-z]+)*)(\[(?P<with>[a-z-]+=[a-z0-9-]+(,[a-z-]+=[a-z0-9-]+)*)\])?$")

# What fixes left behind: the lab as it was, without the fault, or as the fix of that id set it. A fix that changes the
# job after the cure gives both: `cures+compress-gradients`. Where two causes were at work and one of them is cured:
# `cures:degraded-link`.
State = str
NOTHING, CURES, HALF = "nothing", "cures", "cures:"

REPEATS = 5
# A small message takes milliseconds: with five of them, any other process of the machine would spoil the run.
SMALL_REPEATS = 25
# Measured steps where an experiment runs the job several times over, and of the job after a fix that leaves the fault.
STEPS_EACH = {"scaling-ladder": 1, "single-node-baseline": 2, "synthetic-batch": 2, "host-swap": 2}
STEPS_AFTER = 2


class Drawn(BaseModel):
    """One fault of an instance: cause, place and magnitude."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    cause: str
    place: str | None = None
    params: dict[str, float] = Field(default_factory=dict)
    under: dict[str, dict[str, float]] = Field(default_factory=dict, description="the fault's params after a fix")
    instance: str = Field(default="", description="of a pair: the instance that has this fault alone")


class Instance(BaseModel):
    """What an attempt drew. Hidden until the close; its id says nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    table: str
    cause: str
    place: str | None = None
    params: dict[str, float] = Field(default_factory=dict)
    under: dict[str, dict[str, float]] = Field(default_factory=dict, description="the fault's params after a fix")
    jobs: dict[str, dict[str, Any]] = Field(default_factory=dict, description="fields of the job that a fix sets")
    setting: Setting
    pair: tuple[Drawn, ...] = Field(default=(), description="a curveball's two faults; `cause` then names both, a+b")

    @property
    def is_healthy(self) -> bool:
        return self.cause == HEALTHY

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """Its faults: none where it is healthy, two of a pair."""
        if self.is_healthy or self.pair:
            return self.pair
        return (Drawn(cause=self.cause, place=self.place, params=self.params, under=self.under, instance=self.id),)

    @property
    def halves(self) -> list[State]:
        """States in which one of two causes is cured."""
        return [f"{HALF}{one.cause}" for one in self.pair]

    @property
    def trials(self) -> list[str]:
        """Fixes that leave the fault and yet change the run, by id; under two faults they are not run."""
        return [] if self.pair else sorted({*self.under, *self.jobs})


def draw(scenario: Scenario, *, seed: Any, avoid: Collection[str] = ()) -> Instance:
    """The instance of a new attempt: a cause by the declared prior, then one of the bank's instances of it.

    Instances to `avoid` are drawn only where a cause has no other: the brief's numbers would name one met before. The
    cause is drawn first, so that what was avoided says nothing of it. The same seed draws the same instance from the
    same bank. Raises BankIncomplete where the bank has none.
    """
    from scenarios import bank

    ready: dict[str, list[Instance]] = {}
    for instance in bank.complete_instances(scenario):
        if instance.cause in scenario.prior:
            ready.setdefault(instance.cause, []).append(instance)
    if not ready:
        raise BankIncomplete(
            f"the bank has no instance of {scenario.key}; run: manage.py scenario calibrate {scenario.key}"
        )
    rng = random.Random(str(seed))
    causes = sorted(ready)
    cause = rng.choices(causes, weights=[scenario.prior[cause] for cause in causes])[0]
    fresh = [instance for instance in ready[cause] if instance.id not in avoid]
    return rng.choice(sorted(fresh or ready[cause], key=lambda instance: instance.id))


def jobs_of(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Fields of the job that a fix sets, by fix; those that set none are left out."""
    return {fix.id: dict(fix.job) for fix in scenario.fixes if fix.job}


def as_in(scenario: Scenario, instance: Instance) -> Instance:
    """A banked instance as attempts at a scenario have it: fixes that change its run are those that this one offers.

    Scenarios of one table share instances and their runs, not their fixes. Two causes at once are run under none.
    """
    if instance.pair:
        return instance
    under = {} if instance.is_healthy else dict(scenario.cause(instance.cause).under)
    return instance.model_copy(update={"jobs": jobs_of(scenario), "under": under})


def get(table: str, id: str) -> Instance:
    """An instance of the bank. Raises BankIncomplete where the bank no longer holds it."""
    from scenarios import bank

    return bank.instance(table, id)


def spec_for(instance: Instance, experiment: str, state: State = NOTHING) -> ExperimentSpec:
    """What the lab runs for an experiment of this instance in a state that fixes left.

    A fault that cannot touch the experiment is left out: with it and without it the run is the same.
    """
    name, with_ = split_key(experiment)
    job = Job.model_validate({**instance.setting.job.model_dump(), **job_changes(instance, name, state)})
    spec = ExperimentSpec.model_validate(
        {
            "experiment": name,
            "with": with_,
            "setting": instance.setting.model_copy(update={"job": job}),
            "faults": faults_after(instance, state),
            "repeats": SMALL_REPEATS if with_.get("size") == "small" else REPEATS,
        }
    )
    # One by one: of two faults one may touch the experiment and the other not.
    touching = tuple(fault for fault in spec.faults if is_touched(spec.model_copy(update={"faults": (fault,)})))
    return spec.model_copy(update={"faults": touching})


def job_changes(instance: Instance, experiment: str, state: State) -> dict[str, Any]:
    """Fields of the job that differ from the setting's: what a fix sets, and fewer steps where many runs need them."""
    trial = trial_of(state)
    steps = STEPS_EACH.get(experiment, STEPS_AFTER if trial else None)
    return {**({"measured_steps": steps} if steps else {}), **instance.jobs.get(trial, {})}


def is_shared(instance: Instance, experiment: str, state: State = NOTHING) -> bool:
    """Whether what is at work cannot touch the experiment: the healthy run of the same setting then answers."""
    return not instance.is_healthy and not spec_for(instance, experiment, state).faults


def is_same(instance: Instance, experiment: str, one: State, other: State) -> bool:
    """Whether two states of an instance run the same: the cured one of two causes cannot touch the experiment."""
    return spec_for(instance, experiment, one) == spec_for(instance, experiment, other)


def is_cured(state: State) -> bool:
    return CURES in state.split("+")


def trial_of(state: State) -> str:
    """The fix that changed the run and left the fault, by id; empty where none did."""
    parts = state.split("+")
    return next((part for part in parts if part not in (NOTHING, CURES) and not part.startswith(HALF)), "")


def cured_causes(state: State) -> set[str]:
    """Of two causes, the one that fixes have removed while the other is still at work."""
    return {part.removeprefix(HALF) for part in state.split("+") if part.startswith(HALF)}


def baseline_spec(instance: Instance) -> ExperimentSpec:
    """The healthy run before: the job as it was configured and placed then, with no fault."""
    setting = instance.setting
    before = setting.model_copy(update={"job": setting.baseline_job, "placement": setting.baseline_placement})
    return ExperimentSpec(experiment="job", setting=before)


def faults_after(instance: Instance, state: State) -> tuple[Fault, ...]:
    if is_cured(state):
        return ()
    trial, cured = trial_of(state), cured_causes(state)
    return tuple(
        Fault(cause=one.cause, place=one.place, params={**one.params, **one.under.get(trial, {})})
        for one in instance.drawn
        if one.cause not in cured
    )


def split_key(experiment: str) -> tuple[str, dict[str, str]]:
    """`microbenchmark[placement=as-job,size=job]` -> name and parameters. Raises ValueError for anything else."""
    parts = EXPERIMENT.match(experiment)
    if parts is None:
        example = experiment_key("microbenchmark", {"size": "job"})
        raise ValueError(f'"{experiment}" is no experiment; write it like {example}')
    pairs = (parts["with"] or "").split(",") if parts["with"] else []
    return parts["name"], dict(pair.split("=", 1) for pair in pairs)


def accepted_places(instance: Instance) -> list[str]:
    """Every right name of the fault's place, of both faults of a pair."""
    return list(dict.fromkeys(place for one in instance.drawn for place in places_of(instance, one)))


def places_of(instance: Instance, fault: Drawn) -> list[str]:
    """Every right name of one fault's place: a rank is also named by its host, an access link by its host and rank.

    A fault of a rank that changes the cables of several hosts is at each of them.
    """
    if fault.place is None:
        return []
    kind, _, name = fault.place.partition(":")
    if kind == "rank":
        own = [fault.place, f"host:{host_of(instance, int(name))}"]
        return list(dict.fromkeys([*own, *hosts_crossed(instance, fault)]))
    if kind == "host":
        return [fault.place, *ranks_on(instance, int(name))]
    host = re.match(r"host(\d+)-", name)
    if host is None:
        return [fault.place]
    return [fault.place, f"host:{host[1]}", *ranks_on(instance, int(host[1]))]


def hosts_crossed(instance: Instance, fault: Drawn) -> list[str]:
    """Hosts, with the ranks on them, whose own cables the fault is about."""
    injected = Fault(cause=fault.cause, place=fault.place, params=fault.params)
    cables = kind_of(injected).plan(instance.setting, injected).must_cross
    hosts = [int(found[1]) for cable in cables if (found := re.match(r"host(\d+)-", cable))]
    return [place for host in hosts for place in (f"host:{host}", *ranks_on(instance, host))]


def host_of(instance: Instance, rank: int) -> int:
    """Where a rank runs under the instance's fault."""
    return placement_now(instance)[rank]


def placement_now(instance: Instance) -> tuple[int, ...]:
    """Host of each rank under the fault: a fault may move a rank."""
    placement = instance.setting.placement
    for fault in faults_after(instance, NOTHING):
        placement = kind_of(fault).plan(instance.setting, fault).placement or placement
    return placement


def ranks_on(instance: Instance, host: int) -> list[str]:
    return [f"rank:{rank}" for rank, placed in enumerate(placement_now(instance)) if placed == host]
