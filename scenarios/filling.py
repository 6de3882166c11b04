"""Fills the bank: draws the instances that a scenario still lacks and runs what they still lack.

Every run is saved at once, so that an interruption costs one run. Causes take turns, so that a part is balanced. What
all instances need comes first; then everything else for those that attempts draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from gpu_worker import experiments
from gpu_worker.errors import FaultDidNotFire, LabError, LabUnavailable, RunDisturbed
from gpu_worker.specs import ExperimentSpec, WholeRun
from scenarios import bank, draws, offered
from scenarios.bank import BEFORE, Slot
from scenarios.causes import HEALTHY
from scenarios.format import CauseBinding, Pair, Scenario
from scenarios.instances import HALF, NOTHING, Instance, as_in, baseline_spec, is_shared, spec_for
from scenarios.offered import JOB

# Healthy runs answer for every cause that cannot touch an experiment.
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
    def slot(self) -> Slot:
        return self.what, self.experiment

    @property
    def spec(self) -> ExperimentSpec:
        if self.what == BEFORE:
            return baseline_spec(self.instance)
        return spec_for(self.instance, self.experiment, self.what)

    def __str__(self) -> str:
        suffix = "" if self.what == NOTHING else f" ({self.what})"
        return f"{self.instance.cause} {self.number} {self.experiment}{suffix}"


@dataclass
class Filled:
    """What a filling did: runs made, and those that were given up with their reasons."""

    made: int = 0
    left: int = 0
    given_up: list[str] = field(default_factory=list)


def wanted_runs(scenario: Scenario, runs: int, whole: int, seed: str, also: Collection[str] = ()) -> list[Wanted]:
    """What the bank lacks for `runs` instances a cause, of which the first `whole` have every run of the scenario.

    In turns of one instance a cause: first what every instance has, then all other experiments for the first of each
    cause and for the healthy ones, then for one number after the other all that is still lacking: a part is of use
    wherever it ends. A run that is the same for several instances is made once, for their healthy twin.

    Every instance also has the experiments in `also`: where three runs of a cause are too few to tell it by them.
    """
    rows = instances_in_turn(scenario, runs, seed)
    keys = offered.experiments_for(scenario)
    had_by_all = [key for key in offered.first_of(scenario.table) if key in keys]
    first = [*((NOTHING, key) for key in had_by_all), (BEFORE, JOB)]
    rest = [(NOTHING, key) for key in keys if key not in had_by_all]
    after = [(fix, JOB) for fix in sorted({fix for row in rows for one in row for fix in one.trials})]
    plan = Plan(scenario.table, [one for row in rows for one in row])
    for number, row in enumerate(rows, 1):
        plan.add_turn(number, first, row)
    plan.add_turn(1, rest, rows[0])
    for number, row in enumerate(rows, 1):
        plan.add_turn(number, rest, row[:1])
    for number, row in enumerate(rows[:whole], 1):
        plan.add_turn(number, rest, row)
        plan.add_turn(number, after, row)
    for number, row in enumerate(rows, 1):
        plan.add_turn(number, [(NOTHING, key) for key in keys if key in also], row)
    return list(plan.wanted.values())


def wanted_pairs(scenario: Scenario, runs: int, seed: str) -> list[Wanted]:
    """What the bank lacks for `runs` instances of each pair that a curveball may combine: all of it, pairs in turn.

    Each holds what instances of its two causes hold alone, in the setting of the first: a curveball in an attempt on
    that one changes nothing that was measured before.
    """
    rows = list(zip(*(pair_instances(scenario, pair, runs, seed) for pair in scenario.pairs), strict=True))
    plan = Plan(scenario.table, [one for row in rows for one in row])
    for number, row in enumerate(rows, 1):
        for one in row:
            for slot in bank.wanted_slots(one, offered.experiments_for(scenario)):
                plan.add(number, slot, plan.owner(one, slot))
    return list(plan.wanted.values())


def pair_instances(scenario: Scenario, pair: Pair, runs: int, seed: str) -> list[Instance]:
    """By number: both causes' instances of that number as one."""
    first, second = (numbered(scenario, scenario.cause(cause), runs, seed) for cause in sorted(pair.causes))
    return [draws.both(one, other) for one, other in zip(first, second, strict=True)]


class Plan:
    """The runs to make, each once, in order."""

    def __init__(self, table: str, instances: list[Instance]) -> None:
        self.held = {one.instance.id: one.held for one in bank.heads(table)}
        healthy = [*(one.instance for one in bank.twins(table).values()), *(one for one in instances if one.is_healthy)]
        self.twins = {one.setting.model_dump_json(): one for one in healthy}
        self.wanted: dict[tuple[str, Slot], Wanted] = {}

    def add_turn(self, number: int, slots: list[Slot], row: list[Instance]) -> None:
        for slot in slots:
            for one in row:
                if slot in bank.wanted_slots(one, [slot[1]]):
                    self.add(number, slot, self.owner(one, slot))

    def owner(self, one: Instance, slot: Slot) -> Instance:
        """Whose file the run belongs in: where the fault cannot touch it, that of the healthy twin, if there is one."""
        twin = self.twins.get(one.setting.model_dump_json(), one)
        what, experiment = slot
        faulted = what == NOTHING or what in one.halves
        lent = what == BEFORE or (faulted and is_shared(one, experiment, what))
        return twin if lent and slot not in self.held.get(one.id, ()) else one

    def add(self, number: int, slot: Slot, owner: Instance) -> None:
        if owner.is_healthy and slot[0].startswith(HALF):
            slot = bank.lent_as(slot)
        if slot not in self.held.get(owner.id, ()):
            self.wanted.setdefault((owner.id, slot), Wanted(owner, number, *slot))


def instances_in_turn(scenario: Scenario, runs: int, seed: str) -> list[list[Instance]]:
    """By number: the healthy instance, then one of each cause as long as there are to be any."""
    healthy = numbered(scenario, None, max(runs, LEAST_HEALTHY), seed)
    others = [numbered(scenario, binding, runs, seed) for binding in scenario.causes]
    return [[healthy[at], *(of_cause[at] for of_cause in others if at < runs)] for at in range(len(healthy))]


def numbered(scenario: Scenario, binding: CauseBinding | None, runs: int, seed: str) -> list[Instance]:
    """The cause's instances by number: banked ones of another seed first, then those of this one, banked or drawn.

    Banked ones may have been drawn for another scenario of the table: they serve this one as they are.
    """
    cause = binding.id if binding else HEALTHY
    banked = {one.instance.id: one for one in bank.heads(scenario.table) if one.instance.cause == cause}
    drawn = [draws.draw_instance(scenario, binding, number, seed) for number in range(runs)]
    strangers = [one for id, one in banked.items() if id not in {new.id for new in drawn}]
    strangers.sort(key=lambda one: (-len(one.held), one.instance.id))
    known = [banked[new.id].instance if new.id in banked else new for new in drawn]
    return [as_in(scenario, one) for one in [*(one.instance for one in strangers), *known][:runs]]


def fill(plan: list[Wanted], lab: Lab, say: Say, *, for_s: float | None = None) -> Filled:
    """Makes the runs of a plan in order, for at most `for_s` seconds. Raises LabUnavailable where there is no lab."""
    filled, begun, usual = Filled(left=len(plan)), time.monotonic(), usual_s(plan)
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
        now, done = time.monotonic(), len(plan) - filled.left
        # By usual times, corrected by what the runs of this sitting took.
        left_s = sum(usual[done:]) * (now - begun) / sum(usual[:done])
        say(line(wanted, done, len(plan), reason, now - started, left_s))
    return filled


def usual_s(plan: list[Wanted]) -> list[float]:
    """Seconds that each run of a plan usually takes: as banked ones of its experiment and cause did, or of its
    experiment; else the experiment's nominal time, which is longer.
    """
    took: dict[tuple[str, str], list[float]] = {}
    for content in (bank.read(path) for path in sorted(bank.FOLDER.glob("*/*.json.gz"))):
        for key, run in content.get("experiments", {}).items():
            for kind in ((key, content["instance"]["cause"]), (key, "")):
                took.setdefault(kind, []).append(run["provenance"]["wall_s"])
    means = {kind: sum(seconds) / len(seconds) for kind, seconds in took.items()}
    nominal = experiments.nominal_s
    causes = [HEALTHY if one.what == BEFORE else one.instance.cause for one in plan]
    return [
        means.get((one.experiment, cause), means.get((one.experiment, ""), nominal(one.experiment)))
        for one, cause in zip(plan, causes, strict=True)
    ]


def plan_lines(plan: list[Wanted]) -> list[str]:
    """`job after compress-gradients: 54 runs, 9 min` for each kind of run, and the sum."""
    kinds: dict[str, list[float]] = {}
    for one, usual in zip(plan, usual_s(plan), strict=True):
        name = {NOTHING: one.experiment, BEFORE: "job before"}.get(one.what, f"job after {one.what}")
        kinds.setdefault(name, []).append(usual)
    lines = [f"{name}: {len(took)} runs, {minutes(sum(took))}" for name, took in kinds.items()]
    return [*lines, f"in all {len(plan)} runs, {minutes(sum(map(sum, kinds.values())))}"]


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


def line(wanted: Wanted, done: int, planned: int, reason: str | None, took_s: float, left_s: float) -> str:
    """`[12/330] degraded-link 3 job: 11.2 s; about 31 min left`."""
    ended = f"{took_s:.1f} s" if reason is None else f"given up, {reason}"
    return f"[{done}/{planned}] {wanted}: {ended}; about {minutes(left_s)} left"


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def sizes(table: str) -> Iterator[int]:
    """Bytes of each file of the bank."""
    for path in bank.files(table):
        yield path.stat().st_size
