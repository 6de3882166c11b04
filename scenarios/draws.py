"""Draws: from a seed to a setting and a fault. Pure; the only chance in them is the generator that is handed in."""

from __future__ import annotations

import random
import uuid

from gpu_worker.specs import Job, Setting, Topology
from scenarios.causes import HEALTHY
from scenarios.format import CauseBinding, LabSetting, Pair, Scenario
from scenarios.instances import Drawn, Instance, jobs_of

# Bits/s. Slower than the fabric's links, whatever the cause, so that seeing such a rate tells nothing; not so slow that
# less than 45 % of the useful work is left where the ring really crosses them.
SLOW_RATES = (145_000_000, 195_000_000)
RATE_GRAIN = 1_000_000
SEEDS = (1, 9_999)
FLIGHT_RECORDER_ENTRIES = (0, 2_000)
SCRIPTS = ("a", "b")
# Few enough that the slowest cause ends within the nominal time of a job.
WARMUP_STEPS, MEASURED_STEPS = 1, 5


def draw_instance(scenario: Scenario, binding: CauseBinding | None, number: int, seed: str) -> Instance:
    """The instance of that number of a cause, or of healthy where there is no binding.

    The setting depends on number and seed alone: it is the same for every cause, so that their healthy runs are shared.
    """
    setting = draw_setting(scenario.setting, random.Random(f"{seed} {number}"))
    rng = random.Random(f"{seed} {number} {binding.id if binding else HEALTHY}")
    id = uuid.UUID(int=rng.getrandbits(128), version=4).hex
    if binding is None:
        return Instance(id=id, table=scenario.table, cause=HEALTHY, jobs=jobs_of(scenario), setting=setting)
    return Instance(
        id=id,
        table=scenario.table,
        cause=binding.id,
        place=rng.choice(binding.places) if binding.places else None,
        params={name: draw_between(ends, rng) for name, ends in binding.params.items()},
        under={fix: dict(params) for fix, params in binding.under.items()},
        jobs=jobs_of(scenario),
        setting=setting,
    )


def draw_pair(scenario: Scenario, pair: Pair, number: int, seed: str) -> Instance:
    """The instance of that number of both causes together: what each of them has alone, in the same setting."""
    first, second = (draw_instance(scenario, scenario.cause(cause), number, seed) for cause in sorted(pair.causes))
    return both(first, second)


def both(first: Instance, second: Instance) -> Instance:
    """Two instances of one cause each as one, in the setting of the first; the same two give the same id."""
    causes = "+".join(sorted((first.cause, second.cause)))
    rng = random.Random(f"{first.id} {second.id}")
    return Instance(
        id=uuid.UUID(int=rng.getrandbits(128), version=4).hex,
        table=first.table,
        cause=causes,
        setting=first.setting,
        pair=tuple(Drawn.model_validate(fault.model_dump()) for one in (first, second) for fault in one.drawn),
    )


def draw_between(ends: tuple[int | float, int | float], rng: random.Random) -> float:
    """A value of the closed range; a whole number where both ends are."""
    low, high = sorted(ends)
    if isinstance(low, int) and isinstance(high, int):
        return float(rng.randint(low, high))
    return rng.uniform(low, high)


def draw_setting(lab: LabSetting, rng: random.Random) -> Setting:
    """What varies whatever the cause: placement in the leaves, slow rates, one harmless change of every kind."""
    topology = draw_topology(lab, rng)
    placement = draw_placement(lab, rng)
    job, before = draw_jobs(lab, rng)
    return Setting(
        topology=topology,
        placement=placement,
        baseline_placement=swap_in_one_leaf(placement, lab, rng),
        job=job,
        baseline_job=before,
        seed=rng.randint(*SEEDS),
    )


def draw_topology(lab: LabSetting, rng: random.Random) -> Topology:
    far, management = draw_rate(rng), draw_rate(rng)
    if lab.topology == "two-tier":
        return Topology(
            kind="two-tier", nodes=len(lab.hosts), hosts_per_node=lab.hosts_per_leaf, management_rate=management
        )
    return Topology(hosts_per_leaf=lab.hosts_per_leaf, far_uplink_rate=far, management_rate=management)


def draw_rate(rng: random.Random) -> int:
    low, high = (rate // RATE_GRAIN for rate in SLOW_RATES)
    return rng.randint(low, high) * RATE_GRAIN


def draw_placement(lab: LabSetting, rng: random.Random) -> tuple[int, ...]:
    """Host of each rank: each leaf's hosts in either order, so that every draw's ring crosses the spine as often."""
    near, far = (rng.sample(leaf, len(leaf)) for leaf in lab.hosts)
    if lab.in_turn:
        return tuple(host for pair in zip(near, far, strict=True) for host in pair)
    return (*near, *far)


def swap_in_one_leaf(placement: tuple[int, ...], lab: LabSetting, rng: random.Random) -> tuple[int, ...]:
    """Another placement as good as the first: the ranks of one leaf change places."""
    first, second = rng.choice(lab.hosts)
    swapped = {first: second, second: first}
    return tuple(swapped.get(host, host) for host in placement)


def draw_jobs(lab: LabSetting, rng: random.Random) -> tuple[Job, Job]:
    """This run's job and the healthy run's before it: alike in what they cost, different in one thing of every kind."""
    recorder = rng.sample(FLIGHT_RECORDER_ENTRIES, 2)
    scripts = rng.sample(SCRIPTS, 2)
    views = rng.sample((False, True), 2)
    seeds = rng.sample(range(*SEEDS), 2)
    now, before = (
        Job.model_validate(
            {
                "warmup_steps": WARMUP_STEPS,
                "measured_steps": MEASURED_STEPS,
                **lab.job,
                "flight_recorder_entries": recorder[which],
                "script": scripts[which],
                "gradient_as_bucket_view": views[which],
                "shuffle_seed": seeds[which],
            }
        )
        for which in (0, 1)
    )
    return now, before
