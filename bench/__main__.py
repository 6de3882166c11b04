"""Measures everything in one run, prints a table, writes `bench/results/latest.json`."""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bench import candidates, collectives, grading, lab, pages
from bench.figure import Figure, table
from config import paths
from config.supervisor import ready
from tests.support import processes
from tests.support.stack import Stack
from tests.support.waiting import wait_until

RESULTS = paths.BASE_DIR / "bench" / "results" / "latest.json"


def on_a_stack() -> list[Figure]:
    """On the whole of Rank 37 in a folder of its own, its lab first checked and idle, then stopped."""
    with tempfile.TemporaryDirectory(prefix="r37-") as folder, Stack(Path(folder) / "data") as stack:
        stack.start()
        wait_until("the lab has checked itself", lambda: ready.evidence_is_live(stack.port), within_s=300, pause_s=1)
        everyone = stack.processes()
        web, worker = processes.named(everyone, "uvicorn"), processes.named(everyone, "celery")
        first = pages.measure(stack.port, web, worker | processes.named(everyone, "launcher"))
        # An experiment beside the load would be measured with it: without a worker the bank answers.
        for pid in worker:
            os.kill(pid, signal.SIGSTOP)
        wait_until("the bank answers", lambda: not ready.evidence_is_live(stack.port), within_s=60, pause_s=1)
        return [*first, *candidates.measure(stack.port)]


def careful(name: str, part: Callable[[], list[Figure]]) -> list[Figure]:
    """What cannot be measured is unknown, never passed."""
    print(f"measuring: {name} …", flush=True)
    try:
        return part()
    except Exception as error:
        traceback.print_exc()
        return [Figure(name, "could not be measured", None, "", note=repr(error))]


PARTS: dict[str, Callable[[], list[Figure]]] = {
    "grading": grading.measure,
    "stack": on_a_stack,
    "lab": lab.measure,
    "collectives": collectives.measure,
}


def main(argv: list[str]) -> int:
    wanted = argv or list(PARTS)
    if unknown := [name for name in wanted if name not in PARTS]:
        print(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    figures = [figure for name in wanted for figure in careful(name, PARTS[name])]
    print("\n" + table(figures))
    machine = {"cores": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()}
    told = {"at": datetime.now(UTC).isoformat(), "machine": machine, "figures": [f.as_json() for f in figures]}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
