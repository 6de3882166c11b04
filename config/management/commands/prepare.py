"""`manage.py prepare`: everything between an environment and a first page, each part skipped where it is up to date."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def static_files() -> Iterator[tuple[str, Path]]:
    for finder in get_finders():
        for path, storage in finder.list([]):
            yield path, Path(storage.path(path))


def static_digest() -> str:
    """Of names, sizes and times: cheap to ask at every start."""
    found = sorted((path, file.stat().st_size, file.stat().st_mtime_ns) for path, file in static_files())
    return hashlib.sha256(repr(found).encode()).hexdigest()


def collect_static() -> bool:
    """Collects, names by digest and compresses static files; False where nothing changed since the last time."""
    stamp = settings.STATIC_ROOT.with_name("static.stamp")
    digest = static_digest()
    if stamp.is_file() and stamp.read_text() == digest and settings.STATIC_ROOT.is_dir():
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(digest)
    return True


def migrate() -> bool:
    """Brings the database up to date; False where it was."""
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return False
    call_command("migrate", interactive=False, verbosity=0)
    return True


def scenarios() -> tuple[list[str], list[str]]:
    """Keys of the scenarios that can be practised, and one line for each that cannot."""
    from scenarios import library

    good: list[str] = []
    problems: list[str] = []
    for key in library.keys():
        try:
            library.get(key)
            good.append(key)
        except Exception as error:
            problems.append(f"Scenario {key} is taken down: {error}")
    return good, problems


def lab() -> dict[str, Any]:
    """What this machine's lab can do, and how its last self-check ended: `ok`, `failed` or `missing`."""
    from gpu_worker.lab.capabilities import capabilities
    from gpu_worker.models import SelfCheck
    from gpu_worker.serving import liveness

    last = SelfCheck.objects.last_of(liveness.machine_id())
    ended = "missing" if last is None else "ok" if last.ok else "failed"
    return {"namespaces": capabilities()["namespaces"], "self_check": ended}


class Command(BaseCommand):
    help = "Migrates the database, collects static files and checks the scenarios; quick where all is up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--report", type=Path, help="write what was found as JSON to this file")

    def handle(self, *args: Any, report: Path | None = None, **options: Any) -> None:
        migrated = migrate()
        collected = collect_static() if settings.STATIC_HASHED else False
        keys, problems = scenarios()
        told = {"migrated": migrated, "collected": collected, "scenarios": keys, "problems": problems, **lab()}
        if report is not None:
            report.write_text(json.dumps(told))
        self.stdout.write(json.dumps(told, indent=2))
