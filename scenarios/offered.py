"""What a table's scenarios offer: their steps, the variants of these, and the experiments that those read."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_worker.probes import PROBES
from gpu_worker.probes.base import Probe, variants
from gpu_worker.symptoms import SYMPTOMS
from scenarios import library, palette

JOB = "job"
# What every banked instance has. The other experiments are run for some of them only: those that attempts draw.
FIRST = (JOB, "microbenchmark[placement=as-job,size=job]")


def steps_of(table: str) -> list[str]:
    """The steps that the table knows: those that its scenarios offer, of any revision, in palette order."""
    wanted = {step for one in library.every() if one.table == table for step in one.steps}
    return [id for id in palette.offered() if id in wanted]


def variants_of(table: str) -> Iterator[tuple[Probe, dict[str, str]]]:
    for id in steps_of(table):
        for with_ in variants(PROBES[id]):
            yield PROBES[id], with_


def experiments_of(table: str) -> list[str]:
    """Keys of the experiments that a step of the table reads: first those of every instance, then in palette order."""
    read, first = read_of(table), first_of(table)
    return [*first, *(key for key in read if key not in first)]


def first_of(table: str) -> list[str]:
    """What every banked instance of the table has: `FIRST`, as far as it is read, and what its briefs are about."""
    briefs = sorted({SYMPTOMS[one.symptom].experiment for one in library.every() if one.table == table})
    read = read_of(table)
    return [key for key in dict.fromkeys([*FIRST, *briefs]) if key in read]


def read_of(table: str) -> dict[str, None]:
    """Keys of the experiments that a step of the table reads, in palette order."""
    return dict.fromkeys(probe.experiment(with_) for probe, with_ in variants_of(table))
