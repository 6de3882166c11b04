"""Draws: from a seed to a setting and a fault. Pure; the only chance in them is the generator that is handed in."""

from __future__ import annotations

import random
import uuid

from gpu_worker.specs import Job, Setting, Topology
from scenarios.causes import HEALTHY
from scenarios.format import CauseBinding
from scenarios.instances import Instance

# Bits/s. Slower than the fabric's links, whatever the cause, so that seeing such a rate tells nothing; not so slow that
# less than 45 % of the useful work is left where the ring really crosses them.
SLOW_RATES = (145_000_000, 195_000_000)
RATE_GRAIN = 1_000_000
SEEDS = (1, 9_999)
FLIGHT_RECORDER_ENTRIES = (0, 2_000)
SCRIPTS = ("a", "b")
LEAVES = ((0, 1), (2, 3))
# Few enough that the slowest cause ends within the nominal time of a job.
WARMUP_STEPS, MEASURED_STEPS = 1, 5


def draw_instance(table: str, binding: CauseBinding | None, rng: random.Random) -> Instance:
    """One instance of a cause, or of healthy where there is no binding: setting first, so that it is alike for all."""
    setting = draw_setting(rng)
    id = uuid.UUID(int=rng.getrandbits(128), version=4).hex
    if binding is None:
        return Instance(id=id, table=table, cause=HEALTHY, setting=setting)
    return Instance(
        id=id,
        table=table,
        cause=binding.id,
        place=rng.choice(binding.places) if binding.places else None,
        params={name: draw_between(ends, rng) for name, ends in binding.params.items()},
        under={effect: dict(params) for effect, params in binding.under.items()},
        setting=setting,
    )


def draw_between(ends: tuple[int | float, int | float], rng: random.Random) -> float:
    """A value of the closed range; a whole number where both ends are."""
    low, high = sorted(ends)
    if isinstance(low, int) and isinstance(high, int):
        return float(rng.randint(low, high))
    return rng.uniform(low, high)


def draw_setting(rng: random.Random) -> Setting:
    """What varies whatever the cause: placement in the leaves, slow rates, one harmless change of every kind."""
    topology = Topology(far_uplink_rate=draw_rate(rng), management_rate=draw_rate(rng))
    placement = draw_placement(rng)
    job, before = draw_jobs(rng)
    return Setting(
        topology=topology,
        placement=placement,
        baseline_placement=swap_in_one_leaf(placement, rng),
        job=job,
        baseline_job=before,
        seed=rng.randint(*SEEDS),
    )


def draw_rate(rng: random.Random) -> int:
    low, high = (rate // RATE_GRAIN for rate in SLOW_RATES)
    return rng.randint(low, high) * RATE_GRAIN


def draw_placement(rng: random.Random) -> tuple[int, ...]:
    """Host of each rank: each leaf's hosts in either order, so that the ring still crosses the spine once each way."""
    hosts: list[int] = []
    for leaf in LEAVES:
        hosts += rng.sample(leaf, len(leaf))
    return tuple(hosts)


def swap_in_one_leaf(placement: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
    """Another placement as good as the first: the ranks of one leaf change places."""
    first, second = rng.choice(((0, 1), (2, 3)))
    hosts = list(placement)
    hosts[first], hosts[second] = hosts[second], hosts[first]
    return tuple(hosts)


def draw_jobs(rng: random.Random) -> tuple[Job, Job]:
    """This run's job and the healthy run's before it: alike in what they cost, different in one thing of every kind."""
    recorder = rng.sample(FLIGHT_RECORDER_ENTRIES, 2)
    scripts = rng.sample(SCRIPTS, 2)
    views = rng.sample((False, True), 2)
    seeds = rng.sample(range(*SEEDS), 2)
    now, before = (
        Job(
            flight_recorder_entries=recorder[which],
            script=scripts[which],  # type: ignore[arg-type]
            gradient_as_bucket_view=views[which],
            shuffle_seed=seeds[which],
            warmup_steps=WARMUP_STEPS,
            measured_steps=MEASURED_STEPS,
        )
        for which in (0, 1)
    )
    return now, before
