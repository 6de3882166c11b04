"""Importing an archive: everything is validated before anything is written, and what is written is written whole.

An archive may come from anybody. Names, sizes and digests are checked before a member is looked at; nothing here may
be replaced by an import.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gpu_worker.specs import WholeRun
from scenarios import bank, library, released, sharing, tables_file
from scenarios.archive import BANK, CALIBRATION, FORM, MANIFEST, TEXT, Manifest, digest
from scenarios.errors import BankIncomplete, ScenarioError, ScenarioErrors
from scenarios.format import Scenario
from scenarios.instances import Instance
from scenarios.knowledge import assemble
from scenarios.tables_file import Calibration

NAME = re.compile(rf"^({MANIFEST}|{TEXT}|{CALIBRATION}|{BANK}[0-9a-f]{{32}}\.json\.gz)$")
MOST_MEMBERS = 20_000
LARGEST_MEMBER, LARGEST_RUNS, LARGEST_ARCHIVE = 64_000_000, 16_000_000, 512_000_000


@dataclass(frozen=True)
class Imported:
    """What an import brought: the scenario, where its text lies, and how many files were new."""

    scenario: Scenario
    file: Path
    written: int


def import_archive(file: Path) -> Imported:
    """Validates an archive and writes it into the library. Raises ScenarioError that says what is wrong with it."""
    members = members_in(file)
    manifest = manifest_of(file, members)
    scenario = scenario_of(file, manifest, members[TEXT])
    calibration = calibration_of(file, manifest, members[CALIBRATION])
    refuse_unfit(file, scenario, calibration)
    for name, content in members.items():
        if name.startswith(BANK):
            refuse_foreign_runs(file, manifest, name, content)
    refuse_changed_revision(file, scenario, manifest)
    wanted = targets(scenario, members)
    text_at = list(wanted)[-1]
    refuse_replacing(file, wanted)
    new = {path: content for path, content in wanted.items() if not path.is_file()}
    write_all(new, last=partial(released.record, scenario) if manifest.released else None)
    return Imported(scenario, text_at, len(new))


def refused(file: Path, message: str) -> ScenarioError:
    return ScenarioError(file, None, message)


def members_in(file: Path) -> dict[str, bytes]:
    """Every member's content. Raises ScenarioError for names, sizes or content that no export writes."""
    try:
        with zipfile.ZipFile(file) as archive:
            listed = archive.infolist()
            refuse_listing(file, listed)
            return {member.filename: content_of(file, archive, member) for member in listed}
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as broken:
        raise refused(file, f"it is no archive that can be read ({broken}); make it with: scenario export") from None


def refuse_listing(file: Path, listed: list[zipfile.ZipInfo]) -> None:
    """By what the archive says of its members, before any of them is read."""
    if len(listed) > MOST_MEMBERS:
        raise refused(file, f"it has {len(listed)} members and may have {MOST_MEMBERS}")
    names = [member.filename for member in listed]
    for member in listed:
        if not NAME.match(member.filename):
            raise refused(file, f"member {member.filename!r} is none that an export writes; nothing was imported")
        if names.count(member.filename) > 1:
            raise refused(file, f"member {member.filename!r} stands in it twice")
        if member.file_size > LARGEST_MEMBER:
            said = f"member {member.filename!r} has {member.file_size} bytes and may have {LARGEST_MEMBER}"
            raise refused(file, said)
    if sum(member.file_size for member in listed) > LARGEST_ARCHIVE:
        raise refused(file, f"its members have more than {LARGEST_ARCHIVE} bytes together")
    for name in (MANIFEST, TEXT, CALIBRATION):
        if name not in names:
            raise refused(file, f"it holds no {name}; make it anew with: scenario export")


def content_of(file: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """What a member really holds: its size in the listing is only what somebody wrote there."""
    with archive.open(member) as stream:
        content = stream.read(LARGEST_MEMBER + 1)
    if len(content) > LARGEST_MEMBER:
        raise refused(file, f"member {member.filename!r} is larger than {LARGEST_MEMBER} bytes")
    return content


def manifest_of(file: Path, members: Mapping[str, bytes]) -> Manifest:
    """The manifest, whose list and digests are those of the members."""
    try:
        manifest = Manifest.model_validate_json(members[MANIFEST])
    except ValidationError as wrong:
        raise refused(file, f"{MANIFEST}: {first_of(wrong)}") from None
    if manifest.form != FORM:
        raise refused(file, f"its form is {manifest.form}, and this installation reads {FORM}")
    others = {name: content for name, content in members.items() if name != MANIFEST}
    for name in sorted(manifest.members.keys() ^ others.keys()):
        raise refused(file, f"member {name!r} is {'listed and missing' if name in manifest.members else 'not listed'}")
    for name, content in others.items():
        if digest(content) != manifest.members[name]:
            raise refused(file, f"member {name!r} is not what its digest says; it was changed after the export")
    return manifest


def scenario_of(file: Path, manifest: Manifest, text: bytes) -> Scenario:
    """The scenario, with every check that a file of the library passes."""
    with tempfile.TemporaryDirectory(prefix="r37-import-") as folder:
        path = Path(folder) / f"{manifest.key}.yaml"
        path.write_bytes(text)
        try:
            scenario = library.load(path)
        except ScenarioErrors as broken:
            lines = "; ".join(str(error) for error in broken.errors[:3])
            raise refused(file, f"its scenario is not sound: {lines}") from None
        except ScenarioError as broken:
            raise refused(file, f"its scenario is not sound: {broken}") from None
    for field in ("key", "revision", "track", "table"):
        said, held = getattr(manifest, field), getattr(scenario, field)
        if said != held:
            raise refused(file, f"{MANIFEST} says {field} {said}, its scenario {held}")
    return scenario


def calibration_of(file: Path, manifest: Manifest, text: bytes) -> Calibration:
    try:
        calibration = Calibration.model_validate_json(text)
    except ValidationError as wrong:
        raise refused(file, f"{CALIBRATION}: {first_of(wrong)}") from None
    held = tables_file.digest_of(calibration.tables, calibration.pairs)
    if not held == calibration.digest == manifest.calibration:
        raise refused(file, f"{CALIBRATION}: its digest is not that of its tables; calibrate and export anew")
    if calibration.table != manifest.table:
        raise refused(file, f"{CALIBRATION} is of table {calibration.table}, the scenario of {manifest.table}")
    return calibration


def refuse_unfit(file: Path, scenario: Scenario, calibration: Calibration) -> None:
    """The tables must hold every cause and every step of the scenario, which must agree with those that share them."""
    try:
        assemble(scenario, calibration)
    except BankIncomplete as lacking:
        raise refused(file, str(lacking)) from None
    for _, difference in sharing.disagreements(scenario):
        raise refused(file, difference)


def refuse_foreign_runs(file: Path, manifest: Manifest, name: str, content: bytes) -> None:
    """A file of the bank must hold an instance of that table under its own name, and runs that can be read."""
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            raw = stream.read(LARGEST_RUNS + 1)
        if len(raw) > LARGEST_RUNS:
            raise refused(file, f"member {name!r} is larger than {LARGEST_RUNS} bytes once unpacked")
        held: dict[str, Any] = json.loads(raw)
        instance = Instance.model_validate(held["instance"])
        for what, experiment in bank.slots_of(held):
            WholeRun.model_validate(bank.run_in(held, (what, experiment)))
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError) as wrong:
        said = first_of(wrong) if isinstance(wrong, ValidationError) else str(wrong)
        raise refused(file, f"member {name!r} holds no runs that can be read: {said}") from None
    if (instance.table, f"{BANK}{instance.id}.json.gz") != (manifest.table, name):
        raise refused(file, f"member {name!r} holds instance {instance.id} of table {instance.table}")


def refuse_changed_revision(file: Path, scenario: Scenario, manifest: Manifest) -> None:
    if (changed := released.problem(scenario)) is not None:
        raise refused(file, f"{scenario.key}: {changed}")
    if scenario.key in library.files():
        try:
            here = library.get(scenario.key, scenario.revision)
        except ScenarioError:
            return
        if released.digest_of(here) != released.digest_of(scenario):
            said = f"revision {scenario.revision} of {scenario.key} is here with another text; raise its revision"
            raise refused(file, said)


def targets(scenario: Scenario, members: Mapping[str, bytes]) -> dict[Path, bytes]:
    """Where each member goes: runs first and the scenario last, so that it is never seen without what it needs."""
    folder = bank.FOLDER / scenario.table
    runs = {folder / name.removeprefix(BANK): content for name, content in members.items() if name.startswith(BANK)}
    return {
        **runs,
        tables_file.path_of(scenario.table): members[CALIBRATION],
        library.place_for(scenario): members[TEXT],
    }


def refuse_replacing(file: Path, wanted: Mapping[Path, bytes]) -> None:
    for path, content in list(wanted.items())[:-1]:
        if path.is_file() and path.read_bytes() != content:
            said = f"{path.parent.name}/{path.name} is here with other content; give the scenario a table of its own"
            raise refused(file, said)


def write_all(new: Mapping[Path, bytes], last: Callable[[], None] | None = None) -> None:
    """Every file or none: all are written aside first, then take their places; where one cannot, the others leave.

    `last` is done once they are in place; where it fails, they leave as well.
    """
    with ExitStack() as undo:
        aside = {path: path.with_name(f"{path.name}.part") for path in new}
        for path, content in new.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            undo.callback(aside[path].unlink, missing_ok=True)
            aside[path].write_bytes(content)
        for path, part in aside.items():
            undo.callback(remove_file, path)
            os.replace(part, path)
        if last is not None:
            last()
        undo.pop_all()


def remove_file(path: Path) -> None:
    if path.is_file():
        path.unlink()


def first_of(wrong: ValidationError) -> str:
    first = wrong.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
