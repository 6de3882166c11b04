"""What a checkpoint holds, by kind, and how it is put back into a trainer. Imports torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)

from gpu_worker.checkpoints.knobs import Knobs
from gpu_worker.checkpoints.shape import FORMAT_REVISION, OTHER_NOISE_SHARE
from gpu_worker.checkpoints.trainer import Trainer


def state_of(trainer: Trainer, *, whole: bool = False) -> dict[str, Any]:
    """By kind (`shape.KINDS`) what there is to save of this rank. `whole`: tensors in full, on rank 0 alone."""
    knobs = trainer.knobs
    options = StateDictOptions(full_state_dict=whole, cpu_offload=whole)
    state = {
        "trainer": {"step": trainer.steps},
        "model": get_model_state_dict(trainer.model, options=options),
        "optimizer": _optimizer_state(trainer, options),
        "scheduler": trainer.scheduler.state_dict(),
        "sampler": trainer.feed.positions(knobs.sampler_keys),
        "rng": trainer.feed.random_states(knobs.random_keys),
        "scaler": trainer.scaler.state_dict(),
        "configuration": {**trainer.settings, "revision": FORMAT_REVISION, "torch": torch.__version__},
    }
    return {kind: part for kind, part in state.items() if kind not in knobs.without}


def _optimizer_state(trainer: Trainer, options: StateDictOptions) -> Mapping[str, Any]:
    if trainer.knobs.optimizer_form == "raw":
        return trainer.optimizer.state_dict()
    return get_optimizer_state_dict(trainer.model, trainer.optimizer, options=options)


def put_back(trainer: Trainer, state: Mapping[str, Any]) -> None:
    """The loaded state into the trainer; kinds that are not in it stay as a fresh start has them."""
    set_model_state_dict(trainer.model, state["model"])
    if "optimizer" in state:
        _put_back_optimizer(trainer, state["optimizer"])
    if "scheduler" in state:
        trainer.scheduler.load_state_dict(state["scheduler"])
    if "scaler" in state:
        trainer.scaler.load_state_dict(state["scaler"])
    if "rng" in state:
        trainer.feed.set_random_states(state["rng"])
    trainer.steps = int(state["trainer"]["step"])
    trainer.restored, trainer.recorded = True, dict(state.get("configuration", {}))
    _put_back_sampler(trainer, state.get("sampler"), trainer.knobs)
    _go_on_with(trainer, trainer.knobs.settings_after)


def _put_back_optimizer(trainer: Trainer, loaded: Mapping[str, Any]) -> None:
    if trainer.knobs.optimizer_form == "raw":
        trainer.optimizer.load_state_dict(dict(loaded))
    else:
        set_optimizer_state_dict(trainer.model, trainer.optimizer, loaded)


def _put_back_sampler(trainer: Trainer, loaded: Mapping[str, Any] | None, knobs: Knobs) -> None:
    if loaded is not None:
        trainer.feed.set_positions(loaded)
    if knobs.sampler_offset == "applied-twice":
        trainer.feed.shift(trainer.steps)
    elif knobs.sampler_offset == "ignored":
        trainer.feed.rewind()
    elif knobs.sampler_offset == "by-rank":
        trainer.feed.rescale(trainer.ranks / int(trainer.recorded["ranks"]))
    if knobs.sampler_seed == "redrawn":
        trainer.feed.reshuffle()


def _go_on_with(trainer: Trainer, settings: str) -> None:
    """Settings that come from the launch of the job and not from what is restored."""
    if settings == "other-batch":
        trainer.feed.samples = 1
    elif settings == "other-noise":
        trainer.feed.noise = OTHER_NOISE_SHARE
