"""What scenarios offer: their steps, the variants of these, and the experiments that those read.

Those of a table are those of all its scenarios together: its runs are read for every one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gpu_worker.probes import PROBES
from gpu_worker.probes.base import Probe, variants
from gpu_worker.symptoms import SYMPTOMS
from scenarios import library, palette
from scenarios.format import Scenario

JOB = "job"
# What every banked instance has. The other experiments are run for some of them only: those that attempts draw.
FIRST = (JOB, "microbenchmark[placement=as-job,size=job]")

Variant = tuple[Probe, dict[str, str]]


def steps_of(table: str) -> list[str]:
    """The steps that the table knows: those that its scenarios offer, of any revision, in palette order."""
    wanted = {step for one in library.of_table(table) for step in one.steps}
    return [id for id in palette.offered() if id in wanted]


def variants_of(table: str) -> Iterator[Variant]:
    return variants_in(steps_of(table))


def experiments_of(table: str) -> list[str]:
    """Keys of the experiments that a step of the table reads: first those of every instance, then in palette order."""
    read, first = experiments_in(steps_of(table)), first_of(table)
    return [*first, *(key for key in read if key not in first)]


def first_of(table: str) -> list[str]:
    """What every banked instance of the table has: `FIRST`, as far as it is read, and what its briefs are about."""
    briefs = sorted({SYMPTOMS[one.symptom].experiment for one in library.of_table(table)})
    read = experiments_in(steps_of(table))
    return [key for key in dict.fromkeys([*FIRST, *briefs]) if key in read]


def variants_for(scenario: Scenario) -> Iterator[Variant]:
    """The variants of the steps that one scenario offers, in palette order."""
    return variants_in([id for id in palette.offered() if id in scenario.steps])


def experiments_for(scenario: Scenario) -> list[str]:
    """Keys of the experiments that its own steps and its brief read, in the same order; the job always among them."""
    read = experiments_in([id for id in palette.offered() if id in scenario.steps])
    return list(dict.fromkeys([JOB, *read, SYMPTOMS[scenario.symptom].experiment]))


def variants_in(steps: Collection[str]) -> Iterator[Variant]:
    for id in steps:
        for with_ in variants(PROBES[id]):
            yield PROBES[id], with_


def experiments_in(steps: Collection[str]) -> list[str]:
    read = dict.fromkeys(probe.experiment(with_) for probe, with_ in variants_in(steps))
    return [*(key for key in FIRST if key in read), *(key for key in read if key not in FIRST)]
