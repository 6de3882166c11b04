"""What lies in the storage, read file by file, and what may befall it there. Imports torch."""

from __future__ import annotations

import io
import os
import pickle
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

from gpu_worker.checkpoints.knobs import Knobs
from gpu_worker.checkpoints.shape import MARK, generation_name, step_of

# Entries that say at which step the state was taken.
POSITIONS = ("trainer.step", "scheduler.last_epoch", "consumed")


def shard_file(rank: int) -> str:
    return f"__{rank}_0.distcp"


def damage(folder: str, knobs: Knobs, steps: list[int]) -> None:
    """What `knobs.damage` says, done to the newest generation. `steps` are those of the generations, in order."""
    newest, before = (Path(folder) / generation_name(step) for step in (steps[-1], steps[-2]))
    file = newest / shard_file(knobs.damaged_rank)
    if knobs.damage == "torn":
        os.truncate(file, file.stat().st_size // 2)
    elif knobs.damage == "empty":
        os.truncate(file, 0)
    elif knobs.damage == "missing":
        file.unlink()
    elif knobs.damage == "older":
        shutil.copyfile(before / file.name, file)
    elif knobs.damage == "unmarked":
        (newest / MARK).unlink()


def generations(folder: str) -> list[dict[str, Any]]:
    """Every generation in the order of steps, unfinished ones too: files, kinds of state, positions."""
    found = [_generation(path) for path in Path(folder).iterdir() if path.name.startswith("step-")]
    return sorted(found, key=lambda one: (one["step"], one["folder"]))


def _generation(path: Path) -> dict[str, Any]:
    marked = (path / MARK).exists()
    index = pickle.loads((path / MARK).read_bytes()) if marked else None
    expected, entries = _expected(index), _entries(path, index)
    names = {file.name for file in path.iterdir() if file.suffix == ".distcp"} | expected.keys()
    return {
        "folder": path.name,
        "step": step_of(path.name) or step_of(path.stem) or 0,
        "marked": marked,
        "files": [
            {"name": name, "bytes": _size(path / name), "expected": expected.get(name)} for name in sorted(names)
        ],
        "kinds": _kinds(entries),
        "unreadable": sum(entry["value"] is _UNREADABLE for entry in entries),
        "positions": {
            entry["key"]: entry["value"]
            for entry in entries
            if entry["key"].endswith(POSITIONS) and entry["value"] is not _UNREADABLE
        },
        "recorded": {e["key"]: str(e["value"]) for e in entries if e["key"].startswith("configuration.")},
    }


def _size(file: Path) -> int | None:
    return file.stat().st_size if file.exists() else None


def _expected(index: Any) -> dict[str, int]:
    """Bytes that each file must have, as the commit mark lists what lies where."""
    ends: dict[str, int] = defaultdict(int)
    for info in index.storage_data.values() if index else ():
        ends[info.relative_path] = max(ends[info.relative_path], info.offset + info.length)
    return dict(ends)


_UNREADABLE: Any = object()


def _entries(path: Path, index: Any) -> list[dict[str, Any]]:
    """Every piece of state: its key, bytes, and its value where it is no tensor."""
    files: dict[str, bytes] = {}
    entries = []
    for where, info in (index.storage_data if index else {}).items():
        if info.relative_path not in files:
            file = path / info.relative_path
            files[info.relative_path] = file.read_bytes() if file.exists() else b""
        body = files[info.relative_path][info.offset : info.offset + info.length]
        entries.append({"key": where.fqn, "bytes": info.length, "value": _value(body, info.length)})
    return entries


def _value(body: bytes, length: int) -> Any:
    if len(body) < length or not body:
        return _UNREADABLE
    try:
        value = torch.load(io.BytesIO(body), weights_only=False)
    except Exception:
        return _UNREADABLE
    return None if isinstance(value, torch.Tensor) else value


def _kinds(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    kinds: dict[str, dict[str, Any]] = {}
    for entry in entries:
        kind = entry["key"].partition(".")[0]
        held = kinds.setdefault(kind, {"entries": 0, "bytes": 0, "first_key": entry["key"]})
        held["entries"] += 1
        held["bytes"] += entry["bytes"]
        held["first_key"] = min(held["first_key"], entry["key"])
    return kinds
