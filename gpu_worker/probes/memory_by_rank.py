"""How much memory each rank's process has in RAM, over the steps and at its most, and what a step's memory is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

ALIKE, LARGER = 1.15, 1.30
# A graph that is kept alive grows by about a step's activations: half of what a plain step makes, four fifths where
# activations are most of it. The allocator alone, where sizes change with every batch, grew by up to 0.24.
STEADY, GROWS = 0.28, 0.42
USUAL, MORE = 0.55, 0.80
MEGABYTE = 1e6
# As gpu_worker.jobs.memory tells them apart; the figure leaves out those that no rank has.
KINDS = (
    ("parameters", "c1"),
    ("gradients", "c6"),
    ("optimizer", "c4"),
    ("activations", "c3"),
    ("buffers", "c2"),
    ("gathered", "c2@0.6"),
    ("communication", "c5"),
    ("other", "c5@0.5"),
)
BEFORE, BEYOND = ("before the job", "ink-3@0.35"), ("not in tensors", "ink-3@0.7")


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Each rank's memory against its peers', against its own over the steps, and against what its tensors need.

    What the process had before the job made anything (the interpreter and its libraries) is left out: it is the same
    for every rank and would hide what differs. Raises ValueError where the run kept no memory.
    """
    ranks = _job.job_ranks(run)
    if not all("memory" in rank for rank in ranks):
        raise ValueError(f"run of {run.spec.key}: this probe reads each rank's memory, which this run did not keep")
    most = [_most(rank) for rank in ranks]
    largest = most.index(max(most))
    readings = {
        "largest_over_peers": Reading(
            most[largest] / _job.others_median(most, largest),
            "ratio",
            "Most that a rank's process took for the job, over the median of the others",
        ),
        "largest_rank": Reading(f"rank {ranks[largest]['rank']}", "text", "That rank"),
        "spread": Reading(max(most) / min(most), "ratio", "Largest rank's most over the smallest's"),
        "growth": Reading(
            median(_growth(rank) for rank in ranks),
            "ratio",
            "What a process grows by in a typical step over the tensors that a step makes anew, median",
        ),
        "not_in_tensors": Reading(
            median(_beyond(rank) / rank["memory"]["started_bytes"] for rank in ranks),
            "ratio",
            "What a process took for the job beside its tensors, over what it had before the job, median",
        ),
        "resident": Reading(
            median(rank["steps"][-1]["resident_bytes"] for rank in ranks), "B", "In RAM after the last step, median"
        ),
    }
    return ProbeResult(readings, {"ranks": _table(ranks), "over_the_run": _over_the_run(ranks)})


def _most(rank: Mapping[str, Any]) -> int:
    """The most that the process had, without what it had before the job made anything."""
    return max(rank["memory"]["peak_bytes"] - rank["memory"]["started_bytes"], 1)


def _tensors(rank: Mapping[str, Any]) -> int:
    """Bytes of all tensors at the moment of a step when they are most."""
    return max(rank["memory"]["step"]["peak"], 1)


def _beyond(rank: Mapping[str, Any]) -> int:
    """What of the most is in no tensor: heaps, buffers of libraries, what the allocator keeps."""
    return max(_most(rank) - _tensors(rank), 0)


def _growth(rank: Mapping[str, Any]) -> float:
    """By the typical step: the allocator keeps what one large batch took, once, and that is no growth."""
    resident = [step["resident_bytes"] for step in rank["steps"]]
    grown = [after - before for before, after in pairwise(resident)]
    made_anew = max(_tensors(rank) - sum(rank["memory"]["held"].values()), 1)
    return median(grown) / made_anew if grown else 0.0


def _table(ranks: Sequence[Mapping[str, Any]]) -> Series:
    kinds = _kinds_of(ranks)
    columns = ("rank", "host", BEFORE[0], *kinds, BEYOND[0], "at its most")
    rows = tuple(
        (
            f"rank {rank['rank']}",
            f"host{rank['host']}",
            rank["memory"]["started_bytes"],
            *(rank["memory"]["step"][kind] for kind in kinds),
            _beyond(rank),
            rank["memory"]["peak_bytes"],
        )
        for rank in ranks
    )
    caption = (
        "A rank's process at its most: the interpreter and its libraries, tensors by kind at the moment of one step "
        "behind the measured ones when they were most, and the rest."
    )
    return Series(columns, ("text", "text", *("B",) * (len(columns) - 2)), rows, caption)


def _kinds_of(ranks: Sequence[Mapping[str, Any]]) -> list[str]:
    return [kind for kind, _ in KINDS if any(rank["memory"]["step"][kind] for rank in ranks)]


def _over_the_run(ranks: Sequence[Mapping[str, Any]]) -> Series:
    rows = tuple(
        (number, f"rank {rank['rank']}", step["resident_bytes"])
        for rank in ranks
        for number, step in enumerate(rank["steps"], 1)
    )
    caption = "What each process had in RAM after every measured step."
    return Series(("step", "rank", "resident memory"), ("count", "text", "B"), rows, caption)


def classify(values: Mapping[str, float]) -> str:
    """What grows comes first, for in the end it is also large; then one rank against its peers; then all of them
    against their tensors."""
    larger, growth, beyond = values["largest_over_peers"], values["growth"], values["not_in_tensors"]
    if growth >= GROWS:
        return "growing"
    if larger >= LARGER:
        return "one-rank-larger"
    if beyond >= MORE:
        return "more-than-tensors"
    return "even" if growth < STEADY and larger < ALIKE and beyond < USUAL else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Stacked megabytes at the most of each rank, by what they are."""
    table = result.series["ranks"]
    labels = [row[0] for row in table.rows]
    traces = []
    for name, role in (BEFORE, *KINDS, BEYOND):
        if name in table.columns:
            held = [row[table.columns.index(name)] for row in table.rows]
            said = [f"{label}: {name} {say(size, 'B')}" for label, size in zip(labels, held, strict=True)]
            traces.append(figures.bars(name, role, labels, [size / MEGABYTE for size in held], said))
    alt = "Memory of each rank's process at its most: " + ", ".join(f"{r[0]} {say(r[-1], 'B')}" for r in table.rows)
    x = figures.numbers("MB in RAM")
    return figures.frame(traces, alt=alt, rows=len(labels), x=x, y=figures.names(labels), barmode="stack")


PROBE = Probe(
    id="memory-by-rank",
    title="Memory by rank",
    group="Ranks and hosts",
    question="Does one rank need more memory than its peers, does it grow, and what fills it?",
    price_min=4,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "even": "The ranks need about the same memory, it stays as it is, and tensors are most of it.",
        "one-rank-larger": "One rank's process took clearly more memory for the job than its peers'.",
        "growing": "Memory grows from step to step on most ranks.",
        "more-than-tensors": "On all ranks alike something else than the job's tensors fills most of the memory.",
        INCONCLUSIVE: "One rank is somewhat larger, or all grow a little, or hold somewhat more than tensors.",
    },
    decisive=(
        Decisive("largest_over_peers", "log"),
        Decisive("growth", "linear"),
        Decisive("not_in_tensors", "log"),
    ),
    deterministic=False,
    tells=("straggler",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "torch.cuda.memory_stats on every rank: allocated (what tensors hold), reserved (what the caching allocator "
        "keeps), their peaks, and alloc_retries, which is time lost to freeing and asking again; "
        "torch.cuda.memory._record_memory_history with _dump_snapshot tells parameters, gradients, optimizer state and "
        "activations apart. nvidia-smi shows more than reserved: NCCL's buffers, the context, whoever else is there. "
        "The host has memory of its own: VmRSS of the trainer and of its loader's workers, where leaks and the heaps "
        "that the collector has to walk lie. Here the processor plays the GPU, so one number, the process's pages in "
        "RAM, holds both."
    ),
)
