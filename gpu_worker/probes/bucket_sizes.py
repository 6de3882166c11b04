"""How many collectives a step runs and how large they are, against what the bucket rule predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.jobs.shape import planned_buckets
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import Job, WholeRun

MEBIBYTE = 1 << 20
# Upper bounds of the classes in which sizes are shown.
CLASSES = (
    (64, "to 64 B"),
    (4096, "to 4 kB"),
    (65_536, "to 64 kB"),
    (1e6, "to 1 MB"),
    (4e6, "to 4 MB"),
    (1e18, "larger"),
)
# Collectives over those planned, less one: a cap that was merely rounded otherwise stays within a quarter.
AS_PLANNED, MANY, FEW = 0.25, 1.0, -0.5
SAME_BYTES, OTHER_BYTES = 0.02, 0.2


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Collectives of a typical step by size, those of gradients and others, beside the healthy run's plan.

    The plan is arithmetic on what the healthy run's launch file says: parameters in their order, and the bucket cap.
    """
    planned = _planned(run.spec.setting.baseline_job)
    steps = [step for rank in _job.job_ranks(run) for step in rank["steps"]]
    step = sorted(steps, key=lambda one: len(one["collectives"]))[len(steps) // 2]
    gradients = [one for one in step["collectives"] if "what" not in one]
    others = [one for one in step["collectives"] if "what" in one]
    moved, wanted = sum(one["bytes"] for one in gradients), sum(planned)
    readings = {
        "collectives": Reading(len(step["collectives"]), "count", "Collectives a step, median over steps and ranks"),
        "planned_collectives": Reading(len(planned), "count", "Buckets a step by the rule, at the healthy run's cap"),
        "surplus": Reading(
            len(gradients) / len(planned) - 1, "ratio", "Collectives of gradients over those planned, less one"
        ),
        "unplanned": Reading(len(others), "count", "Collectives a step that carry no gradient"),
        "bytes_a_step": Reading(moved, "B", "Bytes of gradients that a step reduces"),
        "planned_bytes": Reading(wanted, "B", "Bytes that they have by the plan"),
        "bytes_off": Reading(abs(moved / wanted - 1), "ratio", "Bytes over those planned, less one, without its sign"),
        "median_bytes": Reading(median(one["bytes"] for one in step["collectives"]), "B", "Size of the middle one"),
        "median_in_flight_s": Reading(
            median(one["done"] - one["launch"] for one in step["collectives"]), "s", "Time in flight of the middle one"
        ),
    }
    caption = "A step of the usual number of collectives, by size, and the buckets that the rule predicts."
    columns = ("size", "collectives", "planned", "carried", "in flight each")
    rows = tuple(_row(step["collectives"], planned, at) for at in range(len(CLASSES)))
    return ProbeResult(readings, {"sizes": Series(columns, ("text", "count", "count", "B", "s"), rows, caption)})


def _planned(job: Job) -> list[float]:
    """Bytes of each bucket by the rule of DDP, in the order of launch."""
    first_mb = job.first_bucket_mb or job.bucket_cap_mb
    caps = job.bucket_cap_mb * MEBIBYTE, first_mb * MEBIBYTE
    return planned_buckets(*caps, small_tensors=job.small_tensors, dtype=job.communication_dtype)


def _row(collectives: Sequence[Mapping[str, Any]], planned: Sequence[float], at: int) -> tuple[Any, ...]:
    over, upto = CLASSES[at - 1][0] if at else 0, CLASSES[at][0]
    held = [one for one in collectives if over < one["bytes"] <= upto]
    each = median(one["done"] - one["launch"] for one in held) if held else None
    expected = sum(over < size <= upto for size in planned)
    return CLASSES[at][1], len(held), expected, sum(one["bytes"] for one in held), each


def classify(values: Mapping[str, float]) -> str:
    """Others first, since they are no question of degree; then the number of buckets, then their bytes."""
    surplus, off = values["surplus"], values["bytes_off"]
    if values["unplanned"] >= 1:
        return "unplanned-collectives"
    if surplus >= MANY:
        return "many-small"
    if surplus <= FEW:
        return "few-large"
    if off >= OTHER_BYTES:
        return "other-bytes"
    return "as-planned" if abs(surplus) <= AS_PLANNED and off <= SAME_BYTES else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Bars of what a step ran by size, with a stroke at what the rule predicts."""
    rows = result.series["sizes"].rows
    labels = [row[0] for row in rows]
    said = [f"{row[0]}: {row[1]} collectives, {say(row[3], 'B')}, {say(row[4], 's')} each" for row in rows]
    traces = [
        figures.bars("collectives a step", "c2", labels, [row[1] for row in rows], said),
        figures.ticks("planned", labels, [row[2] for row in rows], [f"{row[0]}: {row[2]} planned" for row in rows]),
    ]
    alt = "Collectives a step by size: " + ", ".join(f"{row[0]} {row[1]} of {row[2]} planned" for row in rows)
    x = figures.numbers("collectives a step")
    return figures.frame(traces, alt=alt, rows=len(rows), x=x, y=figures.names(labels))


PROBE = Probe(
    id="bucket-sizes",
    title="Bucket sizes",
    group="Job",
    question="Does a step run as many collectives, and as large ones, as the bucket rule predicts?",
    price_min=12,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "as-planned": "A step runs the buckets that the rule predicts, and nothing else.",
        "many-small": "A step runs at least twice the collectives that the rule predicts, each so much smaller.",
        "few-large": "A step runs at most half the collectives that the rule predicts, each so much larger.",
        "other-bytes": "As many buckets as predicted carry other bytes: gradients travel in another precision.",
        "unplanned-collectives": "A step runs collectives that carry no gradient beside its buckets.",
        INCONCLUSIVE: "Buckets differ from the plan, but by too little to matter.",
    },
    decisive=(
        Decisive("surplus", "linear"),
        Decisive("unplanned", "linear"),
        Decisive("bytes_off", "linear"),
    ),
    # Counted, not timed: a job runs the same collectives in every step of every run.
    deterministic=True,
    tells=("buckets",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "TORCH_DISTRIBUTED_DEBUG=DETAIL or TORCH_LOGS=+ddp prints the buckets that DDP rebuilt after the first step; "
        "the Flight Recorder (TORCH_FR_BUFFER_SIZE) lists each collective with sizes and stack, and nsys or "
        "torch.profiler shows one ncclDevKernel_AllReduce a bucket. FSDP's unit is the wrapped module. Below about "
        "1 MB an all-reduce over many hosts costs its latency, not its bytes: a thousand small ones ran at a third of "
        "the rate of one large one on real machines. Look also for .item(), metric all-reduces and barriers in the "
        "step: each is a collective that nobody planned, and a wait of the host."
    ),
)
