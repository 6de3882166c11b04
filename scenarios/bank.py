"""The bank of whole runs: one gzip file an instance, `scenarios/bank/<table>/<id>.json.gz`.

`{"instance": …, "experiments": {key: run}, "before": run, "after": {effect: {key: run}}}`; `before` is the healthy run
that the incident is compared with. It answers where the lab cannot, and calibration reads it.
"""

from __future__ import annotations

import functools
import gzip
import json
import logging
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gpu_worker.specs import WholeRun
from grader.knowledge import Effect
from scenarios.causes import HEALTHY
from scenarios.errors import BankIncomplete
from scenarios.instances import Instance

log = logging.getLogger(__name__)

FOLDER = Path(__file__).with_name("bank")
HEAD = '{"instance":'
HEAD_BYTES = 16_384

BEFORE = "before"
EXPERIMENTS = (
    "job",
    "microbenchmark[placement=as-job,size=job]",
    "microbenchmark[placement=as-job,size=small]",
    "microbenchmark[placement=packed,size=job]",
    "microbenchmark[placement=packed,size=small]",
)


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


@functools.lru_cache(maxsize=4096)
def head(path: Path, mtime_ns: int) -> tuple[Instance, bool]:
    """The instance of a file and whether all its runs are there."""
    content = read(path)
    try:
        return Instance.model_validate(content["instance"]), not missing(content)
    except ValidationError as wrong:
        raise unreadable(path, wrong) from wrong


def missing(content: dict[str, Any]) -> list[tuple[str, str]]:
    """Runs that a bank file still lacks, as (effect or `before`, experiment key), in the order to make them."""
    instance = content["instance"]
    lacking = [("nothing", key) for key in EXPERIMENTS if key not in content.get("experiments", {})]
    if instance["cause"] == HEALTHY:
        return lacking
    if BEFORE not in content:
        lacking.append((BEFORE, "job"))
    for effect in sorted(instance.get("under", {})):
        if "job" not in content.get("after", {}).get(effect, {}):
            lacking.append((effect, "job"))
    return lacking


def add(content: dict[str, Any], what: str, experiment: str, run: WholeRun) -> None:
    """Puts one run where `missing` said it lacks."""
    stored = run.model_dump(mode="json", by_alias=True)
    if what == BEFORE:
        content[BEFORE] = stored
    elif what == "nothing":
        content.setdefault("experiments", {})[experiment] = stored
    else:
        content.setdefault("after", {}).setdefault(what, {})[experiment] = stored


def all_instances(table: str) -> Iterator[tuple[Instance, bool]]:
    """Every instance with whether it is complete. One that cannot be read is left out: it must not take all down."""
    for path in files(table):
        try:
            yield head(path, path.stat().st_mtime_ns)
        except (BankIncomplete, OSError) as broken:
            log.error("an instance is left out: %s", broken)


def complete_instances(table: str) -> list[Instance]:
    """Instances whose every run is banked, healthy ones among them."""
    return [instance for instance, whole in all_instances(table) if whole]


def instance(table: str, id: str) -> Instance:
    """One instance. Raises BankIncomplete where the bank does not hold it."""
    path = path_of(table, id)
    if not path.is_file():
        raise BankIncomplete(f"the bank of {table} no longer holds this attempt's instance")
    return head(path, path.stat().st_mtime_ns)[0]


def whole_run(table: str, instance_id: str, experiment: str, effect: Effect = "nothing") -> WholeRun:
    """A banked run of an instance, after fixes of that effect. Raises BankIncomplete where it is not there."""
    path = path_of(table, instance_id)
    if not path.is_file():
        raise BankIncomplete(f"the bank of {table} no longer holds this attempt's instance")
    return load(path, path.stat().st_mtime_ns, experiment, effect)


def baseline(table: str, instance: Instance) -> WholeRun:
    """The healthy job run before the incident, as this instance's change log compares with."""
    return whole_run(table, instance.id, "job", "cures")


# Some hundred kilobytes each once parsed: the web process has to stay small.
@functools.lru_cache(maxsize=64)
def load(path: Path, mtime_ns: int, experiment: str, effect: Effect) -> WholeRun:
    content = read(path)
    found = stored_run(content, experiment, effect)
    if found is None and effect == "cures":
        return whole_run(path.parent.name, healthy_partner(path.parent.name, content["instance"]["id"]), experiment)
    if found is None:
        raise BankIncomplete(f"the bank lacks {experiment} of this instance; run: manage.py scenario bank")
    try:
        return WholeRun.model_validate(found)
    except ValidationError as wrong:
        raise unreadable(path, wrong) from wrong


def stored_run(content: dict[str, Any], experiment: str, effect: Effect) -> Any:
    """The stored run that answers; None where the file has none."""
    experiments = content.get("experiments", {})
    if content["instance"]["cause"] == HEALTHY or effect == "nothing":
        return experiments.get(experiment)
    if effect == "cures":
        return content.get(BEFORE) if experiment == "job" else None
    return content.get("after", {}).get(effect, {}).get(experiment) or experiments.get(experiment)


def healthy_partner(table: str, id: str) -> str:
    """The healthy instance whose microbenchmarks stand for those of a cured one: always the same."""
    healthy = [instance.id for instance, whole in all_instances(table) if whole and instance.is_healthy]
    if not healthy:
        raise BankIncomplete(f"the bank of {table} has no healthy runs")
    return healthy[int(id, 16) % len(healthy)]
