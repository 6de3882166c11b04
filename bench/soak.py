"""Continuous mixed runs, and what grows meanwhile: `python -m bench.soak [--minutes M] [--seed S] [--keep FOLDER]`.

The runs of the matrix in random order with one warm launcher, as a lab worker has it. With a folder of the matrix,
those that it lacks come first and are kept there: half an hour serves both. After each run the memory, open files and
network namespaces of the launcher and of its owner are read from the kernel. The first runs warm caches up and are left
out; growth is the median of the last third over that of the first. Exit 1 where something grew by more than 5 %.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from gpu_worker.errors import FaultDidNotFire, LabError, RunFailed
from gpu_worker.faults import FAULTS
from gpu_worker.lab import run as lab
from gpu_worker.matrix.digest import digest
from gpu_worker.matrix.store import Store
from gpu_worker.matrix.trials import launches, pairs
from gpu_worker.specs import ExperimentSpec
from tests.gpu_worker.lab.leftovers import networks_of

GROWTH_LIMIT = 0.05
# A step is no growth: a count of 40 files that reads 41 once is 2.5 %, one of 4 that reads 5 would be 25 %.
STEADY_COUNT = 2
LEFT_OUT = 5
SETTLE_S = 0.5
MINUTES = 30.0
LAUNCHES = 20


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


def specs(chance: random.Random, store: Store | None) -> Iterator[ExperimentSpec]:
    """Every run of the matrix in random order, those that the store lacks before the others, and then anew."""
    wanted = launches(pairs(FAULTS.values()), LAUNCHES)
    chance.shuffle(wanted)
    if store:
        wanted.sort(key=lambda spec: store.has(digest(spec)))
    return itertools.cycle(wanted)


def soak(minutes: float, seed: int, store: Store | None, tell: Callable[[str], None] = print) -> dict[str, Any]:
    """Runs until the time is over. {"runs", "ended_otherwise", "growth": [...], "holds"}."""
    os.environ["RANK37_ACCEPT_DISTURBED"] = "3"  # what grows is asked, not what the runs read
    samples: list[Sample] = []
    runs, otherwise = Counter[str](), Counter[str]()
    deadline = time.monotonic() + 60 * minutes
    lab.warm_up()
    try:
        for spec in specs(random.Random(seed), store):
            if time.monotonic() >= deadline:
                break
            runs["+".join(fault.cause for fault in spec.faults) or "healthy"] += 1
            if problem := _run(spec, store):
                otherwise[problem] += 1
            time.sleep(SETTLE_S)  # until the next fabric stands: half of one would read as fewer namespaces
            samples.append(sample(lab.launcher_pid()))
            tell(f"{len(samples)} {spec.key} {samples[-1]}")
    finally:
        lab.close()
    return summary(samples, runs, otherwise)


def _run(spec: ExperimentSpec, store: Store | None) -> str:
    """The kind of what ended it, or nothing. A run that was disturbed is no measurement, and is not kept."""
    try:
        run = lab.run_experiment(spec)
    except (FaultDidNotFire, RunFailed) as problem:
        if store:
            store.keep_failure(digest(spec), problem)
        return type(problem).__name__
    except LabError as problem:
        return type(problem).__name__
    if store and not run.provenance["accepted_disturbed"]:
        store.keep(digest(spec), run)
    return ""


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
    parser = argparse.ArgumentParser(prog="python -m bench.soak")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="DATA_DIR/matrix: runs are kept in it")
    asked = parser.parse_args(argv)
    told = soak(asked.minutes, asked.seed, Store(asked.keep) if asked.keep else None)
    print(json.dumps(told, indent=2))
    return 0 if told["holds"] else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
