"""The machine that measures: its fingerprint, and where its processors' time went. Reads /proc; no torch."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import time
from dataclasses import dataclass
from typing import Any

QUIET_WINDOW_S = 0.5
QUIET_SHARE = 0.1


@dataclass(frozen=True)
class ProcessorTimes:
    """Seconds since boot, over all processors, from /proc/stat. `work_s` is user, nice and system."""

    work_s: float
    idle_s: float
    steal_s: float
    all_s: float

    def since(self, other: ProcessorTimes) -> dict[str, float]:
        return {name: value - getattr(other, name) for name, value in vars(self).items()}


def processor_times() -> ProcessorTimes:
    """Interrupts are left out of `work_s`: they carry the fabric's own packets."""
    ticks = os.sysconf("SC_CLK_TCK")
    with open("/proc/stat") as file:
        user, nice, system, idle, iowait, irq, softirq, steal = (int(v) / ticks for v in file.readline().split()[1:9])
    return ProcessorTimes(
        work_s=user + nice + system,
        idle_s=idle + iowait,
        steal_s=steal,
        all_s=user + nice + system + idle + iowait + irq + softirq + steal,
    )


def wait_until_quiet(limit_s: float) -> bool:
    """Waits while other work holds the processors, for limit_s at most. Returns whether they are free now."""
    deadline, before = time.monotonic() + limit_s, processor_times()
    while time.monotonic() < deadline:
        time.sleep(QUIET_WINDOW_S)
        now = processor_times()
        spent = now.since(before)
        if spent["work_s"] + spent["steal_s"] < QUIET_SHARE * spent["all_s"]:
            return True
        before = now
    return False


@functools.cache
def fingerprint() -> dict[str, Any]:
    """What makes timings comparable: {cpu, cores, kernel, system, id}; `id` is a short digest of the others."""
    facts = {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "kernel": platform.release(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    text = "|".join(str(value) for value in facts.values())
    return {**facts, "id": hashlib.sha256(text.encode()).hexdigest()[:12]}


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
