"""The job on batches made on the spot instead of read: does input matter, and does the rest run at device speed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.jobs.shape import DIMENSIONS
from gpu_worker.probes._job import PHASES
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

MATTERS, MATTERS_NOT = 1.3, 1.2
# What of its compute the products would take alone. Norms, softmax and the rest take more of it on some processors than
# on others: healthy 0.63 to 0.71 on one machine and 0.76 to 0.90 on another; on a slow path 0.30 and 0.42.
KERNELS_SLOW, KERNELS_FINE = 0.52, 0.60
# Gaps cost less than a slow path (0.31 and 0.51 to 0.60), and their operations are short: 15 to 21 times one with
# nothing to do, healthy 35 to 133 by how many tensors the model has. Few samples make them short at a healthy share.
GAPS_SHARE = 0.62
SHORT, LONG = 25.0, 33.0
ROLES = (("input", "c6"), ("forward", "c1"), ("backward", "c3"), ("exposed", "c2"), ("optimizer", "c4"))
SHOWN = {"exposed": "exposed communication"}


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Step times with and without reading; the share of compute that the products would take at the device's rate,
    and how much longer an operation takes than the shortest one."""
    read_, made = _ranks(run)
    as_is, synthetic = _step_s(read_), _step_s(made)
    readings = {
        "gain": Reading(as_is / synthetic, "ratio", "Step as it is over the step on made-up batches"),
        "step_s": Reading(as_is, "s", "Step as it is, median over ranks"),
        "synthetic_step_s": Reading(synthetic, "s", "Step on made-up batches, median over ranks"),
        "input_s": Reading(_phase_s(read_, "input"), "s", "Wait for a batch as it is, median over ranks"),
        "kernel_share": Reading(
            median(_kernel_share(rank) for rank in made),
            "share",
            "The step's products at the rate the core gives them alone, over the processor time of its compute",
        ),
        "work_per_launch": Reading(
            median(
                _compute_cpu_s(rank) / rank["device"]["operations"] / rank["device"]["launch_cpu_s"] for rank in made
            ),
            "ratio",
            "Mean operation of a step over one with nothing to do",
        ),
        "operations": Reading(
            median(rank["device"]["operations"] for rank in made), "count", "Operations that a step launches"
        ),
    }
    rows = tuple(
        (what, _step_s(ranks), *(_phase_s(ranks, phase) for phase in PHASES))
        for what, ranks in (("as it is", read_), ("made up", made))
    )
    caption = "Medians over steps, then over ranks. The made-up batches have as many tokens as those that are read."
    columns = ("batches", "step", *(SHOWN.get(phase, phase) for phase in PHASES))
    return ProbeResult(readings, {"phases": Series(columns, ("text", *("s",) * 6), rows, caption)})


def _ranks(run: WholeRun) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The ranks as the job runs, and on made-up batches. ValueError where the run is of another experiment."""
    made = run.recorded.get("synthetic")
    if not made or not run.ranks:
        raise ValueError(f"run of {run.spec.key}: this probe reads a job with and without reading its batches")
    return run.ranks, made


def _phase_s(ranks: Sequence[Mapping[str, Any]], phase: str) -> float:
    return median(median(step[f"{phase}_s"] for step in rank["steps"]) for rank in ranks)


def _step_s(ranks: Sequence[Mapping[str, Any]]) -> float:
    return _phase_s(ranks, "total")


def _compute_cpu_s(rank: Mapping[str, Any]) -> float:
    """Processor time of forward and backward a step."""
    return max(float(rank["telemetry"]["cpu_s"]) / len(rank["steps"]), 1e-9)


def _kernel_share(rank: Mapping[str, Any]) -> float:
    tokens = median(step["tokens"] for step in rank["steps"])
    flops = DIMENSIONS.step_flops(tokens / DIMENSIONS.context)
    return flops / float(rank["device"]["flops_per_cpu_s"]) / _compute_cpu_s(rank)


def classify(values: Mapping[str, float]) -> str:
    """Input first, for a job that waits for it tells nothing else; then how compute compares with its own device."""
    gain, share, work = values["gain"], values["kernel_share"], values["work_per_launch"]
    if gain >= MATTERS:
        return "input-matters"
    if share < GAPS_SHARE and work < LONG:
        return "gaps-between-kernels" if work < SHORT else INCONCLUSIVE
    if share < KERNELS_SLOW:
        return "slow-kernels"
    if gain <= MATTERS_NOT and share >= KERNELS_FINE:
        return "input-does-not"
    return INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Two stacked bars, one a phase of the experiment, one colour a phase of the step."""
    rows = result.series["phases"].rows
    labels = [row[0] for row in rows]
    traces = []
    for at, (phase, role) in enumerate(ROLES):
        name = SHOWN.get(phase, phase)
        said = [f"{row[0]}: {name} {say(row[2 + at], 's')}" for row in rows]
        traces.append(figures.bars(name, role, labels, [1000 * row[2 + at] for row in rows], said))
    alt = "Median step: " + ", ".join(f"{row[0]} {say(row[1], 's')} with {say(row[2], 's')} of input" for row in rows)
    x = figures.numbers("ms a step")
    return figures.frame(traces, alt=alt, rows=4, x=x, y=figures.names(labels), barmode="stack")


def on_synthetic(_with: Any) -> str:
    """The experiment that this probe reads."""
    return "synthetic-batch"


PROBE = Probe(
    id="synthetic-batch",
    title="Synthetic batch",
    group="Job",
    question="Is a step faster when nobody has to read its batch, and is the rest as fast as the device?",
    price_min=12,
    stops_job=True,
    parameters={},
    experiment=on_synthetic,
    findings={
        "input-matters": "Without reading, a step takes clearly less time: the job waits for its input.",
        "input-does-not": "Without reading, a step takes as long; its products run about as fast as the device can.",
        "slow-kernels": "Without reading, a step takes as long; its products run far below the rate of the device.",
        "gaps-between-kernels": "Without reading, a step takes as long; it is made of very many very short operations.",
        INCONCLUSIVE: "A step without reading is somewhat faster, or its products somewhat slow: too little to tell.",
    },
    decisive=(Decisive("gain", "log"), Decisive("kernel_share", "log"), Decisive("work_per_launch", "log")),
    deterministic=False,
    tells=("input",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Replace the loader by one tensor on the device that is used again every step (many trainers have a flag for "
        "it), keep everything else, and compare step times. If they agree, input is not the cause. Then hold the step "
        "against the device: MFU from the model's FLOPs, a GEMM benchmark of the model's own shapes on the same GPU "
        "for what it gives, and in a torch.profiler or nsys trace the share of time with no kernel on the stream: "
        "wide kernels at a low rate are a slow path (no tensor cores, attention not fused), thousands of short ones "
        "with gaps are launches that the host cannot make fast enough; CUDA graphs or torch.compile cure those."
    ),
)
