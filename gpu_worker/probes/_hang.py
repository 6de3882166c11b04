"""What the probes of a watched run share: its ranks, the dumps that count, and which words of a log mean a failure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_worker.specs import WholeRun

FAILED = ("raised", "died", "left", "hung")
# What torch 2.13 and gloo write; NCCL's words differ, as each probe says.
PEER_LOST = ("Connection closed by peer", "Connection reset by peer", "Broken pipe")
NAMED = ("Detected mismatch between collectives", "failed to pass monitoredBarrier")
TIMED_OUT = ("Timed out waiting",)
KILLED = ("was ended by signal", "terminate called after throwing")
RAISED = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception|Interrupt)\b")


@dataclass(frozen=True)
class Failure:
    """The first line of a rank's log that tells of a failure: `kind` is killed, named, timed-out, peer-lost or own."""

    rank: int
    at_s: float
    kind: str
    line: str


def on_hang(_with: Any) -> str:
    """The experiment of every probe that reads the watched training script."""
    return "hang"


def hang_ranks(run: WholeRun) -> list[dict[str, Any]]:
    """The ranks of a watched run in rank order. Raises ValueError where the run is of another experiment."""
    if run.spec.experiment != "hang":
        raise ValueError(f"run of {run.spec.key}: this probe reads the watched training script")
    return sorted(run.recorded["ranks"], key=lambda rank: rank["rank"])


def asked(run: WholeRun, rank: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rank's dumps that count, first and second; none where it was not asked, or was asked before all went wrong.

    Ranks are asked in the middle of a run. Where ranks failed later without hanging, those dumps show nothing of it,
    and whoever asks now finds no process.
    """
    failed = any(one["end"]["how"] in FAILED for one in run.recorded["ranks"])
    if failed and not run.recorded["stalled"]:
        return []
    return [dump for dump in rank["dumps"] if dump]


def flight(run: WholeRun, rank: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The Flight Recorder's last dump of a rank: as it was asked, else as it raised; None where it left none."""
    dumps = asked(run, rank)
    return dumps[-1] if dumps and dumps[-1]["last"] else rank["at_exit"]


def moved(run: WholeRun, rank: Mapping[str, Any]) -> bool | None:
    """Whether the rank's recorder grew between the two dumps; None where there were no two."""
    dumps = asked(run, rank)
    if len(dumps) < 2:
        return None
    first, second = (dump["last"][-1]["record"] if dump["last"] else -1 for dump in dumps)
    return bool(second > first)


def failure_of(rank: Mapping[str, Any]) -> Failure | None:
    """The first failure that the rank's own log tells of; its kind by the most telling line within the same traceback.

    A traceback's last line and a library's message come together: the earliest line gives the time, and a line that
    names the culprit outweighs one that only says that a peer is gone.
    """
    told = [(at, kind, line) for at, line in rank["log"] if (kind := _kind(line))]
    if not told:
        return None
    order = ("killed", "named", "timed-out", "peer-lost", "own")
    kind = min((kind for _, kind, _ in told), key=order.index)
    line = next(line for _, one, line in told if one == kind)
    return Failure(rank["rank"], told[0][0], kind, line.strip())


def _kind(line: str) -> str | None:
    for kind, words in (("killed", KILLED), ("named", NAMED), ("timed-out", TIMED_OUT), ("peer-lost", PEER_LOST)):
        if any(word in line for word in words):
            return kind
    return "own" if RAISED.match(line) else None


def majority(values: Sequence[Any]) -> Any:
    """The most frequent value; the first of them where several are."""
    return Counter(values).most_common(1)[0][0]


def name(rank: Mapping[str, Any]) -> str:
    return f"rank {rank['rank']}"
