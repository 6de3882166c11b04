"""Parameters of everything the lab can be asked to do. Pure, importable without torch.

Places are written `rank:2`, `host:1`, `link:host1-leaf0`, `link:leaf0-spine1`.
Experiments have a canonical key: `job`, or `microbenchmark[placement=as-job,size=job]`.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

PLACE = re.compile(r"^(rank:\d{1,2}|host:\d{1,2}|link:[a-z]+\d*-[a-z]+\d*)$")


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Topology(Frozen):
    """What to build. Rates are bits/s, one token bucket for each direction of each cable.

    `leaf-spine`: hosts_per_leaf hosts on each of `leaves` leaves, every leaf cabled to every spine, routed, ECMP over
    layer 4. The last leaf is *far*: its uplinks run at `far_uplink_rate`. `flat`: all hosts on one bridge. `two-tier`:
    hosts_per_node hosts (one an accelerator) inside each of `nodes` nodes, joined at `inside_rate`; each node has one
    cable to a core at `link_rate`, so that the rate across is the one that a collective is held against.
    Each host also has a management interface on a flat bridge of its own at `management_rate`.
    """

    kind: Literal["leaf-spine", "flat", "two-tier"] = "leaf-spine"
    leaves: int = 3
    spines: int = 2
    hosts_per_leaf: int = 2
    hosts: int = Field(default=4, description="for `flat` only")
    nodes: int = Field(default=2, description="for `two-tier` only")
    hosts_per_node: int = Field(default=2, description="for `two-tier` only")
    inside_rate: int = Field(default=1_600_000_000, description="for `two-tier` only")
    link_rate: int = 400_000_000
    far_uplink_rate: int = 160_000_000
    management_rate: int = 160_000_000


class Parallel(Frozen):
    """How a job is laid over its ranks. `ddp` is the plain job, and none of the other fields then counts."""

    form: Literal["ddp", "fsdp2", "tensor", "pipeline", "expert", "context"] = "ddp"
    group: int = Field(default=0, ge=0, le=16, description="ranks of a group; 0: all. Data-parallel over the rest")
    inner: Literal["model", "data"] = Field(
        default="model", description="which groups lie over neighbouring ranks: the form's own, or the data-parallel"
    )
    microbatches: int = Field(default=8, ge=1, le=64, description="pipeline: parts of the batch")
    last_stage_layers: int = Field(default=0, ge=0, le=7, description="pipeline: layers of the last stage; 0: even")
    router: Literal["balanced", "collapsed"] = "balanced"
    router_bias: float = Field(default=0.0, ge=0.0, le=20.0, description="expert: logits by which one is favoured")
    hot_expert: int = Field(default=0, ge=0, le=15, description="expert: which one")
    context_shards: Literal["balanced", "contiguous"] = "balanced"


class Job(Frozen):
    """A real DDP training step of a small transformer: about 14.7 MB of float32 gradients."""

    microbatch: int = Field(default=8, ge=1, le=64, description="samples a rank a step")
    measured_steps: int = Field(default=6, ge=1, le=200)
    warmup_steps: int = Field(default=2, ge=1, le=20)
    overlap: bool = Field(default=True, description="reduce buckets during backward; False: after it")
    bucket_cap_mb: float = 1.0
    first_bucket_mb: float | None = Field(
        default=None, gt=0, le=1024, description="cap of the first bucket alone; None: as the others"
    )
    gradient_as_bucket_view: bool = False
    shuffle_seed: int = 17
    flight_recorder_entries: int = Field(
        default=0, ge=0, le=20_000, description="TORCH_FR_BUFFER_SIZE in the ranks' environment"
    )
    # From here to `storage_bytes_per_s`: read by the watched training loop alone (`gpu_worker.jobs.watched`).
    collective_timeout_s: float = Field(default=3.0, ge=0.5, le=60.0, description="the library's own time-out")
    distributed_debug: Literal["off", "info", "detail"] = Field(default="off", description="TORCH_DISTRIBUTED_DEBUG")
    monitored_barrier: bool = Field(default=False, description="a monitored barrier at the start of each step")
    slip: Literal["none", "order", "shape", "dtype", "left-early", "save-alone", "extra-metric", "leave-sending"] = (
        Field(default="none", description="a slip of the training script in this rank, from `slip_step` on")
    )
    slip_step: int = Field(default=8, ge=0, le=1000)
    slip_size: int = Field(default=0, ge=0, le=65_536, description="`shape`: multiple that a bucket is padded to")
    storage_bytes_per_s: float | None = Field(default=None, description="what the checkpoint store takes; None: all")
    script: Literal["a", "b"] = Field(
        default="a",
        description="revision of the training script: `b` steps the optimizer tensor by tensor (foreach=False)",
    )
    interface: Literal["fabric", "management"] = "fabric"
    threads: int = Field(default=1, ge=1, le=64, description="threads that torch computes with in each rank")
    binding: Literal["in-turn", "one-core", "none"] = Field(
        default="in-turn", description="cores of a rank's computing thread: one in turn, all on the first, any"
    )
    live_objects: int = Field(
        default=0, ge=0, le=8_000_000, description="Python containers that each rank keeps, for the collector to walk"
    )
    collect_every: int = Field(
        default=0, ge=0, le=1000, description="steps between full collections; 0 leaves them to the interpreter"
    )
    collect_first: int = Field(default=0, ge=0, le=1000, description="the step of a rank's first full collection")
    small_tensors: int = Field(
        default=0, ge=0, le=448, description="learned vectors of 1 kB, spread evenly over the four blocks"
    )
    accumulation: int = Field(default=1, ge=1, le=16, description="microbatches a step, reduced once")
    communication_dtype: Literal["float32", "bfloat16", "float64"] = Field(
        default="float32", description="what gradients are cast to while they are reduced"
    )
    blocking_reads: int = Field(
        default=0,
        ge=0,
        le=400,
        description="metrics a step that are summed over the ranks and read on the host",
    )
    slow_blocks: int = Field(
        default=0, ge=0, le=4, description="blocks whose products run in double precision, attention not fused"
    )
    rows_a_kernel: int = Field(
        default=0, ge=0, le=4096, description="products are made in slices of so many rows, each from Python; 0: whole"
    )
    extra_backward: int = Field(
        default=0, ge=0, le=1000, description="products more that each block computes in its backward pass"
    )
    windows: float = Field(
        default=1.0, ge=0.25, le=16, description="windows of each document that are trained on: tokens a sample"
    )
    length_spread: float = Field(
        default=0.0,
        ge=0,
        le=2,
        description="sigma of the log-normal of mean 1 that each step's windows are drawn from",
    )
    same_shard: bool = Field(default=False, description="every rank reads the order of rank 0")
    loader_workers: int = Field(
        default=0, ge=0, le=4, description="processes that read and decode batches ahead; 0: the training loop reads"
    )
    prefetch: int = Field(default=2, ge=0, le=16, description="batches that the loader's workers hold ready")
    decode_passes: int = Field(default=0, ge=0, le=200, description="passes over a document's text to decode it")
    synthetic: bool = Field(default=False, description="batches are made on the spot instead of read")
    parallel: Parallel = Parallel()


class Fault(Frozen):
    """A cause to inject: its id, where, and how strongly. The fault's module holds the meaning and bounds of params."""

    cause: str
    place: str | None = None
    params: dict[str, float] = Field(default_factory=dict)


class Setting(Frozen):
    """What is drawn for every instance whatever its cause: it makes numbers vary and change logs hold harmless entries.

    Between `baseline_*` and this run every draw differs truly and harmlessly in each kind that the change log names:
    environment (`flight_recorder_entries`), versions (`script`), placement (ranks swapped within a leaf), schedule
    (`gradient_as_bucket_view`), data (`shuffle_seed`). `gpu_worker.probes.change_log.touched` tells which differ.
    """

    topology: Topology = Topology()
    placement: tuple[int, ...] = Field(default=(0, 1, 2, 3), description="host index of each rank before any fault")
    baseline_placement: tuple[int, ...] = Field(
        default=(0, 1, 2, 3), description="host of each rank in the healthy run of the change log"
    )
    job: Job = Job()
    baseline_job: Job = Job()
    seed: int = 0


class ExperimentSpec(Frozen):
    """One run of the lab. `faults` is empty for a healthy run; two faults for a curveball."""

    experiment: str = Field(description="an id of `gpu_worker.experiments`")
    with_: dict[str, str] = Field(
        default_factory=dict,
        alias="with",
        description="the experiment's parameters; microbenchmark: size (small, job) and placement (as-job, packed)",
    )
    setting: Setting = Setting()
    faults: tuple[Fault, ...] = ()
    size_bytes: int | None = Field(default=None, description="microbenchmark only: overrides what `size` names")
    repeats: int = Field(default=5, ge=1, le=50, description="microbenchmark: kept iterations, after one discarded")
    deadline_s: float = Field(default=60.0, description="wall-clock limit; the run is ended and failed past it")

    @property
    def key(self) -> str:
        return experiment_key(self.experiment, self.with_)


def experiment_key(name: str, with_: dict[str, str] | None = None) -> str:
    """`microbenchmark`, {size: job, placement: as-job} -> `microbenchmark[placement=as-job,size=job]`."""
    if not with_:
        return name
    inside = ",".join(f"{k}={v}" for k, v in sorted(with_.items()))
    return f"{name}[{inside}]"


def parse_key(key: str) -> tuple[str, dict[str, str]]:
    """The inverse of `experiment_key`: `link-rates[scope=all]` -> (`link-rates`, {scope: all})."""
    name, _, inside = key.partition("[")
    pairs = (pair.partition("=") for pair in inside.rstrip("]").split(",") if pair)
    return name, {left: right for left, _, right in pairs}


class CauseDraw(BaseModel):
    """How a scenario draws one cause's fault: candidate places and a range for each parameter."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    places: tuple[str, ...] = ()
    params: dict[str, tuple[float, float]] = Field(default_factory=dict)


class WholeRun(BaseModel):
    """What one experiment measured, raw. Probes are pure functions of it; it is what the bank stores.

    Times are seconds on CLOCK_MONOTONIC, which all ranks share here; a real cluster's clocks differ, as the probes say.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    schema_version: int = 1
    spec: ExperimentSpec
    fired: dict[str, Any] = Field(
        default_factory=dict, description="by cause: proof that the fault fired (counts, observed rates)"
    )
    provenance: dict[str, Any] = Field(
        description="taken_at, machine, kernel, cores, backend, torch, steal_share, foreign_cpu_share, setup_s, wall_s"
    )
    fabric: dict[str, Any] = Field(
        description="hosts: [{host, leaf}], placement: [host index per rank as this run really ran], links: "
        "[{id, kind: access|uplink|management, ends: [a, b], rate: {'a->b': bits/s, 'b->a': bits/s}, nominal: bits/s, "
        "carrier_downs: times that it lost its carrier during the run (absent in old runs)}] "
        "read back from the kernel after the run, "
        "counters: {'a->b': {bytes, packets, drops, overlimits, backlog_bytes}} over the measured part, "
        "paths: [{src_rank, dst_rank, via: [link ids]}] derived from counters, "
        "flows: [{src, dst (host indices), network: access|management, bytes, connections}] over the measured part, "
        "of every host's sockets; absent in old runs"
    )
    ranks: list[dict[str, Any]] = Field(
        default_factory=list,
        description="job: one a rank: {rank, host, interface (as its sockets show), "
        "steps: [{start, input_s, input_bytes, forward_s, backward_s, exposed_s, optimizer_s, total_s, "
        "samples (this rank's, really trained on), loss, collectives: [{bytes, launch, done}], and in newer runs "
        "tokens, sample_ids, `what: metric` on a collective that is none of gradients, "
        "compute_cpu_s, compute_run_delay_s, collection_s, resident_bytes}], "
        "groups (other forms than ddp, whose collectives also have op, group, ranks and whose steps have spans: "
        "[[phase, start, done]]): {name: [ranks of this rank's group]}, "
        "memory (newer runs of the experiment `job`): see gpu_worker.jobs.memory.told, "
        "telemetry: {wall_s, compute_wall_s, cpu_s, run_delay_s, "
        "voluntary_switches, involuntary_switches, tcp_retransmits, "
        "kernel: see gpu_worker.ranks.kernel and .collector}}; measured steps only",
    )
    iterations: list[dict[str, Any]] = Field(
        default_factory=list,
        description="microbenchmark: one a kept iteration: {seconds (slowest rank), by_rank: [seconds]}",
    )
    recorded: dict[str, Any] = Field(
        default_factory=dict, description="what other experiments keep; the experiment's module says its form"
    )
    size_bytes: int = Field(description="job: gradient bytes a step; microbenchmark: message bytes")
