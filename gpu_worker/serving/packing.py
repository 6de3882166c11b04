"""Whole runs as small binaries: JSON under zlib, about a tenth of the text."""

from __future__ import annotations

import json
import zlib
from typing import Any

from gpu_worker.specs import WholeRun

# A whole run is some hundred kilobytes at most; the bound keeps a damaged row from filling memory.
LARGEST_JSON_BYTES = 16_000_000


def pack(run: WholeRun) -> bytes:
    """A whole run as zlib-compressed JSON."""
    text = json.dumps(run.model_dump(mode="json", by_alias=True), separators=(",", ":"), sort_keys=True)
    return zlib.compress(text.encode(), 6)


def unpack(blob: bytes | memoryview) -> WholeRun:
    """The whole run of `pack`. Raises ValueError where the bytes are no whole run."""
    return WholeRun.model_validate(unpack_json(blob))


def unpack_json(blob: bytes | memoryview) -> Any:
    """The JSON value inside. Raises ValueError where the bytes are damaged or too many."""
    reader = zlib.decompressobj()
    try:
        text = reader.decompress(bytes(blob), LARGEST_JSON_BYTES)
    except zlib.error as damaged:
        raise ValueError(f"the stored run is damaged: {damaged}") from None
    if reader.unconsumed_tail:
        raise ValueError(f"the stored run is larger than {LARGEST_JSON_BYTES} bytes")
    return json.loads(text)
