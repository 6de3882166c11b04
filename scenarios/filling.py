"""Fills the bank: draws the instances that a scenario still lacks and runs what they still lack.

Every run is saved at once, so that an interruption costs one run. Causes take turns, so that a part is balanced.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gpu_worker import experiments
from gpu_worker.errors import FaultDidNotFire, LabError, LabUnavailable, RunDisturbed
from gpu_worker.specs import ExperimentSpec, WholeRun
from grader.knowledge import Effect
from scenarios import bank, draws
from scenarios.causes import HEALTHY
from scenarios.format import CauseBinding, Scenario
from scenarios.instances import Instance, baseline_spec, spec_for

LEAST_HEALTHY = 10
MOST_TRIES = 3

Lab = Callable[[ExperimentSpec], WholeRun]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """One run that the bank lacks."""

    instance: Instance
    number: int
    what: str
    experiment: str

    @property
    def spec(self) -> ExperimentSpec:
        if self.what == bank.BEFORE:
            return baseline_spec(self.instance)
        effect: Effect = self.what  # type: ignore[assignment]
        return spec_for(self.instance, self.experiment, effect)

    def __str__(self) -> str:
        suffix = "" if self.what == "nothing" else f" ({self.what})"
        return f"{self.instance.cause} {self.number} {self.experiment}{suffix}"


@dataclass
class Filled:
    """What a filling did: runs made, and those that were given up with their reasons."""

    made: int = 0
    left: int = 0
    given_up: list[str] = field(default_factory=list)


def wanted_runs(scenario: Scenario, runs: int, seed: str) -> list[Wanted]:
    """What the bank lacks for `runs` instances a cause: one of each cause, then the next of each, and so on."""
    have = instances_by_cause(scenario.table)
    plan: list[Wanted] = []
    for number in range(max(runs, LEAST_HEALTHY)):
        for binding in (None, *scenario.causes):
            if number < (max(runs, LEAST_HEALTHY) if binding is None else runs):
                plan += lacking(nth_instance(scenario.table, binding, number, seed, have), number + 1)
    return plan


def instances_by_cause(table: str) -> dict[str, list[Instance]]:
    """Banked instances, the oldest file first: numbers stay the same when a filling is resumed."""
    have: dict[str, list[Instance]] = {}
    for path in sorted(bank.files(table), key=lambda file: (file.stat().st_mtime_ns, file.name)):
        instance, _ = bank.head(path, path.stat().st_mtime_ns)
        have.setdefault(instance.cause, []).append(instance)
    return have


def nth_instance(
    table: str, binding: CauseBinding | None, number: int, seed: str, have: dict[str, list[Instance]]
) -> Instance:
    """The cause's instance of that number: banked, else drawn from the seed."""
    cause = binding.id if binding else HEALTHY
    banked = have.get(cause, [])
    if number < len(banked):
        return banked[number]
    return draws.draw_instance(table, binding, random.Random(f"{seed} {cause} {number}"))


def lacking(instance: Instance, number: int) -> list[Wanted]:
    path = bank.path_of(instance.table, instance.id)
    content = bank.read(path) if path.is_file() else {"instance": instance.model_dump(mode="json")}
    return [Wanted(instance, number, what, experiment) for what, experiment in bank.missing(content)]


def fill(plan: list[Wanted], lab: Lab, say: Say, *, for_s: float | None = None) -> Filled:
    """Makes the runs of a plan in order, for at most `for_s` seconds. Raises LabUnavailable where there is no lab."""
    filled, begun = Filled(left=len(plan)), time.monotonic()
    for wanted in plan:
        if for_s is not None and time.monotonic() - begun > for_s:
            break
        started = time.monotonic()
        reason = make(wanted, lab)
        filled.left -= 1
        if reason is None:
            filled.made += 1
        else:
            filled.given_up.append(f"{wanted}: {reason}")
        say(line(wanted, filled, len(plan), reason, time.monotonic() - started, time.monotonic() - begun))
    return filled


def make(wanted: Wanted, lab: Lab) -> str | None:
    """Makes and saves one run; a disturbed one is repeated. Gives the reason where it was given up."""
    reason = ""
    for _ in range(MOST_TRIES):
        try:
            save(wanted, lab(wanted.spec))
            return None
        except LabUnavailable:
            raise
        except (RunDisturbed, FaultDidNotFire) as again:
            reason = again.reason
        except LabError as failed:
            return failed.reason
    return reason


def save(wanted: Wanted, run: WholeRun) -> None:
    path = bank.path_of(wanted.instance.table, wanted.instance.id)
    content = bank.read(path) if path.is_file() else {"instance": wanted.instance.model_dump(mode="json")}
    bank.add(content, wanted.what, wanted.experiment, run)
    bank.write(path, content)


def line(wanted: Wanted, filled: Filled, planned: int, reason: str | None, took_s: float, since_s: float) -> str:
    """`[12/330] degraded-link 3 job: 11.2 s; about 31 min left`."""
    done = planned - filled.left
    left_s = since_s / done * filled.left
    ended = f"{took_s:.1f} s" if reason is None else f"given up, {reason}"
    return f"[{done}/{planned}] {wanted}: {ended}; about {minutes(left_s)} left"


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def nominal_s(plan: list[Wanted]) -> float:
    """What a plan takes at most, by nominal times."""
    return sum(experiments.nominal_s(wanted.spec.experiment) for wanted in plan)


def sizes(table: str) -> Iterator[int]:
    """Bytes of each file of the bank."""
    for path in bank.files(table):
        yield path.stat().st_size
