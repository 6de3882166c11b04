"""How a generation is chosen and put back. Imports torch."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
from torch.distributed.checkpoint.planner import LoadPlan
from torch.distributed.tensor import DTensor

from gpu_worker.checkpoints.files import StoredReader
from gpu_worker.checkpoints.shape import MARK, step_of
from gpu_worker.checkpoints.state import put_back, state_of
from gpu_worker.checkpoints.trainer import Trainer
from gpu_worker.ranks.disk import Storage


class NoGeneration(Exception):
    """There is nothing to restore."""


class CannotReshard(Exception):
    """The checkpoint is cut for another number of ranks."""


def choose(folder: str, picks: str) -> str:
    """The folder of the generation to restore. Raises NoGeneration."""
    if picks == "last-name":
        found = sorted(glob.glob(os.path.join(folder, "step-*")))
        if not found:
            raise NoGeneration("no folder is called step-*")
        return found[-1]
    complete = [path for path in Path(folder).iterdir() if step_of(path.name) is not None and (path / MARK).exists()]
    if not complete:
        raise NoGeneration("no generation has its commit mark")
    return str(max(complete, key=lambda path: step_of(path.name) or 0))


def restore(trainer: Trainer, storage: Storage) -> str:
    """Loads a generation into the trainer and returns its folder's name.

    Entries that the checkpoint lacks are left as they are, as loaders that shall survive a new release do.
    """
    path = choose(storage.folder, trainer.knobs.picks)
    state = state_of(trainer)
    planner = DefaultLoadPlanner(allow_partial_load=True) if trainer.knobs.resharding else OwnPartPlanner()
    dcp.load(state, storage_reader=StoredReader(path, storage), planner=planner)
    put_back(trainer, state)
    return os.path.basename(path)


class OwnPartPlanner(DefaultLoadPlanner):
    """Takes back each tensor's own part as it was written, and knows no other way."""

    def __init__(self) -> None:
        super().__init__(allow_partial_load=True)

    def create_local_plan(self) -> LoadPlan:
        assert self.metadata is not None
        for name, value in self.state_dict.items():
            if isinstance(value, DTensor) and value.to_local().numel():
                written = [tuple(chunk.sizes) for chunk in self._chunks(name)]
                if tuple(value.to_local().shape) not in written:
                    raise CannotReshard(
                        f"{name} was written in {len(written)} parts of {written[0]}; this rank holds "
                        f"{tuple(value.to_local().shape)}"
                    )
        return super().create_local_plan()

    def _chunks(self, name: str) -> list[Any]:
        assert self.metadata is not None
        return list(getattr(self.metadata.state_dict_metadata.get(name), "chunks", []))
