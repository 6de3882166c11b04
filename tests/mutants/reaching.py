"""Which tests reach which function of the grader, and how long each takes. Kept between runs beside the results."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import CodeType

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.making import Unit
from tests.mutants.swapping import Live


class Reach:
    """By test: seconds, and the functions that it called, as `file:qualified name`."""

    def __init__(self, kept: Path, root: Path) -> None:
        self.kept, self.root = kept, root
        known = json.loads(kept.read_text()) if kept.is_file() else {}
        self.digests: dict[str, str] = known.get("digests", {})
        self.seconds: dict[str, float] = known.get("seconds", {})
        self.called: dict[str, list[str]] = known.get("called", {})

    def tests_of(self, file: Path, unit: Unit) -> list[str]:
        """Tests that call the function; for a constant those that call anything of its file."""
        home = f"{self._name(file)}:"
        if unit.is_constant:
            return [test for test, called in self.called.items() if any(one.startswith(home) for one in called)]
        return [test for test, called in self.called.items() if home + unit.name in called]

    def look(self, items: Sequence[pytest.Item], live: Live, until: float) -> bool:
        """Runs the tests of files that changed since they were looked at; False where time ran out before the last.

        A test that fails by itself can kill nothing: it is named, and reaches nothing.
        """
        by_file: dict[Path, list[pytest.Item]] = {}
        for item in items:
            by_file.setdefault(item.path, []).append(item)
        stale = {file: _digest(file) for file in by_file}
        stale = {file: digest for file, digest in stale.items() if self.digests.get(self._name(file)) != digest}
        for gone in set(self.called) - {item.nodeid for item in items}:
            del self.called[gone]
        for file, digest in stale.items():
            if time.monotonic() >= until:
                return False
            for item in by_file[file]:
                live.forget()
                self._watch(item)
            self.digests[self._name(file)] = digest
            self._save()
        return True

    def _watch(self, item: pytest.Item) -> None:
        seen: set[CodeType] = set()
        began = time.process_time()
        sys.setprofile(lambda frame, event, _: seen.add(frame.f_code) if event == "call" else None)
        try:
            reports = runtestprotocol(item, log=False, nextitem=None)
        finally:
            sys.setprofile(None)
        self.seconds[item.nodeid] = round(time.process_time() - began, 4)
        # A function inside a function is a part of it here.
        self.called[item.nodeid] = sorted(
            {
                f"{self._name(Path(code.co_filename))}:{code.co_qualname.split('.<locals>')[0]}"
                for code in seen
                if code.co_filename.startswith(f"{self.root}/grader/")
            }
        )
        if any(report.failed for report in reports):
            print(f"left out, since it fails by itself: {item.nodeid}")
            self.called[item.nodeid] = []

    def _save(self) -> None:
        self.kept.parent.mkdir(exist_ok=True)
        kept = {"digests": self.digests, "seconds": self.seconds, "called": self.called}
        self.kept.write_text(json.dumps(kept, indent=0))

    def _name(self, file: Path) -> str:
        return str(file.relative_to(self.root))


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
