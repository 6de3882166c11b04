"""What each rank trained on: how many samples and tokens, and which samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.jobs.shape import DIMENSIONS
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

# Ranks draw from one data set with replacement: a few samples of a step are the same by chance, one in thirty here.
FEW_DOUBLES, DOUBLES = 0.2, 0.4
STEADY, VARIED = 1.1, 1.5
EVEN, SKEWED = 1.1, 1.25
SAME_BATCH, OTHER_BATCH = 0.02, 0.1


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Samples and tokens of each rank a step, how they vary, and the share of a step's samples that came twice."""
    ranks = _job.job_ranks(run)
    tokens = [[_tokens(run, step) for step in rank["steps"]] for rank in ranks]
    middle = [median(each) for each in tokens]
    skews = [value / max(_job.others_median(middle, at), 1e-9) for at, value in enumerate(middle)]
    at = max(range(len(skews)), key=lambda rank: skews[rank])
    samples, before = _job.samples_per_step(run), _samples_before(run, len(ranks))
    busiest = [max(step) * len(step) / sum(step) for step in zip(*tokens, strict=True)]
    readings = {
        "samples_a_step": Reading(samples, "samples", "Samples of all ranks a step"),
        "samples_before": Reading(before, "samples", "Samples of all ranks a step in the healthy run"),
        "batch_change": Reading(abs(samples / before - 1), "ratio", "Samples over those before, less one, unsigned"),
        "tokens_a_step": Reading(sum(middle), "tokens", "Tokens of all ranks in a typical step"),
        "token_skew": Reading(skews[at], "ratio", "Most tokens a step of a rank over the median of its peers"),
        "token_skew_rank": Reading(f"rank {ranks[at]['rank']}", "text", "Rank with the most tokens a step"),
        "token_variation": Reading(
            max(max(each) / max(min(each), 1) for each in tokens), "ratio", "A rank's longest step over its shortest"
        ),
        "busiest_over_mean": Reading(
            sum(busiest) / len(busiest),
            "ratio",
            "Tokens of a step's busiest rank over the mean of all, mean over steps",
        ),
        "doubles": Reading(_doubles(ranks), "share", "Samples of a step that another place of it holds too"),
    }
    rows = tuple(_row(rank, each) for rank, each in zip(ranks, tokens, strict=True))
    columns = ("rank", "samples a step", "tokens a step", "fewest tokens", "most tokens", "first samples")
    units = ("text", "samples", "tokens", "tokens", "tokens", "text")
    caption = "Medians over the measured steps, and the samples that the first of them began with, by number."
    return ProbeResult(readings, {"ranks": Series(columns, units, rows, caption)})


def _tokens(run: WholeRun, step: Mapping[str, Any]) -> int:
    """As the rank counted them; runs from before it did have whole windows."""
    nominal = step.get("samples", run.spec.setting.job.microbatch) * DIMENSIONS.context
    return int(step.get("tokens", nominal))


def _samples_before(run: WholeRun, ranks: int) -> float:
    job = run.spec.setting.baseline_job
    return float(job.microbatch * job.accumulation * ranks)


def _doubles(ranks: Sequence[Mapping[str, Any]]) -> float:
    """Share of a step's samples, over all ranks, beyond the distinct ones; 0 where nobody kept their numbers."""
    shares = []
    for steps in zip(*(rank["steps"] for rank in ranks), strict=True):
        ids = [index for step in steps for index in step.get("sample_ids", ()) if index >= 0]
        shares.append(1 - len(set(ids)) / len(ids) if ids else 0.0)
    return sum(shares) / len(shares)


def _row(rank: Mapping[str, Any], tokens: Sequence[int]) -> tuple[Any, ...]:
    steps = rank["steps"]
    first = ", ".join(str(index) for index in steps[0].get("sample_ids", ())[:4]) or "not kept"
    samples = median(step.get("samples", 0) for step in steps)
    return f"rank {rank['rank']}", samples, median(tokens), min(tokens), max(tokens), first


def classify(values: Mapping[str, float]) -> str:
    """The size of the batch first; then what ranks share, then lengths: steps that vary would also look skewed."""
    change, doubles = values["batch_change"], values["doubles"]
    variation, skew = values["token_variation"], values["token_skew"]
    if change >= OTHER_BATCH:
        return "other-batch"
    if doubles >= DOUBLES:
        return "same-samples"
    if variation >= VARIED:
        return "uneven-steps"
    if skew >= SKEWED:
        return "one-rank-more"
    even = change <= SAME_BATCH and doubles <= FEW_DOUBLES and variation <= STEADY and skew <= EVEN
    return "even" if even else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Bars of the tokens that each rank trains on in a typical step, with strokes at its shortest and longest."""
    rows = result.series["ranks"].rows
    labels = [row[0] for row in rows]
    said = [f"{row[0]}: {say(row[2])} tokens of {say(row[1])} samples" for row in rows]
    traces = [
        figures.bars("tokens a step", "c6", labels, [row[2] for row in rows], said),
        figures.ticks("fewest", labels, [row[3] for row in rows], [f"{row[0]}: fewest {say(row[3])}" for row in rows]),
        figures.ticks("most", labels, [row[4] for row in rows], [f"{row[0]}: most {say(row[4])}" for row in rows]),
    ]
    alt = "Tokens a step by rank: " + ", ".join(f"{row[0]} {say(row[2])}" for row in rows)
    return figures.frame(traces, alt=alt, rows=len(rows), x=figures.numbers("tokens a step"), y=figures.names(labels))


PROBE = Probe(
    id="batch-identity",
    title="Batch identity",
    group="Job",
    question="Which samples, and how many tokens, did each rank train on?",
    price_min=3,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "even": "Every rank trains on as many samples and tokens as its peers, on samples of its own, as before.",
        "one-rank-more": "One rank trains on clearly more tokens than its peers, step after step.",
        "uneven-steps": "The tokens of a rank's batch change from step to step, and ranks take turns to have the most.",
        "same-samples": "Ranks train on the same samples in the same step.",
        "other-batch": "A step trains on another number of samples than in the healthy run.",
        INCONCLUSIVE: "Batches differ somewhat, too little to slow a step or to bend what is learned.",
    },
    decisive=(
        Decisive("batch_change", "linear"),
        Decisive("doubles", "linear"),
        Decisive("token_variation", "linear"),
        Decisive("token_skew", "linear"),
    ),
    # Counted, not timed.
    deterministic=True,
    tells=("batch",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Nothing here depends on the backend. Log, on every rank, the ids and token counts of each batch (a hash where "
        "ids are long), and compare over ranks and with the run before: DistributedSampler without its rank gives "
        "every rank the same samples; shards cut by files and not by tokens give one rank more. With packed sequences "
        "count tokens and, since attention grows with the square of the length, their squares too: sequence lengths "
        "explain a fifth of straggling jobs in one what-if study of production. Compare samples a step by microbatch x "
        "data-parallel size x accumulation before comparing step times."
    ),
)
