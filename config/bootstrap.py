"""Makes the environment that everything else runs in: `python -m config.bootstrap run|test|bench|mutants|env`.

Standard library only, and no syntax newer than a Python that should be told it is too old.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
VENV = BASE_DIR / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)
NEEDS = {
    "venv": "on Debian: apt-get install python3-venv",
    "ensurepip": "on Debian: apt-get install python3-venv",
    "sqlite3": "build or install Python with SQLite",
    "ssl": "build or install Python with OpenSSL",
}
# Groups of requirements, a file each; every one holds those before it.
GROUPS = ("base", "test", "mutation")
# What each goal needs installed, and what it then runs.
GOALS = {
    "env": ("base", []),
    "run": ("base", ["-m", "config.supervisor"]),
    "test": ("test", ["-m", "tests.suite"]),
    "bench": ("test", ["-m", "bench"]),
    "mutants": ("mutation", ["-m", "tests.mutants"]),
}


class CannotPrepare(Exception):
    """One line for the person, with the repair."""


def missing_from(python_version: tuple, has_module) -> str:
    """What this Python lacks, as one line with the repair; empty where it lacks nothing."""
    if python_version < OLDEST:
        found = ".".join(map(str, python_version))
        return f"Python {found} is too old: Rank 37 needs 3.11 or newer. Name one: make run PYTHON=/path/to/python3.11"
    for module, repair in NEEDS.items():
        if not has_module(module):
            return f"This Python ({sys.executable}) has no module {module}; {repair}"
    return ""


def digest(group: str) -> str:
    """Of everything that decides what is installed for a group of requirements."""
    held = GROUPS[: GROUPS.index(group) + 1]
    files = [BASE_DIR / "constraints.txt", *(BASE_DIR / "requirements" / f"{one}.txt" for one in held)]
    parts = [file.read_bytes() for file in files] + [platform.python_version().encode(), platform.machine().encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def stamp(group: str) -> Path:
    return VENV / f"rank37-{group}.stamp"


def is_installed(group: str) -> bool:
    """True where the stamp of the group, or of one that holds it, is up to date and the environment still runs."""
    holders = GROUPS[GROUPS.index(group) :]
    stamped = any(stamp(h).is_file() and stamp(h).read_text() == digest(h) for h in holders)
    return stamped and runs()


def runs() -> bool:
    """False also where the folder was moved or its Python was removed."""
    if not PYTHON.exists():
        return False
    asked = subprocess.run([str(PYTHON), "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True)
    return asked.returncode == 0 and Path(asked.stdout.strip()).resolve() == VENV.resolve()


def make_venv() -> None:
    if runs():
        return
    print("Making the environment in .venv …", flush=True)
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True)
    if made.returncode:
        raise CannotPrepare(f"python -m venv failed: {(made.stderr or made.stdout).strip().splitlines()[-1]}")


def pip_command(group: str) -> list[str]:
    wanted = ["-r", f"requirements/{group}.txt", "-c", "constraints.txt"]
    # What is never imported need not be compiled: Python compiles the rest at its first import.
    quiet = ("--no-input", "--disable-pip-version-check", "--no-compile")
    return [str(PYTHON), "-m", "pip", "install", *quiet, *wanted]


def install(group: str) -> None:
    """Installs from pinned constraints, saying how far it is. Raises CannotPrepare with the log's place."""
    total = sum(1 for line in (BASE_DIR / "constraints.txt").read_text().splitlines() if "==" in line)
    print(f"Installing pinned packages (about {total}; the first time takes a minute or more) …", flush=True)
    log = VENV / "pip.log"
    seen = 0
    with log.open("w") as out:
        pip = subprocess.Popen(
            pip_command(group), cwd=BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert pip.stdout is not None
        for line in pip.stdout:
            out.write(line)
            if line.startswith("Collecting "):
                seen += 1
                tell_progress(seen, total, line.split()[1])
            elif line.startswith("Installing collected"):
                print("  all found; unpacking …", flush=True)
    if pip.wait():
        raise CannotPrepare(f"pip could not install {last_error(log)} (everything it said: {log})")
    stamp(group).write_text(digest(group))


def tell_progress(seen: int, total: int, name: str) -> None:
    if seen % 10 == 0 or name.startswith("torch"):
        print(f"  {seen} of about {total}: {name}", flush=True)


def last_error(log: Path) -> str:
    lines = [line.strip() for line in log.read_text().splitlines() if line.startswith("ERROR")]
    return lines[0].removeprefix("ERROR: ") if lines else "the requirements"


def ensure(group: str) -> None:
    """The environment with the group's packages; one at a time in a checkout, later ones wait."""
    if is_installed(group):
        return
    with (BASE_DIR / ".venv.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another make prepares .venv in this checkout; waiting for it …", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if is_installed(group):
            return
        make_venv()
        install(group)


def main(argv: list[str]) -> int:
    if len(argv) < 1 or argv[0] not in GOALS:
        print(f"usage: python -m config.bootstrap {'|'.join(GOALS)}", file=sys.stderr)
        return 2
    group, command = GOALS[argv[0]]
    if lacking := missing_from(sys.version_info[:3], find_spec):
        print(lacking, file=sys.stderr)
        return 2
    try:
        ensure(group)
    except CannotPrepare as reason:
        print(reason, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; the next try goes on from here.", file=sys.stderr)
        return 130
    if command:
        os.chdir(BASE_DIR)
        os.execv(str(PYTHON), [str(PYTHON), *command, *argv[1:]])
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
