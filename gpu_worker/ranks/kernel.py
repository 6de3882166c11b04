"""What the kernel tells of a rank's process and of its machine: threads, run queues, pressure, memory. Reads /proc.

`KernelWatch` holds the counters of a moment; `since_begun` says what happened after it, as `telemetry.kernel` of a
WholeRun's ranks. Whatever this kernel does not offer is left out rather than guessed.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NANOSECOND, MICROSECOND, KIBIBYTE = 1e-9, 1e-6, 1024
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PRESSURES = ("cpu", "memory", "io")
DIGITS_S = 5


class KernelWatch:
    """Counters of this process and machine since it was made."""

    def __init__(self) -> None:
        self._begun = _moment()

    def since_begun(self) -> dict[str, Any]:
        """{wall_s, process_cpu_s, threads, threads_run_delay_s, minor_faults, major_faults, allowed_cores: [core],
        core_idle_shares: {core: share}, pressure: {cpu_some_s, …}, resident_bytes, resident_peak_bytes}.

        `threads_run_delay_s` adds up all threads' time on run queues; `allowed_cores` are those of the calling thread.
        """
        then, now = self._begun, _moment()
        grown = {name: round(now[name] - then[name], DIGITS_S) for name in ("wall_s", "process_cpu_s", "run_delay_s")}
        return {
            "wall_s": grown["wall_s"],
            "process_cpu_s": grown["process_cpu_s"],
            "threads_run_delay_s": grown["run_delay_s"],
            "threads": len(os.listdir("/proc/self/task")),
            "minor_faults": now["minor_faults"] - then["minor_faults"],
            "major_faults": now["major_faults"] - then["major_faults"],
            "allowed_cores": sorted(os.sched_getaffinity(0)),
            "core_idle_shares": _idle_shares(then["cores"], now["cores"]),
            "pressure": {name: round(value - then["pressure"][name], DIGITS_S) for name, value in _pressed(now, then)},
            "resident_bytes": resident_bytes(),
            "resident_peak_bytes": resident_peak_bytes(),
        }


def resident_bytes() -> int:
    """Memory of this process that is in RAM now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE_BYTES


def resident_peak_bytes() -> int:
    """The most that it ever was since the process was forked."""
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["VmHWM"].split()[0]) * KIBIBYTE


def _moment() -> dict[str, Any]:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall_s": time.monotonic(),
        "process_cpu_s": own.ru_utime + own.ru_stime,
        "run_delay_s": _threads_run_delay_s(),
        "minor_faults": own.ru_minflt,
        "major_faults": own.ru_majflt,
        "cores": _core_ticks(),
        "pressure": _pressure_s(),
    }


def _pressed(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[tuple[str, float]]:
    return [(name, value) for name, value in now["pressure"].items() if name in then["pressure"]]


def _threads_run_delay_s() -> float:
    """Of the threads that are alive; what ended ones waited is gone with them."""
    waited_ns = 0
    for task in Path("/proc/self/task").iterdir():
        try:
            waited_ns += int((task / "schedstat").read_text().split()[1])
        except OSError:  # ended since it was listed
            continue
    return waited_ns * NANOSECOND


def _core_ticks() -> dict[str, tuple[float, float]]:
    """(idle, all) seconds of each core since boot."""
    found = {}
    with open("/proc/stat") as file:
        for line in file:
            name, *ticks = line.split()
            if name.startswith("cpu") and name != "cpu":
                counted = [int(value) * TICK_S for value in ticks[:8]]
                found[name.removeprefix("cpu")] = (counted[3] + counted[4], sum(counted))
    return found


def _idle_shares(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, float]:
    shares = {}
    for core, (idle, total) in now.items():
        idle_before, total_before = then.get(core, (idle, total))
        shares[core] = round((idle - idle_before) / max(total - total_before, TICK_S), 3)
    return shares


def _pressure_s() -> dict[str, float]:
    """`cpu_some_s`: seconds in which some task of the machine waited for a core; and so on. Empty without PSI."""
    found = {}
    for name in PRESSURES:
        try:
            text = Path(f"/proc/pressure/{name}").read_text()
        except OSError:
            continue
        for line in text.splitlines():
            kind, *fields = line.split()
            found[f"{name}_{kind}_s"] = int(fields[-1].removeprefix("total=")) * MICROSECOND
    return found
