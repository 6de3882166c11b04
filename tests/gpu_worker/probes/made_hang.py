"""Really measured runs of the watched training script, one of each cause."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from gpu_worker.specs import WholeRun

HANGS = Path(__file__).parent / "runs" / "hang"


def measured() -> dict[str, WholeRun]:
    """By cause, `healthy` among them."""
    return {path.name.split(".")[0]: _load(path) for path in sorted(HANGS.glob("*.json.gz"))}


def healthy() -> WholeRun:
    return _load(HANGS / "healthy.json.gz")


def _load(path: Path) -> WholeRun:
    return WholeRun.model_validate(json.loads(gzip.decompress(path.read_bytes())))
