"""One incident as one file: its text, its calibration and the bank of its table, each with its digest.

Exporting the same content gives the same bytes.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from scenarios import bank, library, released, tables_file
from scenarios.format import Scenario
from scenarios.parts import Key

MANIFEST, TEXT, CALIBRATION, BANK = "manifest.json", "scenario.yaml", "calibration.json", "bank/"
FORM = 1
NO_DATE = (1980, 1, 1, 0, 0, 0)


class Manifest(BaseModel):
    """What an archive says of itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    form: int = FORM
    key: Key
    revision: int = Field(ge=1)
    track: Key
    table: Key
    calibration: str = Field(description="digest of the tables")
    released: bool = Field(description="published: its text may not change where it is imported")
    members: dict[str, str] = Field(description="SHA-256 of each other member, by name")


def export(scenario: Scenario, file: Path) -> Manifest:
    """Writes a revision's archive, whole or not at all. Raises BankIncomplete where it is not calibrated."""
    members = members_of(scenario)
    manifest = Manifest(
        key=scenario.key,
        revision=scenario.revision,
        track=scenario.track,
        table=scenario.table,
        calibration=tables_file.load(scenario.table).digest,
        released=released.is_released(scenario),
        members={name: digest(content) for name, content in members.items()},
    )
    part = file.with_name(f"{file.name}.part")
    try:
        with zipfile.ZipFile(part, "w") as archive:
            store(archive, MANIFEST, manifest.model_dump_json(indent=1).encode() + b"\n")
            for name, content in members.items():
                store(archive, name, content)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return manifest


def members_of(scenario: Scenario) -> dict[str, bytes]:
    """Every member but the manifest, by name and in order."""
    runs = {f"{BANK}{path.name}": path.read_bytes() for path in bank.files(scenario.table)}
    calibration = tables_file.text_of(tables_file.load(scenario.table)).encode()
    text = library.file_of(scenario.key, scenario.revision).read_bytes()
    return {TEXT: text, CALIBRATION: calibration, **dict(sorted(runs.items()))}


def store(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    packed = zipfile.ZIP_STORED if name.startswith(BANK) else zipfile.ZIP_DEFLATED  # the bank's are gzip already
    member = zipfile.ZipInfo(name, NO_DATE)
    member.external_attr = 0o644 << 16
    archive.writestr(member, content, packed)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
