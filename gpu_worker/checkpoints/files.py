"""torch.distributed.checkpoint on the run's storage: contents travel over the rank's link. Imports torch."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.distributed.checkpoint import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.filesystem import FileSystem
from torch.distributed.checkpoint.metadata import STATE_DICT_TYPE

from gpu_worker.ranks.disk import Storage


class StoredFiles(FileSystem):
    """Names, sizes and renames are the shared folder's; whole files are written and read through the storage."""

    def __init__(self, storage: Storage, die_after_bytes: int | None = None) -> None:
        self._storage, self._die_after_bytes = storage, die_after_bytes

    @contextmanager
    def create_stream(self, path: str | os.PathLike, mode: str) -> Iterator[Any]:
        if mode == "rb":
            yield io.BytesIO(self._storage.read(str(path)))
            return
        with self._storage.writer(str(path), die_after_bytes=self._die_after_bytes) as stream:
            yield stream


class StoredWriter(FileSystemWriter):
    """`copies`: an asynchronous save stages copies of the tensors; without, the live tensors are what is written."""

    def __init__(self, path: str, storage: Storage, *, copies: bool = True, die_after_bytes: int | None = None) -> None:
        # The storage acknowledges what it holds; asking the kernel to flush would flush the whole machine.
        super().__init__(path, sync_files=False)
        self.fs = StoredFiles(storage, die_after_bytes)
        self._copies = copies

    def stage(self, state_dict: STATE_DICT_TYPE) -> STATE_DICT_TYPE:
        return super().stage(state_dict) if self._copies else state_dict


class StoredReader(FileSystemReader):
    def __init__(self, path: str, storage: Storage) -> None:
        super().__init__(path)
        self.fs = StoredFiles(storage)
