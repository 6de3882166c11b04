"""Step time of every rank, total and by phase: tells a straggler from a network."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _forms, _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

FLAGGED, CLEAR = 0.75, 0.85
WAITING = "waiting for a core"
BARS = (
    ("input", "c6"),
    ("forward", "c1"),
    ("backward", "c3"),
    (WAITING, "ink-3@0.35"),
    ("exposed communication", "c2"),
    ("optimizer", "c4"),
)


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Medians over the measured steps of each rank's phases, and how each rank compares with the others."""
    times = _job.rank_times(run)
    columns = ("rank", "host", "total", *(name for name, _ in BARS))
    rows = tuple((r.name, f"host{r.host}", r.total_s, *_phases(r)) for r in times)
    caption = (
        f"Median of {len(run.ranks[0]['steps'])} steps. Forward and backward are without waiting for a core, which the "
        "lab's ranks share and accelerators do not. The collective makes ranks wait for each other, so totals agree."
    )
    return ProbeResult(
        {**_pace(run, times), **_against_floor(run), **_peers(times), **_forms.readings(run)},
        {
            "phases": Series(columns, ("text", "text", *("s",) * 7), rows, caption),
            **_losses(run),
            **_forms.series(run),
        },
    )


def _losses(run: WholeRun) -> dict[str, Series]:
    """Loss by step, mean over the ranks that know it: what a fix that changes the optimisation changes."""
    by_step = zip(*([step.get("loss") for step in rank["steps"]] for rank in run.ranks), strict=True)
    known = [[loss for loss in losses if loss is not None] for losses in by_step]
    if not all(known):
        return {}
    rows = tuple((number, f"{mean(losses):.6f}") for number, losses in enumerate(known, 1))
    caption = "Mean over ranks. On the same samples the same mathematics gives the same loss, digit by digit."
    return {"loss": Series(("step", "loss"), ("count", "text"), rows, caption)}


def _phases(rank: _job.RankTimes) -> tuple[float, ...]:
    working = 1 - rank.waiting_share
    forward, backward = rank.forward_s * working, rank.backward_s * working
    return rank.input_s, forward, backward, rank.waiting_s, rank.exposed_s, rank.optimizer_s


def _pace(run: WholeRun, times: list[_job.RankTimes]) -> dict[str, Reading]:
    step = _job.step_s(run)
    totals = [r.total_s for r in times]
    return {
        "step_s": Reading(step, "s", "Step time, median over ranks"),
        "samples_per_s": Reading(_job.samples_per_step(run) / step, "samples/s", "Useful work, all ranks"),
        "totals_ratio": Reading(
            max(totals) / min(totals), "ratio", "Longest total over shortest (equalised by the collective)"
        ),
    }


def _against_floor(run: WholeRun) -> dict[str, Reading]:
    inside, floor = _job.collective_s(run), _job.job_floor_s(run)
    return {
        "collective_s": Reading(inside, "s", "Time inside the collective a step (launch to done, waits included)"),
        "collective_floor_s": Reading(floor, "s", "Wire floor of that collective at the nominal rate"),
        "collective_fraction_of_floor": Reading(floor / inside, "ratio", "Floor over time inside the collective"),
    }


def _peers(times: list[_job.RankTimes]) -> dict[str, Reading]:
    compute, fed = _job.scores([r.held_s for r in times]), _job.input_scores(times)
    exposed = [r.exposed_s for r in times]
    return {
        "worst_compute_score": Reading(
            min(compute),
            "ratio",
            "Worst compute score: others' median forward + backward over own, without waiting for cores",
        ),
        "worst_compute_rank": Reading(times[_job.worst(compute)].name, "text", "Rank with that compute score"),
        "worst_input_score": Reading(
            min(fed), "ratio", "Worst input score: others' median input + compute over the same with own input"
        ),
        "worst_input_rank": Reading(times[_job.worst(fed)].name, "text", "Rank with that input score"),
        "least_exposed_rank": Reading(
            times[_job.worst(exposed)].name, "text", "Rank that waits least for communication"
        ),
        "least_exposed_s": Reading(min(exposed), "s", "Exposed communication of that rank"),
        "others_exposed_s": Reading(
            _job.others_median(exposed, _job.worst(exposed)), "s", "Exposed communication, median of the others"
        ),
    }


def classify(values: Mapping[str, float]) -> str:
    """Each phase is scored apart, since a total would dilute it. Input comes first: a rank that waits for its input
    leaves its share of the machine to others, which bends their compute times; the other way round nothing bends.
    """
    compute, fed = values["worst_compute_score"], values["worst_input_score"]
    if fed < FLAGGED:
        return "one-rank-slow-input"
    if compute < FLAGGED:
        return "one-rank-slow-compute"
    return "even" if min(compute, fed) >= CLEAR else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Stacked bars, one a rank, one colour a phase."""
    rows = result.series["phases"].rows
    labels = [row[0] for row in rows]
    traces = [
        figures.time_bars(name, role, labels, [row[3 + at] for row in rows]) for at, (name, role) in enumerate(BARS)
    ]
    spread = f"totals from {say(min(row[2] for row in rows), 's')} to {say(max(row[2] for row in rows), 's')}"
    alt = f"Median step of {len(rows)} ranks by phase, from input to optimizer; {spread}"
    return figures.frame(
        traces, alt=alt, rows=len(rows), x=figures.numbers("ms a step"), y=figures.names(labels), barmode="stack"
    )


PROBE = Probe(
    id="per-rank-step-times",
    title="Per-rank step times",
    group="Ranks and hosts",
    question="Do all ranks spend a step alike, total and phase by phase?",
    price_min=3,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "even": "All ranks compute and read their input at about the same pace.",
        "one-rank-slow-compute": "One rank takes clearly longer for forward and backward than its peers.",
        "one-rank-slow-input": "One rank waits clearly longer for its input than its peers.",
        INCONCLUSIVE: "Ranks differ by more than the usual spread, but by too little to call one a straggler.",
    },
    decisive=(Decisive("worst_compute_score", "log"), Decisive("worst_input_score", "log")),
    deterministic=False,
    tells=("straggler",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Log CUDA-event times of each phase on every rank, or take a torch.profiler trace on a few ranks for a "
        "few steps and lay them side by side (Holistic Trace Analysis does). Kernels run asynchronously, so "
        "host timers without a synchronise measure launches, not work. NCCL's all-reduce runs as a kernel on "
        "its own stream: on punctual ranks it spins on the GPU until the late rank arrives, so GPU utilisation "
        "reads 100 % on exactly the ranks that wait, and the sick rank shows the shortest all-reduce. At 1,000 "
        "ranks print the distribution and its worst few, not a bar each."
    ),
)
