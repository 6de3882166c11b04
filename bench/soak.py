"""Continuous mixed runs, and what grows meanwhile: `python -m bench.soak [MINUTES] [SEED]`.

Faults, steps' experiments and healthy runs in random order with one warm launcher, as a lab worker has it. After each
run the memory, open files and network namespaces of the launcher and of its owner are read from the kernel. The first
runs warm caches up and are left out; growth is the median of the last third over that of the first. Exit 1 where
something grew by more than 5 %.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from gpu_worker.errors import LabError
from gpu_worker.faults import FAULTS
from gpu_worker.lab import run as lab
from gpu_worker.matrix.trials import in_launch, pairs
from gpu_worker.specs import ExperimentSpec
from tests.gpu_worker.lab.leftovers import networks_of

GROWTH_LIMIT = 0.05
# A step is no growth: a count of 40 files that reads 41 once is 2.5 %, one of 4 that reads 5 would be 25 %.
STEADY_COUNT = 2
LEFT_OUT = 5
SETTLE_S = 0.5
MINUTES = 30.0


@dataclass(frozen=True)
class Sample:
    """What the kernel tells after one run."""

    owner_mb: float
    launcher_mb: float
    owner_files: int
    launcher_files: int
    networks: int
    processes: int


@dataclass(frozen=True)
class Growth:
    name: str
    first: float
    last: float

    @property
    def share(self) -> float:
        return self.last / self.first - 1 if self.first else 0.0

    @property
    def holds(self) -> bool:
        steady = not self.name.endswith("_mb") and self.last - self.first <= STEADY_COUNT
        return steady or self.share <= GROWTH_LIMIT


def sample(launcher: int) -> Sample:
    own = os.getpid()
    below = _family(launcher)
    return Sample(
        owner_mb=resident_mb(own),
        launcher_mb=resident_mb(launcher),
        owner_files=_files(own),
        launcher_files=_files(launcher),
        networks=len({network for pid in below for network in networks_of(Path(f"/proc/{pid}"))}),
        processes=len(below),
    )


def growths(samples: Sequence[Sample]) -> list[Growth]:
    """Of each figure, the medians of the first and of the last third. Empty where there are too few samples."""
    kept = samples[LEFT_OUT:]
    third = len(kept) // 3
    if not third:
        return []
    return [
        Growth(name, median(getattr(s, name) for s in kept[:third]), median(getattr(s, name) for s in kept[-third:]))
        for name in vars(kept[0])
    ]


def specs(chance: random.Random) -> Callable[[], ExperimentSpec]:
    """Draws what a step of the palette would run: any fault in any experiment that it declares, a third healthy."""
    known = pairs(FAULTS.values())

    def draw() -> ExperimentSpec:
        pair = chance.choice(known)
        return in_launch(pair.healthy if chance.random() < 1 / 3 else pair.faulted, chance.randrange(40))

    return draw


def soak(minutes: float, seed: int, tell: Callable[[str], None] = print) -> dict[str, Any]:
    """Runs until the time is over. {"runs", "ended_otherwise", "growth": [...], "holds"}."""
    os.environ["RANK37_ACCEPT_DISTURBED"] = "3"  # what grows is asked, not what the runs read
    draw, samples, otherwise, runs = specs(random.Random(seed)), [], Counter[str](), Counter[str]()
    deadline = time.monotonic() + 60 * minutes
    lab.warm_up()
    try:
        while time.monotonic() < deadline:
            spec = draw()
            runs["+".join(fault.cause for fault in spec.faults) or "healthy"] += 1
            try:
                lab.run_experiment(spec)
            except LabError as problem:
                otherwise[type(problem).__name__] += 1
            time.sleep(SETTLE_S)  # until the next fabric stands: half of one would read as fewer namespaces
            samples.append(sample(lab.launcher_pid()))
            tell(f"{len(samples)} {spec.key} {samples[-1]}")
    finally:
        lab.close()
    return summary(samples, runs, otherwise)


def summary(samples: Sequence[Sample], runs: Counter[str], otherwise: Counter[str]) -> dict[str, Any]:
    found = growths(samples)
    return {
        "runs": len(samples),
        "by_fault": dict(runs),
        "ended_otherwise": dict(otherwise),
        "growth": [{**vars(one), "share": round(one.share, 4), "holds": one.holds} for one in found],
        "holds": bool(found) and all(one.holds for one in found),
    }


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _family(pid: int) -> list[int]:
    """The launcher and what it forked, such as the fabric that it keeps ready."""
    from gpu_worker.lab.sweep import processes

    ours = processes()
    return [one.pid for one in ours.values() if pid in ours and one.launcher == ours[pid].launcher]


def _files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def main(argv: list[str]) -> int:
    minutes = float(argv[0]) if argv else MINUTES
    told = soak(minutes, int(argv[1]) if len(argv) > 1 else 37)
    print(json.dumps(told, indent=2))
    return 0 if told["holds"] else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
