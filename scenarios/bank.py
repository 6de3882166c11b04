"""The bank of whole runs: one gzip file an instance, `scenarios/bank/<table>/<id>.json.gz`.

`{"instance": …, "experiments": {key: run}, "before": run, "after": {fix: {key: run}}}`; `before` is the healthy run
that the incident is compared with. It answers where the lab cannot, and calibration reads it.

Instances of one setting share what is the same for them: a run that the fault cannot touch, and the run before, lie
with the healthy instance of that setting, their *twin*.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import logging
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gpu_worker.specs import WholeRun
from scenarios import offered
from scenarios.causes import HEALTHY
from scenarios.errors import BankIncomplete
from scenarios.format import Scenario
from scenarios.instances import NOTHING, Instance, State, as_in, cured_causes, is_cured, is_same, is_shared, trial_of
from scenarios.offered import JOB

log = logging.getLogger(__name__)

FOLDER = Path(__file__).with_name("bank")
HEAD = '{"instance":'
HEAD_BYTES = 16_384

BEFORE = "before"
Slot = tuple[str, str]  # what, experiment key


def path_of(table: str, id: str) -> Path:
    return FOLDER / table / f"{id}.json.gz"


def files(table: str) -> list[Path]:
    return sorted((FOLDER / table).glob("*.json.gz"))


def read(path: Path) -> dict[str, Any]:
    """A bank file as it is stored. Raises BankIncomplete where it cannot be read."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, EOFError, zlib.error, ValueError) as damaged:
        raise unreadable(path, damaged) from damaged
    if not isinstance(content, dict) or not isinstance(content.get("instance"), dict):
        raise unreadable(path, "it holds no instance")
    return content


def unreadable(path: Path, why: object) -> BankIncomplete:
    return BankIncomplete(f"{path.name} of the bank cannot be read ({why}); remove it and run: manage.py scenario bank")


def write(path: Path, content: dict[str, Any]) -> None:
    """Stores a bank file whole or not at all; the same content gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = {"instance": content["instance"], **{key: content[key] for key in sorted(content) if key != "instance"}}
    text = json.dumps(ordered, separators=(",", ":"))
    part = path.with_suffix(".part")
    part.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    os.replace(part, path)


@dataclass(frozen=True)
class Head:
    """What a bank file holds: its instance, and which runs, as (what, experiment key).

    `what` is `before`, `nothing` (under the fault) or the fix after which the run was made.
    """

    instance: Instance
    held: frozenset[Slot]
    setting: str = field(repr=False)

    def lacks(self, wanted: Sequence[Slot], twin: Head | None) -> list[Slot]:
        """Those of the wanted runs that neither it nor, where they are the same for both, its healthy twin holds."""
        lent = twin.held if twin else frozenset()
        return [slot for slot in wanted if slot not in self.held and not (lent_as(slot) in lent and self.borrows(slot))]

    def borrows(self, slot: Slot) -> bool:
        """Whether the healthy run of the same setting is this very run."""
        what, experiment = slot
        faulted = what == NOTHING or what in self.instance.halves
        return what == BEFORE or (faulted and shares(self.instance.table, self.instance.id, experiment, what))


def lent_as(slot: Slot) -> Slot:
    """Where a healthy twin holds the run that stands for this one."""
    return slot if slot[0] == BEFORE else (NOTHING, slot[1])


@functools.lru_cache(maxsize=8192)
def shares(table: str, id: str, experiment: str, state: State) -> bool:
    """`is_shared` of a banked instance: found out once, since attempts are drawn often."""
    return is_shared(instance(table, id), experiment, state)


def wanted_slots(instance: Instance, experiments: Sequence[str]) -> list[Slot]:
    """Every run that an attempt may ask for: each experiment, the run before, the job after fixes that change it.

    Of a pair also, with one of its causes cured, what every instance has: verifying that one repair was not enough.
    """
    before = [] if instance.is_healthy else [(BEFORE, JOB)]
    had_by_all = offered.first_of(instance.table) if instance.pair else []
    halves = [(half, key) for half in instance.halves for key in experiments if key in had_by_all]
    after = [(fix, JOB) for fix in instance.trials]
    return [*((NOTHING, key) for key in experiments), *before, *after, *halves]


@functools.lru_cache(maxsize=4096)
def head(path: Path, mtime_ns: int) -> Head:
    """Raises BankIncomplete for a file that cannot be read."""
    content = read(path)
    try:
        instance = Instance.model_validate(content["instance"])
    except ValidationError as wrong:
        raise unreadable(path, wrong) from wrong
    return Head(instance, frozenset(slots_of(content)), instance.setting.model_dump_json())


def slots_of(content: Mapping[str, Any]) -> Iterator[Slot]:
    yield from ((NOTHING, key) for key in content.get("experiments", {}))
    if BEFORE in content:
        yield BEFORE, JOB
    for fix, runs in content.get("after", {}).items():
        yield from ((fix, key) for key in runs)


def add(content: dict[str, Any], what: str, experiment: str, run: WholeRun) -> None:
    """Puts one run into its slot."""
    stored = run.model_dump(mode="json", by_alias=True)
    if what == BEFORE:
        content[BEFORE] = stored
    elif what == NOTHING:
        content.setdefault("experiments", {})[experiment] = stored
    else:
        content.setdefault("after", {}).setdefault(what, {})[experiment] = stored


def heads(table: str) -> list[Head]:
    """Every file's head. One that cannot be read is left out: it must not take all down."""
    found = []
    for path in files(table):
        try:
            found.append(head(path, path.stat().st_mtime_ns))
        except (BankIncomplete, OSError) as broken:
            log.error("an instance is left out: %s", broken)
    return found


def twins(table: str) -> dict[str, Head]:
    """Healthy instances by their setting."""
    return {one.setting: one for one in heads(table) if one.instance.is_healthy}


def complete_instances(scenario: Scenario) -> list[Instance]:
    """Instances of which every run is banked, and their twin's, that an attempt at the scenario may ask for.

    Each as the scenario has it; healthy ones and pairs that it combines among them. Attempts draw of these. Runs that
    only another scenario of the table asks for may be lacking.
    """
    state = (FOLDER, *times(scenario.table))
    remembered = _complete.get(id(scenario))
    if remembered is None or remembered[0] != state:
        if len(_complete) >= MOST_REMEMBERED:
            _complete.clear()
        # The scenario is kept beside: while it lives, no other has its id.
        remembered = _complete[id(scenario)] = (state, _find_complete(scenario), scenario)
    return list(remembered[1])


# Every page that offers incidents asks for them, and every start of an attempt.
MOST_REMEMBERED = 64
_complete: dict[int, tuple[tuple[object, ...], list[Instance], Scenario]] = {}


def times(table: str) -> list[tuple[str, int]]:
    """When each file of the bank was changed."""
    found = []
    for path in files(table):
        with contextlib.suppress(OSError):  # gone meanwhile
            found.append((path.name, path.stat().st_mtime_ns))
    return found


def _find_complete(scenario: Scenario) -> list[Instance]:
    experiments, healthy = offered.experiments_for(scenario), twins(scenario.table)
    wanted = {*scenario.prior, HEALTHY, *(pair.id for pair in scenario.pairs)}

    def is_whole(one: Head, twin: Head | None) -> bool:
        return not one.lacks(wanted_slots(as_in(scenario, one.instance), experiments), twin)

    whole_twins = {setting for setting, twin in healthy.items() if is_whole(twin, None)}
    return [
        as_in(scenario, one.instance)
        for one in heads(scenario.table)
        if one.instance.cause in wanted
        and (one.setting in whole_twins or one.setting not in healthy)
        and is_whole(one, healthy.get(one.setting))
    ]


def instance(table: str, id: str) -> Instance:
    """One instance. Raises BankIncomplete where the bank does not hold it."""
    return head_of(table, id).instance


def head_of(table: str, id: str) -> Head:
    path = path_of(table, id)
    if not path.is_file():
        raise BankIncomplete(f"the bank of {table} no longer holds this attempt's instance")
    return head(path, path.stat().st_mtime_ns)


def whole_run(table: str, instance_id: str, experiment: str, state: State = NOTHING) -> WholeRun:
    """A banked run of an instance, in a state that fixes left. Raises BankIncomplete where it is not there."""
    one = head_of(table, instance_id)
    if cured_causes(state):
        return half_cured_run(table, one, experiment, state)
    own = (trial_of(state), experiment)
    for slot in (own, (NOTHING, experiment)):
        if not is_cured(state) and slot in one.held:
            return load(table, instance_id, slot)
    if is_cured(state) or is_shared(one.instance, experiment):
        return healthy_run(table, one, experiment, trial_of(state))
    raise BankIncomplete(f"the bank lacks {experiment} of this instance; run: manage.py scenario bank")


def half_cured_run(table: str, one: Head, experiment: str, state: State) -> WholeRun:
    """A run with one of two causes cured: its own, else the same one where the cured cause cannot touch it."""
    if (state, experiment) in one.held:
        return load(table, one.instance.id, (state, experiment))
    if is_shared(one.instance, experiment, state):
        return healthy_run(table, one, experiment, trial_of(state))
    if (NOTHING, experiment) in one.held and is_same(one.instance, experiment, NOTHING, state):
        return load(table, one.instance.id, (NOTHING, experiment))
    raise BankIncomplete(f"the bank lacks {experiment} of this instance with one cause cured")


def healthy_run(table: str, one: Head, experiment: str, fix: str) -> WholeRun:
    """The run of an instance's setting without the fault, as a fix set the job; else the nearest that the bank has."""
    twin = twins(table).get(one.setting)
    if twin is None and experiment == JOB and (BEFORE, JOB) in one.held:
        return load(table, one.instance.id, (BEFORE, JOB))
    healthy = twin or healthy_partner(table, one.instance.id)
    return load(table, healthy.instance.id, (fix if (fix, experiment) in healthy.held else NOTHING, experiment))


def is_compared(one: Head) -> bool:
    """Whether the healthy run before is banked that the instance's job is compared with."""
    lender = twins(one.instance.table).get(one.setting, one)
    return (BEFORE, JOB) in one.held | lender.held


def baseline(table: str, instance: Instance) -> WholeRun:
    """The healthy job run before the incident, as this instance's change log compares with."""
    one = head_of(table, instance.id)
    lender = one if (BEFORE, JOB) in one.held else twins(table).get(one.setting, one)
    return load(table, lender.instance.id, (BEFORE, JOB))


def load(table: str, id: str, slot: Slot) -> WholeRun:
    path = path_of(table, id)
    return load_as_of(path, path.stat().st_mtime_ns, slot)


# Some hundred kilobytes each once parsed: the web process has to stay small.
@functools.lru_cache(maxsize=64)
def load_as_of(path: Path, mtime_ns: int, slot: Slot) -> WholeRun:
    found = run_in(read(path), slot)
    if found is None:
        raise BankIncomplete(f"the bank lacks {slot[1]} of this instance; run: manage.py scenario bank")
    try:
        return WholeRun.model_validate(found)
    except ValidationError as wrong:
        raise unreadable(path, wrong) from wrong


def extending(scenario: Scenario, instance: str, cause: str) -> Instance | None:
    """The whole instance in which another cause has joined that of a banked one, for a curveball; None: none.

    Cause, place, magnitude and setting of the first stay: nothing that was measured before the curveball is untrue.
    """
    for one in complete_instances(scenario):
        joined = {drawn.instance: drawn.cause for drawn in one.pair}
        if instance in joined and cause in joined.values() and joined[instance] != cause:
            return one if one.setting == head_of(scenario.table, instance).instance.setting else None
    return None


def run_in(content: Mapping[str, Any], slot: Slot) -> Any:
    """What a bank file holds in a slot; None where it holds nothing there."""
    what, experiment = slot
    if what == BEFORE:
        return content.get(BEFORE)
    runs = content.get("experiments", {}) if what == NOTHING else content.get("after", {}).get(what, {})
    return runs.get(experiment)


def healthy_partner(table: str, id: str) -> Head:
    """Where no healthy instance has the setting: one whose runs stand for a cured one's, always the same."""
    healthy = sorted(twins(table).values(), key=lambda one: one.instance.id)
    if not healthy:
        raise BankIncomplete(f"the bank of {table} has no healthy runs")
    return healthy[int(id, 16) % len(healthy)]
