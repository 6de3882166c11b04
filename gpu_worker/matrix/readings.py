"""What the matrix keeps of a run where the run itself is not: the decisive readings of every step that reads it.

Whole runs stay on the machine that took them; a file of readings is small enough to lie with the documentation, so that
a matrix of many hours can be taken in parts. Findings are not in it: thresholds apply to the readings anew.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpu_worker.errors import BadSpec
from gpu_worker.matrix.digest import probe_digest
from gpu_worker.matrix.store import Failed
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from gpu_worker.specs import WholeRun, experiment_key, parse_key

DIGITS = 5


class Unreadable(ValueError):
    """The probe cannot read the run."""


@dataclass(frozen=True)
class Taken:
    """One run as the matrix asks it, read where it lies, or remembered: variant -> decisive readings."""

    run: WholeRun | None = None
    remembered: Mapping[str, Mapping[str, float] | None] = field(default_factory=dict)

    def decisive(self, variant: str) -> Mapping[str, float] | None:
        """{reading: value}; None where this variant was not read. Raises Unreadable."""
        if self.run is not None:
            return _read(self.run, variant)
        if variant not in self.remembered:
            return None
        values = self.remembered[variant]
        if values is None:
            raise Unreadable(variant)
        return values


class Entry(BaseModel):
    """One run in the file. `by`: which source of a step's probe read it. `read` holds None for what it could not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    on: str = Field(description="the machine")
    launch: int = Field(ge=0)
    failed: tuple[str, str] | None = Field(default=None, description="kind and reason, where it gave no measurement")
    by: dict[str, str] = Field(default_factory=dict, description="step -> digest of the source of its probe")
    read: dict[str, dict[str, float] | None] = Field(default_factory=dict, description="variant -> decisive readings")

    def taken(self) -> Taken | Failed:
        """Without the variants whose probes have changed since."""
        if self.failed:
            return Failed(*self.failed)
        same = {step for step, digest in self.by.items() if step in PROBES and digest == probe_digest(step)}
        return Taken(remembered={v: values for v, values in self.read.items() if parse_key(v)[0] in same})

    def serves(self, wanted: Iterable[str]) -> bool:
        """Whether it answers for all these variants."""
        taken = self.taken()
        return isinstance(taken, Failed) or set(wanted) <= set(taken.remembered)


def entry_of(found: WholeRun | Failed, launch: int, machine: str) -> Entry:
    """What is kept of a run: all variants of all steps that read its experiment."""
    if isinstance(found, Failed):
        return Entry(on=machine, launch=launch, failed=(found.kind, found.reason))
    reading = variants_reading(found.spec.key)
    steps = {parse_key(variant)[0] for variant in reading}
    values = {variant: _rounded(found, variant) for variant in reading}
    return Entry(on=machine, launch=launch, by={step: probe_digest(step) for step in sorted(steps)}, read=values)


def variants_reading(key: str) -> list[str]:
    """Variants of all steps that read the experiment of this key."""
    return [
        experiment_key(probe.id, with_)
        for probe in PROBES.values()
        for with_ in variants(probe)
        if probe.experiment(with_) == key
    ]


def load(file: Path) -> dict[str, Entry]:
    """By digest of the run; empty where there is no file. Raises BadSpec that names it where it is damaged."""
    if not file.exists():
        return {}
    try:
        content = json.loads(gzip.decompress(file.read_bytes()))
        return {digest: Entry.model_validate(entry) for digest, entry in content.items()}
    except (OSError, EOFError, ValueError, ValidationError) as problem:
        raise BadSpec(f"{file} cannot be read ({type(problem).__name__}); take it from the repository again") from None


def save(file: Path, entries: Mapping[str, Entry]) -> None:
    content: dict[str, Any] = {name: entries[name].model_dump(exclude_defaults=True) for name in sorted(entries)}
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    part.replace(file)


def _read(run: WholeRun, variant: str) -> dict[str, float]:
    step, with_ = parse_key(variant)
    try:
        result = PROBES[step].read(run, with_)
        return {d.reading: float(result.readings[d.reading].value) for d in PROBES[step].decisive}
    except (LookupError, ValueError, TypeError) as problem:
        raise Unreadable(f"{variant}: {problem}") from problem


def _rounded(run: WholeRun, variant: str) -> dict[str, float] | None:
    try:
        return {name: float(f"{value:.{DIGITS}g}") for name, value in _read(run, variant).items()}
    except Unreadable:
        return None
