"""What each host did with its compute time: on a core, waiting for a core, or neither; and its kernel's counters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

EVEN, STALLED = 0.15, 0.25
SHARING, CROWDED = 0.7, 0.85
# Throttled ranks 1.36 to 2.14 in twelve launches, stuttering ones 3.1 to 5.7 in twelve.
STEADY, STUTTERS = 2.3, 2.55
STATES = (("on a core", "c3"), ("waiting for a core", "c6"), ("neither", "c5"))


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Shares of each rank's compute time, and its scheduler counters."""
    ranks = _job.job_ranks(run)
    shares = [_shares(rank["telemetry"]) for rank in ranks]
    stalled = [share[2] for share in shares]
    at = max(range(len(ranks)), key=lambda index: stalled[index])
    others = _job.others_median(stalled, at)
    readings = {
        "stalled_share": Reading(
            stalled[at], "share", "Most stalled host: share of compute time neither on a core nor waiting for one"
        ),
        "others_stalled_share": Reading(others, "share", "The same, median of the other hosts"),
        "worst_stalled_share": Reading(stalled[at] - others, "share", "What the most stalled host has over the others"),
        "stalled_host": Reading(f"host{ranks[at]['host']}", "text", "That host"),
        "worst_waiting_share": Reading(
            max(share[1] for share in shares), "share", "Largest share of compute time spent waiting for a core"
        ),
        "stalled_host_swing": Reading(
            _swing(ranks[at]["steps"]),
            "ratio",
            "That host's longest forward or backward over its shortest, each held against its own median",
        ),
        **_waiting(run, ranks),
        **_kernel(ranks),
    }
    return ProbeResult(readings, {"hosts": _table(ranks, shares), **_over_the_run(ranks)})


def _swing(steps: Sequence[Mapping[str, Any]]) -> float:
    """By phase and not by step: a bad spell lasts about a step, and half of one may be spared."""
    told = []
    for phase in ("forward_s", "backward_s"):
        usual = max(median(step[phase] for step in steps), 1e-9)
        told += [step[phase] / usual for step in steps]
    return max(told) / max(min(told), 1e-9)


def _waiting(run: WholeRun, ranks: list[dict[str, Any]]) -> dict[str, Reading]:
    """Time on a run queue over time on a core is how many others were ready to run there, on average."""
    sharing = math.ceil(len(ranks) / max(run.provenance.get("cores") or len(ranks), 1))
    rivals = [r["telemetry"]["run_delay_s"] / max(r["telemetry"]["cpu_s"], 1e-9) for r in ranks]
    at = max(range(len(ranks)), key=lambda index: rivals[index])
    return {
        "worst_rivals": Reading(
            rivals[at] - (sharing - 1),
            "tasks",
            "Tasks ready to run on a host's core beside its own (waiting over running), less the ranks that share it",
        ),
        "waiting_host": Reading(f"host{ranks[at]['host']}", "text", "Host with the most of them"),
    }


def _kernel(ranks: list[dict[str, Any]]) -> dict[str, Reading]:
    """Of runs that kept the kernel's counters: cores, threads, pressure."""
    told = [rank["telemetry"]["kernel"] for rank in ranks if "kernel" in rank["telemetry"]]
    if not told:
        return {}
    wall = max(median(kernel["wall_s"] for kernel in told), 1e-9)
    idle, used = told[0]["core_idle_shares"], {core for kernel in told for core in kernel["allowed_cores"]}
    waited = median(kernel["pressure"].get("cpu_some_s", 0.0) for kernel in told)
    readings = {
        "computing_cores": Reading(len(used), "cores", "Cores that the computing threads may use, all ranks"),
        "idlest_core_share": Reading(max(idle.values(), default=0.0), "share", "Idle time of the idlest core"),
        "threads_a_core": Reading(
            max(k["compute_threads"] / max(len(k["allowed_cores"]), 1) for k in told),
            "threads",
            "Computing threads of a rank for each core that it may use, most of any rank",
        ),
    }
    if any("cpu_some_s" in kernel["pressure"] for kernel in told):
        label = "Processor pressure (PSI some): share of time in which some task waited for a core"
        readings["pressure_share"] = Reading(min(waited / wall, 1.0), "share", label)
    return readings


def _over_the_run(ranks: list[dict[str, Any]]) -> dict[str, Series]:
    """Each step of each host, where the run kept it."""
    rows = tuple(
        (
            number,
            f"host{rank['host']}",
            step["forward_s"] + step["backward_s"],
            step["compute_cpu_s"],
            step["compute_run_delay_s"],
            step["collection_s"],
            step["resident_bytes"],
        )
        for rank in sorted(ranks, key=lambda rank: rank["host"])
        for number, step in enumerate(rank["steps"], 1)
        if "compute_cpu_s" in step
    )
    if not rows:
        return {}
    columns = ("step", "host", "compute", "on a core", "waiting for a core", "collecting garbage", "resident memory")
    caption = "Step by step: compute is forward plus backward; memory is what the process has in RAM after the step."
    return {"over_the_run": Series(columns, ("count", "text", "s", "s", "s", "s", "B"), rows, caption)}


def _shares(telemetry: Mapping[str, float]) -> tuple[float, float, float]:
    """On a core, waiting, neither. More than one thread can use more than one core: the first share stops at 1."""
    wall = max(telemetry["compute_wall_s"], 1e-9)
    working = min(telemetry["cpu_s"] / wall, 1.0)
    waiting = min(telemetry["run_delay_s"] / wall, 1.0 - working)
    return working, waiting, max(0.0, 1.0 - working - waiting)


def _table(ranks: list[dict[str, Any]], shares: list[tuple[float, float, float]]) -> Series:
    columns = (
        "host",
        "rank",
        *(state for state, _ in STATES),
        "processor time",
        "voluntary switches",
        "involuntary switches",
    )
    rows = tuple(
        (
            f"host{rank['host']}",
            f"rank {rank['rank']}",
            *share,
            rank["telemetry"]["cpu_s"],
            rank["telemetry"]["voluntary_switches"],
            rank["telemetry"]["involuntary_switches"],
        )
        for rank, share in sorted(zip(ranks, shares, strict=True), key=lambda pair: pair[0]["host"])
    )
    units = ("text", "text", "share", "share", "share", "s", "count", "count")
    return Series(
        columns,
        units,
        rows,
        "Shares of the time between the start of forward and the end of backward, all measured steps.",
    )


def classify(values: Mapping[str, float]) -> str:
    """By what the most stalled host has over its peers: all hosts stall where all wait for something.

    Then by who waits for a core. A host that stalls also waits less, so the one never hides the other.
    """
    stalled, rivals = values["worst_stalled_share"], values["worst_rivals"]
    if stalled >= STALLED:
        swing = values["stalled_host_swing"]
        return _job.band(swing, low=STEADY, high=STUTTERS, below="one-host-stalled", above="one-host-at-times")
    if rivals >= CROWDED:
        return "waits-for-cores"
    return "even" if stalled < EVEN and rivals < SHARING else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Stacked shares, one bar a host."""
    rows = result.series["hosts"].rows
    labels = [row[0] for row in rows]
    traces = []
    for at, (state, role) in enumerate(STATES, 2):
        said = [f"{row[0]}: {state} {say(row[at], 'share')}" for row in rows]
        traces.append(figures.bars(state, role, labels, [100 * row[at] for row in rows], said))
    alt = "Compute time of each host by state: " + "; ".join(f"{row[0]} neither {say(row[4], 'share')}" for row in rows)
    x = figures.numbers("% of compute time", high=100.0)
    return figures.frame(traces, alt=alt, rows=len(rows), x=x, y=figures.names(labels), barmode="stack")


PROBE = Probe(
    id="host-telemetry",
    title="Host telemetry",
    group="Ranks and hosts",
    question="Does one host hold its work back: clocks, stalls, contention?",
    price_min=8,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "even": "No host stalls: compute time is spent on a core or waiting for one, on all hosts alike.",
        "one-host-stalled": "One host spends much of its compute time neither running nor waiting for a core.",
        "one-host-at-times": "One host is held up in some steps and hardly in others, neither running nor waiting.",
        "waits-for-cores": "Ready threads wait for a core much longer than the ranks that share it explain.",
        INCONCLUSIVE: "One host stalls or waits a little more than it should, too little to name it.",
    },
    decisive=(
        Decisive("worst_stalled_share", "logit"),
        Decisive("stalled_host_swing", "log"),
        Decisive("worst_rivals", "linear"),
    ),
    deterministic=False,
    tells=("straggler",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "nvidia-smi -q -d PERFORMANCE prints the clocks event reasons (SW power cap, HW thermal slowdown, HW "
        "power brake); DCGM exports them as DCGM_FI_DEV_CLOCKS_EVENT_REASONS beside SM clock, temperature, "
        "power, DCGM_FI_PROF_SM_ACTIVE, ECC counters and XID errors, and dcgmi diag tests a suspect host. A "
        "throttled GPU keeps reporting 100 % utilisation: read clocks and SM activity, never utilisation. Here "
        "the processor plays the GPU, so the counters are the scheduler's (/proc/<pid>/schedstat): held-back "
        "time shows as a gap in running time rather than as a lower clock."
    ),
)
