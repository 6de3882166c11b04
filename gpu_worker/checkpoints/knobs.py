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
    saves: Literal["as-planned", "every-step"] = Field(
        default="as-planned", description="how often the job saves; every-step: in each of the steps around the plan's"
    )
    verifies: bool = Field(default=False, description="each rank reads the whole generation back before it goes on")
    picks: Literal["newest-complete", "last-name"] = Field(
        default="newest-complete", description="which generation is restored; last-name: the last of a sorted glob"
    )
    resharding: bool = Field(default=True, description="False: a rank takes its own part back, or refuses")
    sampler_offset: Literal["restored", "applied-twice", "ignored", "by-rank"] = Field(
        default="restored",
        description="by-rank: samples are counted by rank, and divided by what a rank takes a step after the restart",
    )
    sampler_seed: Literal["kept", "redrawn"] = Field(
        default="kept", description="redrawn: after a restart the data are shuffled with another seed"
    )
    random_keys: Literal["by-shard", "by-rank"] = Field(
        default="by-shard", description="by-rank: random states are saved under rank and place, not under the shard"
    )
    scheduler_steps: Literal["once", "twice", "once-a-rank", "twice-after-restart"] = Field(
        default="once", description="how often the scheduler moves in one step of the optimizer"
    )
    settings_after: Literal["as-saved", "other-batch", "other-noise"] = Field(
        default="as-saved", description="what the job that goes on is run with: one sample a rank, or noisier samples"
    )
    sums_after: Literal["as-saved", "other-order"] = Field(
        default="as-saved",
        description="other-order: after a restart a batch's samples are added up the other way round",
    )

    def of_saving(self) -> Knobs:
        """Without what only a restore reads: a save comes out the same however it will be restored."""
        healthy = Knobs()
        read_later = [*READ_BY_A_RESTORE, *(["scheduler_steps"] if "after-restart" in self.scheduler_steps else [])]
        return self.model_copy(update={name: getattr(healthy, name) for name in read_later})


READ_BY_A_RESTORE = ("picks", "resharding", "sampler_offset", "sampler_seed", "settings_after", "sums_after")


def knobs_from(changed: Mapping[str, Any]) -> Knobs:
    """The healthy way with some things done otherwise. Raises BadSpec."""
    try:
        return Knobs.model_validate(dict(changed))
    except ValidationError as problem:
        first = problem.errors()[0]
        raise BadSpec(f"checkpoint: {'.'.join(map(str, first['loc']))} is {first['input']!r}: {first['msg']}") from None
