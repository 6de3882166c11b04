"""The same job on one host over the loopback: what the network costs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

WITHIN, BEYOND = 1.25, 1.60
PARTS = (("compute", "c1"), ("waiting for a core", "ink-3@0.35"), ("exposed communication", "c2"), ("the rest", "c4"))


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Both runs' steps, and what the job loses between hosts as a multiple of its collective's wire floor."""
    if not run.recorded.get("placed") or not run.recorded.get("packed"):
        raise ValueError(f"run of {run.spec.key}: the single-node baseline holds no pair of runs")
    both = [_medians(run.recorded[name]) for name in ("placed", "packed")]
    placed, packed = both[0][0], both[1][0]
    rows = (("as placed", *both[0]), ("one host", *both[1]))
    floor = _job.ranks_floor_s(run, run.recorded["placed"])
    readings = {
        "placed_s": Reading(placed, "s", "Step as placed, median over ranks"),
        "packed_s": Reading(packed, "s", "Step with all ranks on one host"),
        "placed_over_packed": Reading(placed / packed, "ratio", "Step as placed over step on one host"),
        "floor_s": Reading(floor, "s", "Wire floor of the step's collectives"),
        "lost_over_floor": Reading(
            max(placed - packed, 0.0) / floor, "ratio", "What the step loses between hosts, over that floor"
        ),
    }
    columns = ("run", "step", *(name for name, _ in PARTS))
    caption = "Medians over steps, then over ranks. On one host the same ranks talk over its loopback, at no set rate."
    return ProbeResult(readings, {"runs": Series(columns, ("text", *("s",) * 5), rows, caption)})


def _medians(ranks: Sequence[dict[str, Any]]) -> tuple[float, ...]:
    times = [_job.times_of(rank) for rank in ranks]
    step = median(one.total_s for one in times)
    parts = [median(getattr(one, name) for one in times) for name in ("held_s", "waiting_s", "exposed_s")]
    return step, *parts, max(step - sum(parts), 0.0)


def classify(values: Mapping[str, float]) -> str:
    """A job whose communication runs at its floor cannot lose more between hosts than that floor, overlapped or not;
    what it loses beyond comes from the network or from hosts other than the one that it was packed on.
    """
    return _job.band(values["lost_over_floor"], low=WITHIN, high=BEYOND, below="within-floor", above="beyond-floor")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """The two steps in parts, one above the other."""
    rows = result.series["runs"].rows
    labels = [row[0] for row in rows]
    traces = [
        figures.time_bars(name, role, labels, [row[2 + at] for row in rows]) for at, (name, role) in enumerate(PARTS)
    ]
    alt = f"A step as placed, {say(rows[0][1], 's')}, and on one host, {say(rows[1][1], 's')}, by what it is spent on"
    return figures.frame(
        traces, alt=alt, rows=len(rows), x=figures.numbers("ms a step"), y=figures.names(labels), barmode="stack"
    )


PROBE = Probe(
    id="single-node-baseline",
    title="Single-node baseline",
    group="Job",
    question="How does the same job run on one host, without the network?",
    price_min=15,
    stops_job=True,
    parameters={},
    experiment=lambda _with: "single-node-baseline",
    findings={
        "within-floor": "Between hosts the job loses no more than the floor of its collectives explains.",
        "beyond-floor": "Between hosts the job loses clearly more than the floor of its collectives: the network or "
        "another host costs it.",
        INCONCLUSIVE: "The job loses about the floor of its collectives and some more.",
    },
    decisive=(Decisive("lost_over_floor", "log"),),
    deterministic=False,
    tells=("split",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Run the same script, batch a GPU and all, on the 8 GPUs of one node, where NCCL uses NVLink, and again with "
        "NCCL_P2P_DISABLE=1 and NCCL_SHM_DISABLE=1, which sends even those through the NIC. If one node is as slow, "
        "the cause is in the job, its kernels or its input. If it is fast, hold the difference against the floor "
        "2(n-1)/n*S/B of the gradients before blaming the network. One node is one sample: take another node too, "
        "for a sick host that stays out of the baseline looks like a sick network."
    ),
)
