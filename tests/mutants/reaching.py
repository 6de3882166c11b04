"""Which tests run which lines of the grader, and how long each takes. Kept between runs, outside the repository."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.making import Mutant, Unit
from tests.mutants.swapping import Live


class Reach:
    """By test: seconds, the lines that it ran, by file, and a digest of its own file and of those."""

    def __init__(self, kept: Path, root: Path) -> None:
        self.kept, self.root = kept, root
        known = json.loads(kept.read_text()) if kept.is_file() else {}
        self.digests: dict[str, str] = known.get("digests", {})
        self.seconds: dict[str, float] = known.get("seconds", {})
        self.lines: dict[str, dict[str, list[int]]] = known.get("lines", {})
        self.files_naming = cache(lambda names: {self._name(file) for file in self._naming(names.split(", "))})
        self.digest_of = cache(lambda name: hashlib.sha256((root / name).read_bytes()).hexdigest())

    def breadth(self, test: str) -> int:
        """How much of the grader a test runs: one that runs little looks at it more closely."""
        return sum(map(len, self.lines[test].values()))

    def tests_of(self, file: Path, unit: Unit, mutant: Mutant) -> list[str]:
        """Tests that run the line of the mutant; where none does, for it may have no code of its own, of the unit.

        For a constant those that run anything of a file that names it.
        """
        name, own = self._name(file), range(unit.line, unit.last_line + 1)
        if unit.is_constant:
            naming = self.files_naming(unit.name)
            return [test for test, lines in self.lines.items() if not naming.isdisjoint(lines)]
        reaching = {test: lines[name] for test, lines in self.lines.items() if name in lines}
        exact = [test for test, lines in reaching.items() if mutant.line in lines]
        return exact or [test for test, lines in reaching.items() if any(line in own for line in lines)]

    def look(self, items: Sequence[pytest.Item], live: Live, until: float) -> bool:
        """Runs the tests that are new, or have changed with what they run; False where time ran out before the last.

        A test that fails by itself can kill nothing: it is named, and reaches nothing.
        """
        for gone in set(self.lines) - {item.nodeid for item in items}:
            del self.lines[gone]
        for item in items:
            if self.digests.get(item.nodeid) == self._digest(item):
                continue
            if time.monotonic() >= until:
                self._save()
                return False
            live.forget()
            self._watch(item)
            self.digests[item.nodeid] = self._digest(item)
        self._save()
        return True

    def _watch(self, item: pytest.Item) -> None:
        seen: dict[str, set[int]] = defaultdict(set)
        home = f"{self.root}/grader/"

        def of_line(frame: FrameType, event: str, _: Any) -> Any:
            seen[frame.f_code.co_filename].add(frame.f_lineno)
            return of_line

        def of_call(frame: FrameType, event: str, _: Any) -> Any:
            return of_line if frame.f_code.co_filename.startswith(home) else None

        began = time.process_time()
        sys.settrace(of_call)
        try:
            reports = runtestprotocol(item, log=False, nextitem=None)
        finally:
            sys.settrace(None)
        failed = any(report.failed for report in reports)
        if failed:
            print(f"left out, since it fails by itself: {item.nodeid}")
        self.seconds[item.nodeid] = round(time.process_time() - began, 4)
        self.lines[item.nodeid] = (
            {} if failed else {self._name(Path(file)): sorted(lines) for file, lines in sorted(seen.items())}
        )

    def _naming(self, names: Sequence[str]) -> Iterator[Path]:
        for file in (self.root / "grader").rglob("*.py"):
            text = file.read_text()
            if any(name in text for name in names):
                yield file

    def _digest(self, item: pytest.Item) -> str:
        names: Iterable[str] = (self._name(item.path), *self.lines.get(item.nodeid, ()))
        return hashlib.sha256("".join(self.digest_of(name) for name in names).encode()).hexdigest()[:12]

    def _save(self) -> None:
        self.kept.parent.mkdir(exist_ok=True)
        kept = {"digests": self.digests, "seconds": self.seconds, "lines": self.lines}
        self.kept.write_text(json.dumps(kept))

    def _name(self, file: Path) -> str:
        return str(file.relative_to(self.root))
