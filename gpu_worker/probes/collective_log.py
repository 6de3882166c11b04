"""The last collectives of every rank, from its Flight Recorder: number, operation, sizes, whether they ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _hang
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun

SHOWN = 6


@dataclass(frozen=True)
class Log:
    """What one rank's recorder holds. `entries` by sequence number; `last` is the newest entry of any kind."""

    rank: int
    entries: Mapping[int, Mapping[str, Any]]
    last: Mapping[str, Any] | None
    moved: bool | None

    @property
    def missing(self) -> bool:
        return self.last is None

    @property
    def waiting(self) -> bool:
        return self.last is not None and not self.last["retired"]

    @property
    def still(self) -> bool:
        """Issues nothing any more; a rank that was not asked twice is gone."""
        return self.moved is not True


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """The last collective of each rank, and at which sequence number they part."""
    logs = [_log(run, rank) for rank in _hang.hang_ranks(run)]
    differing = _differing(logs)
    newest = max((max(log.entries, default=0) for log in logs), default=0)
    return ProbeResult(
        _readings(logs, differing, newest), _series(logs, differing, newest, run.recorded["torchfrtrace"])
    )


def _readings(logs: list[Log], differing: set[tuple[int, int]], newest: int) -> dict[str, Reading]:
    still = [log for log in logs if log.still and not log.missing]
    return {
        "differing_ranks": Reading(
            len({rank for rank, _ in differing}), "count", "Ranks that issued another collective under the same number"
        ),
        "missing_dumps": Reading(sum(log.missing for log in logs), "count", "Ranks that left no record"),
        "still_ranks": Reading(len(still), "count", "Ranks that issued nothing between two looks, or raised"),
        "idle_ranks": Reading(
            sum(not log.waiting for log in still), "count", "Of these, ranks whose last collective had ended"
        ),
        "waiting_ranks": Reading(sum(log.waiting for log in still), "count", "Of these, ranks that wait in one"),
        "newest_sequence": Reading(newest, "count", "Newest sequence number on any rank"),
        "first_difference": Reading(
            str(min(number for _, number in differing)) if differing else "none",
            "text",
            "Sequence number at which the ranks part",
        ),
    }


def _series(
    logs: list[Log], differing: set[tuple[int, int]], newest: int, trace: Mapping[str, Any]
) -> dict[str, Series]:
    last = tuple(_last_row(log) for log in logs)
    around = tuple(
        (number, f"rank {log.rank}", *_entry_cells(log.entries[number]), (log.rank, number) in differing)
        for number in range(max(1, newest - SHOWN + 1), newest + 1)
        for log in logs
        if number in log.entries
    )
    said = trace["lines"] or [trace["failed"] or "the analysis found no collective that the ranks do not share"]
    return {
        "last": Series(
            ("rank", "sequence", "operation", "elements", "type", "state", "called from"),
            ("text", "count", "text", "text", "text", "text", "text"),
            last,
            "The newest entry of each rank's Flight Recorder.",
        ),
        "around": Series(
            ("sequence", "rank", "operation", "elements", "type", "state", "differs"),
            ("count", "text", "text", "text", "text", "text", "text"),
            tuple((*row[:-1], "yes" if row[-1] else "no") for row in around),
            "The newest collectives of all ranks, side by side.",
        ),
        "torchfrtrace": Series(
            ("line",),
            ("text",),
            tuple((line[:200],) for line in said),
            "What torch's own analysis of the dumps says.",
        ),
    }


def _log(run: WholeRun, rank: Mapping[str, Any]) -> Log:
    flight = _hang.flight(run, rank)
    held = flight["last"] if flight else []
    entries = {entry["sequence"]: entry for entry in held if not entry["p2p"]}
    return Log(rank["rank"], entries, held[-1] if held else None, _hang.moved(run, rank))


def _differing(logs: list[Log]) -> set[tuple[int, int]]:
    """(rank, sequence number) of each entry that is not what most ranks issued under that number."""
    found = set()
    for number in sorted({number for log in logs for number in log.entries}):
        issued = {log.rank: _issued(log.entries[number]) for log in logs if number in log.entries}
        usual = _hang.majority(list(issued.values()))
        found |= {(rank, number) for rank, one in issued.items() if one != usual}
    return found


def _issued(entry: Mapping[str, Any]) -> str:
    return f"{entry['op']} {entry['sizes']} {entry['dtypes']}"


def _entry_cells(entry: Mapping[str, Any]) -> tuple[str, str, str, str]:
    sizes = ", ".join("×".join(map(str, size)) for size in entry["sizes"]) or "none"
    types = ", ".join(entry["dtypes"]) or "none"
    return entry["op"], sizes, types, "ended" if entry["retired"] else "waiting"


def _last_row(log: Log) -> tuple[Any, ...]:
    if log.last is None:
        return (f"rank {log.rank}", None, "no record", "", "", "", "")
    called = log.last["frames"][0] if log.last["frames"] else ""
    return (f"rank {log.rank}", log.last["sequence"], *_entry_cells(log.last), called)


def classify(values: Mapping[str, float]) -> str:
    """A difference first, then a missing record; else by who waits and who does not."""
    if values["differing_ranks"] >= 1:
        return "ranks-differ"
    if values["missing_dumps"] >= 1:
        return "one-rank-missing"
    if values["still_ranks"] < 1:
        return "in-step"
    if values["idle_ranks"] < 1:
        return "all-waiting"
    if values["waiting_ranks"] == 1 and values["idle_ranks"] > 1:
        return "one-rank-ahead"
    return "one-rank-behind" if values["idle_ranks"] == 1 and values["waiting_ranks"] >= 1 else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """The newest sequence numbers, one row a rank: ended, waiting, and those that differ."""
    labels = [row[0] for row in result.series["last"].rows]
    rows = result.series["around"].rows
    traces = []
    for title, role, keep in (
        ("ended", "c1", lambda row: row[6] == "no" and row[5] == "ended"),
        ("waiting", "c5", lambda row: row[6] == "no" and row[5] == "waiting"),
        ("differs from the others", "bad", lambda row: row[6] == "yes"),
    ):
        kept = [row for row in rows if keep(row)]
        if kept:
            said = [f"{row[1]}, number {row[0]}: {row[2]} of {row[3]} {row[4]}, {row[5]}" for row in kept]
            traces.append(figures.dots(title, role, [row[1] for row in kept], [row[0] for row in kept], said))
    newest = int(result.readings["newest_sequence"].value)
    told = "; ".join(
        f"{row[0]} {row[2]} {row[1] if row[1] is not None else ''} {row[5]}".strip()
        for row in result.series["last"].rows
    )
    x = figures.numbers("sequence number", low=max(0, newest - SHOWN), high=newest + 1, dtick=1)
    return figures.frame(
        traces, alt=f"Last collective of each rank: {told}", rows=len(labels), x=x, y=figures.names(labels)
    )


PROBE = Probe(
    id="collective-log",
    title="Log of collectives",
    group="Job",
    question="What was the last collective of each rank, and did all ranks issue the same ones?",
    price_min=4,
    stops_job=False,
    parameters={},
    experiment=_hang.on_hang,
    findings={
        "in-step": "All ranks issue the same collectives and get on with them.",
        "all-waiting": "All ranks wait in a collective and agree about it; nobody took another way.",
        "one-rank-behind": "One rank's last collective has ended and it issues no other; its peers wait in one.",
        "one-rank-ahead": "One rank alone waits in a collective; its peers' last ones have ended.",
        "ranks-differ": "Under the same sequence number the ranks issued collectives that do not fit together.",
        "one-rank-missing": "At least one rank left no record; those of the others agree.",
        "inconclusive": "The records agree and single no rank out: nobody waits, or several do not.",
    },
    decisive=(
        Decisive("differing_ranks", "linear"),
        Decisive("missing_dumps", "linear"),
        Decisive("still_ranks", "linear"),
        Decisive("idle_ranks", "linear"),
        Decisive("waiting_ranks", "linear"),
    ),
    deterministic=False,
    tells=("hang",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Set TORCH_FR_BUFFER_SIZE (formerly TORCH_NCCL_TRACE_BUFFER_SIZE) before the job starts and "
        "TORCH_NCCL_DUMP_ON_TIMEOUT=1: each rank writes a file as its watchdog fires (TORCH_FR_DUMP_TEMP_FILE names "
        "the prefix), and torchfrtrace pairs the dumps and prints the first number at which they part. There `state` "
        "tells scheduled, started and completed, because CUDA events are polled; on gloo it stays scheduled and only "
        "`retired` tells that a collective ended, and the dump's pg_config must be rewritten before the tool reads "
        "it. A rank that was killed leaves no dump on either. An entry that started on some ranks only points at who "
        "never came; one that started on all and completed on none points at the network."
    ),
)
