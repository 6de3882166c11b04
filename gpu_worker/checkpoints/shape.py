"""The shape of the job that is saved and restored, and the names of what is in a checkpoint. No torch."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_worker.jobs.shape import Dimensions

# `narrow` steps quickly, for replays at several world sizes; `wide` has bytes enough that a save is bound by its links.
MODELS: Mapping[str, Dimensions] = {
    "narrow": Dimensions(width=64, inner=256, layers=2, heads=2, context=48),
    "wide": Dimensions(width=160, inner=640, layers=3, heads=4, context=32),
}
# The data are cut into a fixed number of shards, of which a rank reads its share: positions are kept by shard, so that
# they mean the same at any world size.
SHARDS = 8
DOCUMENTS_A_SHARD = 50
NOISE_SHARE = 0.1  # of the bytes of a sample, replaced at random: what the random state decides
OTHER_NOISE_SHARE = 0.3  # of a job that goes on with another setting than it was saved with

LEARNING_RATE = 2e-3
WARMUP_STEPS = 6  # of the schedule: rises to the full rate, then decays; no two steps have the same rate
DECAY = 0.97
# High enough that the scaler must first find the scale at which gradients fit half precision.
FIRST_SCALE = 2.0**20
GROWTH_INTERVAL = 3

KINDS: Mapping[str, str] = {
    "trainer": "step counter",
    "model": "parameters",
    "optimizer": "optimizer moments",
    "scheduler": "learning-rate schedule",
    "sampler": "positions in the data",
    "rng": "random states",
    "scaler": "loss scale",
    "configuration": "configuration and versions",
}
MARK = ".metadata"
STAGING = ".staging"
FORMAT_REVISION = 4


def generation_name(step: int) -> str:
    return f"step-{step}"


def step_of(folder: str) -> int | None:
    """The step in a generation's name; None for a folder that is still being written, or another's."""
    number = folder.removeprefix("step-")
    return int(number) if folder != number and number.isdigit() else None


def shards_of(rank: int, ranks: int) -> range:
    """The data shards that a rank reads: consecutive ones, SHARDS / ranks of them."""
    each = SHARDS // ranks
    return range(rank * each, (rank + 1) * each)
