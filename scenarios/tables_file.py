"""Calibration files: `scenarios/calibration/<table>.json`, the tables and the runs that they rest on."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from grader.tables import Tables
from scenarios.errors import BankIncomplete

FOLDER = Path(__file__).with_name("calibration")
SYMPTOM_VARIANT = "symptom"


class Observation(BaseModel):
    """One probe's decisive readings on one banked run."""

    model_config = ConfigDict(extra="forbid")
    instance: str
    cause: str
    experiment: str
    variant: str
    readings: dict[str, float]
    finding: str


class Calibration(BaseModel):
    """Everything that a table's calibration holds. `digest` pins the tables that attempts are scored by."""

    model_config = ConfigDict(extra="forbid")
    schema_version: int = 1
    table: str
    digest: str
    made_on: str = Field(description="day, UTC")
    machine_class: dict[str, Any] = Field(description="cores, ranks, kernel, backend and torch of the runs")
    runs: dict[str, int] = Field(description="banked instances by cause")
    tables: Tables
    pairs: Tables | None = Field(default=None, description="of two causes at once, by `a+b`; none where none was run")
    reports: dict[str, Any] = Field(description="useful work by cause, and what each variant shows")
    observations: list[Observation]


def path_of(table: str) -> Path:
    return FOLDER / f"{table}.json"


def save(calibration: Calibration) -> Path:
    """Writes the file whole or not at all."""
    path = path_of(calibration.table)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text_of(calibration))
    os.replace(part, path)
    return path


def text_of(calibration: Calibration) -> str:
    """The file's text; where no pairs were run it does not mention them."""
    skipped = {"pairs"} if calibration.pairs is None else None
    return (
        json.dumps(calibration.model_dump(mode="json", by_alias=True, exclude=skipped), indent=1, sort_keys=True) + "\n"
    )


def load(table: str) -> Calibration:
    """The calibration of a table. Raises BankIncomplete where there is none that can be read."""
    path = path_of(table)
    if not path.is_file():
        raise BankIncomplete(f"table {table} has no calibration; run: manage.py scenario calibrate KEY")
    try:
        return load_as_of(path, path.stat().st_mtime_ns)
    except (OSError, ValueError) as damaged:
        raise BankIncomplete(
            f"{path.name} cannot be read ({damaged}); run: manage.py scenario calibrate KEY"
        ) from damaged


@functools.lru_cache(maxsize=8)
def load_as_of(path: Path, mtime_ns: int) -> Calibration:
    return Calibration.model_validate_json(path.read_text())


def digest_of(tables: Tables, pairs: Tables | None = None) -> str:
    """Sixteen hex digits that change with any number of the tables; independent of the order of their entries."""
    parts = [one.model_dump(mode="json", by_alias=True) for one in (tables, pairs) if one is not None]
    text = json.dumps(parts[0] if pairs is None else parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
