"""What was touched between the healthy run and this one, as far as people remember: kinds, never values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.probes import _job
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.specs import Job, Setting, WholeRun

# Settings of the job by the kind under which a change is told. Coarse on purpose: a harmless and a harmful change of
# one kind read the same. Every setting of a job belongs to one kind, so that none can differ unseen.
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "environment": (
        "environment variables of the ranks",
        (
            *("flight_recorder_entries", "interface", "threads", "binding"),
            *("distributed_debug", "collective_timeout_s", "storage_bytes_per_s"),
        ),
    ),
    "versions": (
        "revision of the training script",
        (
            *("script", "live_objects", "collect_every", "collect_first"),
            *("slow_blocks", "rows_a_kernel", "extra_backward", "small_tensors"),
            *("slip", "slip_step", "slip_size", "monitored_barrier"),
        ),
    ),
    "placement": ("hosts of the ranks", ()),
    "schedule": (
        "settings of the gradient reduction",
        (
            *("gradient_as_bucket_view", "overlap", "bucket_cap_mb", "accumulation"),
            *("communication_dtype", "blocking_reads", "first_bucket_mb", "parallel"),
        ),
    ),
    "data": (
        "settings of the data loader",
        (
            *("shuffle_seed", "microbatch", "windows", "length_spread", "same_shard"),
            *("loader_workers", "prefetch", "decode_passes", "synthetic"),
        ),
    ),
}
NOT_CHANGES = ("measured_steps", "warmup_steps")  # how long we look, not how the job runs
assert {name for _, names in KINDS.values() for name in names} | set(NOT_CHANGES) == set(Job.model_fields)


def touched(setting: Setting) -> dict[str, bool]:
    """For each kind, whether this run differs from the healthy one before any fault. Draws make all of them true."""
    job, base = setting.job, setting.baseline_job
    answer = {
        kind: any(getattr(job, name) != getattr(base, name) for name in names) for kind, (_, names) in KINDS.items()
    }
    return answer | {"placement": setting.placement != setting.baseline_placement}


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """The kinds that were touched, in a fixed order."""
    changed = touched(run.spec.setting)
    changed["placement"] = tuple(run.fabric["placement"]) != run.spec.setting.baseline_placement
    rows = tuple((kind, KINDS[kind][0]) for kind in KINDS if changed[kind])
    caption = "Asking around tells you what was touched, not whether it mattered."
    readings = {"kinds_touched": Reading(len(rows), "count", f"Kinds of settings touched, of {len(KINDS)}")}
    return ProbeResult(readings, {"changes": Series(("kind", "touched"), ("text", "text"), rows, caption)})


def classify(values: Mapping[str, float]) -> str:
    """Always the same: a list of changes tells no cause from another."""
    return "changes"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """No chart: the table says it all."""
    return {}


PROBE = Probe(
    id="change-log",
    title="Change log",
    group="Job",
    question="What was touched between the healthy run and this one?",
    price_min=20,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "changes": "Settings of several kinds were touched; which of them mattered is not in the log.",
        "inconclusive": "Nobody could say what was touched.",
    },
    decisive=(Decisive("kinds_touched", "linear"),),
    deterministic=True,
    tells=("change",),
    reads="configuration",
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Compare what the launcher recorded: image digest, driver, CUDA and NCCL versions (printed at init with "
        "NCCL_DEBUG=VERSION), the whole environment of rank 0 and of a suspect rank, host list, job "
        "configuration, data set revision. Fleet changes are elsewhere: switch firmware, cabling tickets, other "
        "tenants. Between two good weeks of a real cluster dozens of such lines differ, so a change earns "
        "belief only when a measurement points at the same place."
    ),
)
