"""Where the matrix keeps its runs: a folder for each spec and source, a file for each launch, written whole or not."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_worker.errors import LabError
from gpu_worker.specs import WholeRun


@dataclass(frozen=True)
class Failed:
    """A launch that ended without a measurement, which is a result: the fault did not fire, or the run broke."""

    kind: str
    reason: str


class Store:
    """Runs by digest. Runs of older sources stay beside them until `forget_all_but`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, digest: str) -> WholeRun | Failed | None:
        """None where it was not run yet, or its file is damaged: then it is run again."""
        try:
            content = json.loads(gzip.decompress(self._file(digest).read_bytes()))
        except (OSError, EOFError, zlib.error, ValueError):
            return None
        return Failed(**content["failed"]) if "failed" in content else WholeRun.model_validate(content["run"])

    def has(self, digest: str) -> bool:
        return self._file(digest).exists()

    def keep(self, digest: str, run: WholeRun) -> None:
        self._write(digest, {"run": run.model_dump(mode="json", by_alias=True)})

    def keep_failure(self, digest: str, problem: LabError) -> None:
        self._write(digest, {"failed": {"kind": type(problem).__name__, "reason": problem.reason}})

    def forget_all_but(self, digests: set[str]) -> int:
        """Removes runs that nothing asks for any more. Returns their number."""
        old = [file for file in self.folder.glob("*.json.gz") if file.name.partition(".")[0] not in digests]
        for file in old:
            file.unlink(missing_ok=True)
        return len(old)

    def _file(self, digest: str) -> Path:
        return self.folder / f"{digest}.json.gz"

    def _write(self, digest: str, content: dict[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self._file(digest).with_suffix(f".part{os.getpid()}")
        part.write_bytes(gzip.compress(json.dumps(content, separators=(",", ":")).encode(), 6, mtime=0))
        os.replace(part, self._file(digest))
