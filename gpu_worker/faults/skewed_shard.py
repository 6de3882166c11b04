"""One rank's shard holds longer documents: it trains on more tokens for the same number of samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Params, params_of, rank_of, trained
from gpu_worker.specs import Fault, Setting

ID = "skewed-shard"


class ShardParams(Params):
    times: float = Field(
        default=3.5,
        ge=1.25,
        le=8,
        description="tokens of a sample of that rank over those of its peers",
        json_schema_extra={"unit": "", "kind": "ratio"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    times, rank = params_of(ShardParams, fault).times, rank_of(setting, fault)
    return Changes(rank_job={rank: {"windows": setting.job.windows * times}})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """By its own count that rank trained on so many more tokens than each of its peers, for as many samples."""
    rank = rank_of(Setting.model_validate(raw["setting"]), fault)
    if not trained(raw, rank):
        return NOT_EXERCISED
    tokens = [sum(step["tokens"] for step in one["steps"]) for one in raw["ranks"]]
    ratio = tokens[rank] / max(count for at, count in enumerate(tokens) if at != rank)
    # Whole windows are trained on, so that a batch holds the wanted tokens but for half a window.
    if ratio < 1 + 0.5 * (params_of(ShardParams, fault).times - 1):
        raise FaultDidNotFire(f"rank {rank} should train on more tokens than its peers, but has {ratio:.2f} of theirs")
    return {"tokens_over_peers": round(ratio, 3)}


FAULT = FaultKind(
    id=ID,
    title="A skewed shard",
    description="The documents of one rank's shard are longer, so that it computes more for every batch.",
    place_kind="rank",
    params=ShardParams,
    plan=plan,
    fired=fired,
    shows=("batch-identity", "per-rank-step-times", "collective-arrivals", "memory-by-rank", "host-swap"),
    spares=("host-telemetry", "input-timings", "bucket-sizes", "microbenchmark[placement=as-job,size=job]"),
)
