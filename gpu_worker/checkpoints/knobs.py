"""Everything about saving and restoring that can be done otherwise. The defaults are the healthy way. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError

from gpu_worker.errors import BadSpec
from gpu_worker.specs import Frozen

Part = Literal["optimizer", "scheduler", "rng", "sampler", "scaler", "configuration"]
Damage = Literal["none", "torn", "empty", "missing", "older", "unmarked"]


class Knobs(Frozen):
    """What a fault changes. `damage`, `killed_rank` and `renames` concern the newest generation alone."""

    without: tuple[Part, ...] = Field(default=(), description="kinds of state that are not saved")
    optimizer_form: Literal["by-name", "raw"] = Field(
        default="by-name", description="raw: optimizer.state_dict() as it is, keyed by number"
    )
    sampler_keys: Literal["by-shard", "shared"] = Field(
        default="by-shard", description="shared: every rank saves its positions under the same keys"
    )
    saver: Literal["sharded", "gather", "async"] = Field(
        default="sharded", description="each rank writes its part; rank 0 writes all; each writes in the background"
    )
    copies: bool = Field(default=True, description="async: tensors are copied before training goes on")
    renames: Literal["one-rank", "every-rank"] = Field(
        default="one-rank", description="who gives the finished generation its name"
    )
    damage: Damage = Field(
        default="none", description="what becomes of `damaged_rank`'s file, or of the commit mark, once all is saved"
    )
    damaged_rank: int = Field(default=0, ge=0, le=15)
    killed_rank: int | None = Field(default=None, ge=0, le=15, description="is killed halfway through its file")
    reused_folder: bool = Field(
        default=False, description="a job of twice the ranks saved into the newest generation's folder before"
    )
    picks: Literal["newest-complete", "last-name"] = Field(
        default="newest-complete", description="which generation is restored; last-name: the last of a sorted glob"
    )
    resharding: bool = Field(default=True, description="False: a rank takes its own part back, or refuses")
    sampler_offset: Literal["restored", "applied-twice", "ignored"] = "restored"
    scheduler_steps: Literal["once", "twice", "once-a-rank"] = Field(
        default="once", description="how often the scheduler moves in one step of the optimizer"
    )


def knobs_from(changed: Mapping[str, Any]) -> Knobs:
    """The healthy way with some things done otherwise. Raises BadSpec."""
    try:
        return Knobs.model_validate(dict(changed))
    except ValidationError as problem:
        first = problem.errors()[0]
        raise BadSpec(f"checkpoint: {'.'.join(map(str, first['loc']))} is {first['input']!r}: {first['msg']}") from None
