"""Runs everything: linters first, then the tests in phases. Ends with one closing line, as pytest writes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from config import paths
from tests.suite import debian
from tests.suite.postgres import running_postgres
from tests.support import guard

LINTERS = {
    "ruff": ("-m", "ruff", "check", "--quiet", "."),
    "mypy": ("-m", "mypy"),
    "import contract": ("-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"),
}
ALONE = "lab or stack or browser"
PHASE_WITHIN_S = 2700


@dataclass(frozen=True)
class Phase:
    """A part of the tests: `parallel` where they measure nothing and share nothing."""

    name: str
    select: str
    parallel: bool
    only_by_name: bool = False
    database: Callable[[], AbstractContextManager[str]] = lambda: nullcontext("")


PHASES = (
    Phase("unit", f"not ({ALONE})", parallel=True),
    Phase(
        "postgres",
        f"database and not slow and not ({ALONE})",
        parallel=True,
        database=lambda: running_postgres(debian.ensure_postgres()),
    ),
    Phase("lab", "lab and not (stack or browser or long)", parallel=False),
    Phase("stack", "stack or browser", parallel=False),
    Phase("long", "long", parallel=False, only_by_name=True),
)


def say(line: str) -> None:
    print(line, flush=True)


def lint() -> list[str]:
    """The linters that found something."""
    failed = []
    for name, command in LINTERS.items():
        done = subprocess.run(
            [sys.executable, *command], cwd=paths.BASE_DIR, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        say(f"{name}: {'fine' if done.returncode == 0 else 'failed'}")
        if done.returncode:
            say(done.stdout + done.stderr)
            failed.append(name)
    return failed


def pytest(phase: Phase, database_url: str, guard_file: Path, more: list[str]) -> bool:
    """Runs one phase. No test selected counts as fine here: the guard knows which groups must have run."""
    env = {**os.environ, "GUARD_FILE": str(guard_file)}
    for name in ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "STATIC_HASHED", "DEBUG"):
        env.pop(name, None)
    if database_url:
        env["DATABASE_URL"] = database_url
    workers = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"] if phase.parallel else ["-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", "-q", "-m", phase.select, *workers, "--durations=5", *more]
    try:
        code = subprocess.run(
            command, cwd=paths.BASE_DIR, env=env, stdin=subprocess.DEVNULL, timeout=PHASE_WITHIN_S
        ).returncode
    except subprocess.TimeoutExpired:
        say(f"phase {phase.name} did not end within {PHASE_WITHIN_S} s")
        return False
    return code in (0, 5)


def run(phases: list[Phase], guard_file: Path, more: list[str]) -> list[str]:
    failed = []
    for phase in phases:
        say(f"\n--- tests: {phase.name}")
        with phase.database() as database_url:
            if not pytest(phase, database_url, guard_file, more):
                failed.append(f"tests: {phase.name}")
    return failed


def closing_line(guard_file: Path, problems: list[str], seconds: float) -> str:
    """All phases together, in pytest's own form."""
    counts: Counter[str] = Counter()
    for line in guard_file.read_text().splitlines() if guard_file.is_file() else ():
        counts.update(json.loads(line)["outcomes"])
    # A linter or the guard is no test, but what it found must show in the count.
    if problems and not counts["failed"] and not counts["error"]:
        counts["failed"] = len(problems)
    order = ("failed", "passed", "skipped", "xfailed", "xpassed", "error")
    told = ", ".join(f"{counts[name]} {name}" for name in order if counts[name]) or "no tests ran"
    return f"{f' {told} in {seconds:.2f}s ':=^80}"


def main(argv: list[str]) -> int:
    began = time.monotonic()
    names = {phase.name: phase for phase in PHASES}
    wanted = [word for word in argv if word in names]
    more = [word for word in argv if word not in names]
    phases = [names[word] for word in wanted] or [phase for phase in PHASES if not phase.only_by_name]
    try:
        if names["stack"] in phases:
            debian.ensure_chromium()
        if names["postgres"] in phases:
            debian.ensure_postgres()
    except debian.Missing as reason:
        print(reason, file=sys.stderr)
        return 2
    whole = not wanted and not more
    problems = lint() if whole else []
    with tempfile.TemporaryDirectory() as folder:
        guard_file = Path(folder) / "guard.jsonl"
        problems += run(phases, guard_file, more)
        if whole and (empty := guard.missing(guard_file)):
            problems.append(f"guard: nothing ran in {', '.join(empty)}")
        for problem in problems:
            say(f"FAILED {problem}")
        say(closing_line(guard_file, problems, time.monotonic() - began))
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
