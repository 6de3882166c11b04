"""The log of every rank, with times: who failed first, and who only tells that somebody else is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _hang
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

LINES_SHOWN = 12
LINE_CHARACTERS = 220
WORDS = {
    "killed": "ended by a signal",
    "named": "names what differs",
    "timed-out": "timed out",
    "peer-lost": "lost its peer",
    "own": "raised by itself",
}


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """How many ranks failed, with which words, and who was first."""
    ranks = _hang.hang_ranks(run)
    # Whoever only lost a peer is a victim, also where its line was logged before the launcher told of the death.
    failures = sorted(
        (f for rank in ranks if (f := _hang.failure_of(rank))), key=lambda f: (f.kind == "peer-lost", f.at_s)
    )
    counts = {kind: sum(failure.kind == kind for failure in failures) for kind in WORDS}
    first = failures[0] if failures else None
    lead_s = min(f.at_s for f in failures[1:]) - failures[0].at_s if len(failures) > 1 else 0.0
    readings = {
        "failed_ranks": Reading(len(failures), "count", f"Ranks whose log tells of a failure, of {len(ranks)}"),
        "killed_ranks": Reading(counts["killed"], "count", "Ranks that were ended by a signal"),
        "naming_ranks": Reading(counts["named"], "count", "Ranks whose log names what differs, or who is missing"),
        "timed_out_ranks": Reading(counts["timed-out"], "count", "Ranks that timed out"),
        "peer_lost_ranks": Reading(counts["peer-lost"], "count", "Ranks that only say that a peer closed"),
        "own_error_ranks": Reading(counts["own"], "count", "Ranks that raised an error of their own"),
        "first_failure": Reading(_told(first), "text", "First failure"),
        "first_failure_at_s": Reading(first.at_s if first else 0.0, "s", "When it was logged, since the first step"),
        "lead_s": Reading(
            lead_s, "s", "From the first failure to the next rank's line; below zero where a victim spoke sooner"
        ),
    }
    order = {failure.rank: at for at, failure in enumerate(failures)}
    failed = tuple(
        (f"rank {f.rank}", f.at_s, "first" if at == 0 else "after it", WORDS[f.kind], f.line[:LINE_CHARACTERS])
        for at, f in enumerate(failures)
    )
    ends = tuple((_hang.name(rank), rank["steps"], _last_words(rank), rank["rank"] in order) for rank in ranks)
    return ProbeResult(
        readings,
        {
            "failures": Series(
                ("rank", "logged at", "order", "kind", "line"),
                ("text", "s", "text", "text", "text"),
                failed,
                "The first line of each log that tells of a failure; who lost a peer is its victim.",
            ),
            "ends": Series(
                ("rank", "steps", "last line", "failed"),
                ("text", "count", "text", "text"),
                tuple((*row[:3], "yes" if row[3] else "no") for row in ends),
                "Where each rank's log ends.",
            ),
            "log": Series(
                ("logged at", "rank", "line"), ("s", "text", "text"), _lines(ranks), "The last lines of all logs."
            ),
        },
    )


def _told(failure: _hang.Failure | None) -> str:
    return f"rank {failure.rank}, {WORDS[failure.kind]}" if failure else "none"


def _last_words(rank: Mapping[str, Any]) -> str:
    return rank["log"][-1][1][:LINE_CHARACTERS] if rank["log"] else ""


def _lines(ranks: list[dict[str, Any]]) -> tuple[tuple[Any, ...], ...]:
    found = [
        (at, _hang.name(rank), line[:LINE_CHARACTERS]) for rank in ranks for at, line in rank["log"][-LINES_SHOWN:]
    ]
    return tuple(sorted(found))


def classify(values: Mapping[str, float]) -> str:
    """By the strongest word that any log holds."""
    if values["failed_ranks"] < 1:
        return "quiet"
    for reading, finding in (
        ("killed_ranks", "one-rank-died"),
        ("naming_ranks", "mismatch-named"),
        ("timed_out_ranks", "time-outs"),
        ("peer_lost_ranks", "peer-lost"),
    ):
        if values[reading] >= 1:
            return finding
    return INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Every line as a dot at its time, one row a rank; first failures stand out."""
    labels = [row[0] for row in result.series["ends"].rows]
    lines, failures = result.series["log"].rows, result.series["failures"].rows
    said = [f"{rank} at {say(at, 's')}: {line[:90]}" for at, rank, line in lines]
    traces = [figures.dots("log line", "c1", [row[1] for row in lines], [row[0] for row in lines], said, opacity=0.6)]
    if failures:
        told = [f"{row[0]} at {say(row[1], 's')}, {row[3]}: {row[4][:90]}" for row in failures]
        traces.append(figures.dots("failure", "bad", [row[0] for row in failures], [row[1] for row in failures], told))
    first = result.readings["first_failure"].value
    alt = f"Log lines of {len(labels)} ranks by time; first failure: {first}"
    return figures.frame(
        traces, alt=alt, rows=len(labels), x=figures.numbers("seconds since the first step"), y=figures.names(labels)
    )


PROBE = Probe(
    id="rank-logs",
    title="Logs of the ranks",
    group="Job",
    question="Which rank's log tells of a failure first, and in which words?",
    price_min=3,
    stops_job=False,
    parameters={},
    experiment=_hang.on_hang,
    findings={
        "quiet": "No log tells of a failure; every rank goes on or has finished.",
        "one-rank-died": "At least one rank was ended by a signal; the others report a peer that is gone.",
        "mismatch-named": "The library says which rank is missing, or in what the ranks' collectives differ.",
        "time-outs": "Ranks report only that they timed out; no log says whom they waited for.",
        "peer-lost": "Ranks report a peer that closed its connection, though no rank was ended by a signal.",
        "inconclusive": "A rank raised an error of its own that says nothing of the others.",
    },
    decisive=(
        Decisive("failed_ranks", "linear"),
        Decisive("killed_ranks", "linear"),
        Decisive("naming_ranks", "linear"),
        Decisive("timed_out_ranks", "linear"),
        Decisive("peer_lost_ranks", "linear"),
    ),
    deterministic=False,
    tells=("hang",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "torchrun keeps each rank's output with --redirects and --log-dir, and names the first failure by its error "
        "file (torch.distributed.elastic.multiprocessing.errors.record). NCCL does not notice a peer that is gone: "
        "its watchdog waits for the whole time-out (ten minutes by default) and then logs 'Watchdog caught collective "
        "operation timeout' with SeqNum, OpType and NumelIn on every rank, within seconds of each other, so the "
        "earliest line may be a victim's. gloo, here, tells at once that a connection closed. "
        "TORCH_DISTRIBUTED_DEBUG=DETAIL makes both name ranks, operation and shapes that differ; dmesg on the host "
        "tells of the out-of-memory killer and of XID errors, which no rank's log holds."
    ),
)
