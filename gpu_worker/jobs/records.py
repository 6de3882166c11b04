"""How a job's measurements are kept in a WholeRun: names, origins and roundings. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_worker.experiments.base import Phase

DIGITS_S = 5  # 10 microseconds
DIGITS_LOSS = 6  # rounding gradients to bfloat16 moves the fifth
OPTIONAL = ("groups", "computed", "memory")
ABOUT = ("what", "op", "group", "ranks")


def job_ranks(phase: Phase, ranks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """`WholeRun.ranks` of a phase that ran the job."""
    # Counted from the first measured step: shorter numbers, and nothing about when the machine was started.
    origin = min(rank["steps"][0]["start"] for rank in ranks)
    return [
        {
            "rank": number,
            "host": phase.hosts[number],
            "interface": rank["interface"],
            "steps": [_step(step, origin) for step in rank["steps"]],
            "telemetry": {name: rounded(value) for name, value in rank["telemetry"].items()},
            **{name: rank[name] for name in OPTIONAL if rank.get(name)},
        }
        for number, rank in enumerate(ranks)
    ]


def _step(step: Mapping[str, Any], origin: float) -> dict[str, Any]:
    collectives = [
        {
            "bytes": entry["bytes"],
            "launch": round(entry["launch"] - origin, DIGITS_S),
            "done": round(entry["done"] - origin, DIGITS_S),
            **{name: entry[name] for name in ABOUT if name in entry},
        }
        for entry in step["collectives"]
    ]
    rest = {name: rounded(value) for name, value in step.items() if name not in ("collectives", "start", "spans")}
    if isinstance(step.get("loss"), float):
        rest["loss"] = round(step["loss"], DIGITS_LOSS)
    if "spans" in step:
        rest["spans"] = [
            [name, *(round(at - origin, DIGITS_S) for at in (begun, ended))] for name, begun, ended in step["spans"]
        ]
    return {"start": round(step["start"] - origin, DIGITS_S), **rest, "collectives": collectives}


def rounded(value: Any) -> Any:
    return round(value, DIGITS_S) if isinstance(value, float) else value
