"""Flight Recorder dumps of gloo: their entries as plain data, and what `torchfrtrace` says of them.

The tool fails on a raw gloo dump: `pg_config` is keyed by an empty name while entries name their group "0". With the
key rewritten it works. Runs in the conductor, whose parent has imported torch.
"""

from __future__ import annotations

import argparse
import logging
import pickle
from collections.abc import Mapping
from typing import Any

ENTRIES_KEPT = 12
FRAMES_KEPT = 6
LINES_KEPT = 60
NOT_OURS = ("/torch/", "/launcher/", "/ranks/body.py", "<frozen", "/runpy.py")


def entries_of(dump: bytes) -> dict[str, Any] | None:
    """Of a dump its last entries, oldest first, and how many collectives it saw; None where there is no dump."""
    if not dump:
        return None
    entries = pickle.loads(dump).get("entries", [])
    return {
        "collectives": max((entry["collective_seq_id"] for entry in entries), default=0),
        "last": [_entry(entry) for entry in entries[-ENTRIES_KEPT:]],
    }


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    frames = [
        f"{frame['name']} {frame['filename'].rpartition('/')[2]}:{frame['line']}"
        for frame in entry.get("frames", [])
        if not any(part in frame["filename"] for part in NOT_OURS)
    ]
    return {
        "sequence": entry["collective_seq_id"],
        "record": entry["record_id"],
        "op": entry["profiling_name"].partition(":")[2] or entry["profiling_name"],
        "p2p": bool(entry["is_p2p"]),
        "sizes": entry["input_sizes"],
        "dtypes": list(entry["input_dtypes"]),
        "retired": bool(entry["retired"]),
        "created_ns": entry["time_created_ns"],
        "frames": frames[:FRAMES_KEPT],
    }


def torchfrtrace(dumps: Mapping[int, bytes], size: int) -> dict[str, Any]:
    """What torch's own analysis says: on the raw dumps (`raw`), and after the repair (`lines`, or why it `failed`)."""
    if not dumps:
        return {"raw": "", "lines": [], "failed": "no rank left a dump"}
    raw = _analyse({rank: pickle.loads(dump) for rank, dump in dumps.items()})
    lines = _analyse({rank: repaired(pickle.loads(dump), size) for rank, dump in dumps.items()})
    failed = lines if isinstance(lines, str) else ""
    return {
        "raw": raw if isinstance(raw, str) else "",
        "lines": [] if isinstance(lines, str) else lines[:LINES_KEPT],
        "failed": failed,
    }


def repaired(dump: dict[str, Any], size: int) -> dict[str, Any]:
    """The dump with its group's key, name and ranks as its entries have them (torch 2.13 on gloo)."""
    names = {tuple(entry["process_group"]) for entry in dump.get("entries", [])} or {("0", "default_pg")}
    config = {name: {"name": name, "desc": desc, "ranks": str(list(range(size)))} for name, desc in sorted(names)}
    return {**dump, "pg_config": config}


def _analyse(dumps: Mapping[int, dict[str, Any]]) -> list[str] | str:
    """The lines that the tool logs, or the error that it ends with."""
    from torch.distributed.flight_recorder.components import builder

    said = _Said()
    logger = logging.getLogger("Flight Recorder")
    others, logger.handlers, logger.propagate = logger.handlers, [said], False
    details = {f"rank_{rank}": {"rank": rank, "host_name": f"host_rank{rank}", **dump} for rank, dump in dumps.items()}
    options = argparse.Namespace(
        verbose=False, just_print_entries=False, allow_incomplete_ranks=True, mismatch_cap=1, print_stack_trace=False
    )
    try:
        builder.build_db(details, options, str(next(iter(dumps.values()))["version"]))
    except (Exception, SystemExit) as problem:
        return f"{type(problem).__name__}: {problem}"
    finally:
        logger.handlers = others
    return said.lines


class _Said(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [line for line in record.getMessage().splitlines() if line.strip()]
