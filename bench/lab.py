"""The lab: fractions of the wire floor, its overhead around the measured seconds, and how soon a reading comes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench.figure import Figure
from bench.pages import resident_mb
from config import paths

TORCHRUN = Path(__file__).with_name("torchrun_all_reduce.py")
REPEATS = 3
IDLE_S = 1.0


def lab_run(*arguments: str) -> dict[str, Any] | None:
    """One `lab run … --json`; None where the lab cannot run here."""
    command = [sys.executable, "manage.py", "lab", "run", "microbenchmark", *arguments, "--json"]
    done = subprocess.run(command, cwd=paths.BASE_DIR, capture_output=True, text=True, timeout=180)
    return json.loads(done.stdout) if done.returncode == 0 else None


def fraction(name: str, mark: float | None, *arguments: str) -> Figure:
    ran = lab_run(*arguments)
    value = None if ran is None else float(ran["readings"]["fraction_of_floor"]["value"])
    return Figure("lab", f"share of the wire floor, {name}", value, "", mark=mark, at_least=True)


def small_spec():
    from gpu_worker.specs import ExperimentSpec, Setting, Topology

    flat = Setting(topology=Topology(kind="flat", hosts=4))
    with_ = {"size": "small", "placement": "as-job"}
    return ExperimentSpec.model_validate({"experiment": "microbenchmark", "with": with_, "setting": flat, "repeats": 1})


def warm_reading_s() -> float:
    """From the order to the reading with the launcher warm: 4 ranks, a small message."""
    from gpu_worker.lab import run as lab

    lab.warm_up()
    taken = []
    for _ in range(REPEATS + 1):
        began = time.perf_counter()
        lab.run_experiment(small_spec())
        taken.append(time.perf_counter() - began)
    lab.close()
    return median(taken[1:])


def torchrun_s() -> float:
    """The same by `torchrun` on one host, without any fabric."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "4", "--master-port", "0"]
    command += ["--standalone", str(TORCHRUN)]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=env, timeout=120)
        taken.append(time.perf_counter() - began)
    return median(taken)


def overhead_s(pause_s: float) -> float:
    """What the lab adds around the seconds that it measures: fabric, launch and teardown, 8 ranks.

    With a pause before each run the next fabric stands already, as for a candidate; without one the run waits for it.
    """
    from gpu_worker.lab import run as lab
    from gpu_worker.specs import ExperimentSpec, Setting, Topology

    setting = Setting(topology=Topology(hosts_per_leaf=4), placement=tuple(range(8)))
    with_ = {"size": "job", "placement": "as-job"}
    spec = ExperimentSpec.model_validate(
        {"experiment": "microbenchmark", "with": with_, "setting": setting, "repeats": 3}
    )
    lab.run_experiment(spec)
    taken = []
    for _ in range(REPEATS):
        time.sleep(pause_s)
        began = time.perf_counter()
        run = lab.run_experiment(spec)
        wall_s = time.perf_counter() - began
        kept = [iteration["seconds"] for iteration in run.iterations]
        # The discarded first iteration takes about as long as a kept one.
        taken.append(wall_s - sum(kept) - median(kept))
    return median(taken)


def job_run_s() -> float:
    """Wall time of the flagship's healthy job, as a step of a candidate's waits for it."""
    from gpu_worker.lab import run as lab
    from gpu_worker.specs import ExperimentSpec

    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        lab.run_experiment(ExperimentSpec(experiment="job"))
        taken.append(time.perf_counter() - began)
    return median(taken)


def memory_mb() -> tuple[float, float]:
    """(owner, launcher with the fabric that it keeps ready): shared pages counted once, after a few runs."""
    from gpu_worker.lab import run as lab
    from gpu_worker.lab.sweep import processes

    launcher = lab.launcher_pid()
    time.sleep(IDLE_S)
    ours = processes()
    return resident_mb({os.getpid()}), resident_mb({p.pid for p in ours.values() if p.owner == ours[launcher].owner})


def with_a_warm_launcher() -> list[Figure]:
    from gpu_worker.lab import run as lab

    try:
        idle, busy = overhead_s(IDLE_S), overhead_s(0.0)
        job, (owner, launcher) = job_run_s(), memory_mb()
    finally:
        lab.close()
    return [
        Figure("lab", "overhead around the measured seconds, 8 ranks, lab idle before", idle, "s", mark=0.3),
        Figure("lab", "the same, runs back to back", busy, "s", note="waits for the next fabric to be built"),
        Figure("lab", "a run of the job, 4 ranks, 6 steps", job, "s"),
        Figure("memory", "launcher with the fabric that it keeps ready", launcher, "MB"),
        Figure("memory", "owner of the launcher", owner, "MB"),
    ]


def measure() -> list[Figure]:
    common = ("--size", "14MB", "--rate", "400Mbit")
    figures = [
        fraction("4 ranks", 0.94, "--ranks", "4", *common),
        fraction("8 ranks", 0.93, "--ranks", "8", *common),
        fraction("one link at a quarter", None, "--ranks", "4", *common, "--fault", "degraded-link:rate=100Mbit"),
    ]
    if figures[0].value is None:
        return figures
    # Runs of milliseconds: the kernel's ticks are too coarse to say whose the processors were.
    os.environ["RANK37_ACCEPT_DISTURBED"] = "3"
    warm, cold = warm_reading_s(), torchrun_s()
    return [
        *figures,
        Figure("lab", "a first reading, lab warm, 4 ranks, small message", warm, "s"),
        Figure("lab", "the same by torchrun", cold, "s"),
        Figure("lab", "times sooner than torchrun", cold / warm, "", mark=20.0, at_least=True),
        *with_a_warm_launcher(),
    ]
