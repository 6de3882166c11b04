"""Tries mutants, each in a fork of a process that has imported and collected everything, by the tests that reach it.

A fork costs some milliseconds, so a mutant costs what its tests cost until the first that fails.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.making import Mutant, Unit
from tests.mutants.reaching import Reach
from tests.mutants.swapping import CannotSwap, Live

AT_ONCE = os.cpu_count() or 1
# A mutant that runs on far past what its tests should take is caught.
LIMIT_CPU_S, LIMIT_WALL_S = 30, 90
LIMIT_BYTES = 6 << 30
SURVIVED, CANNOT = 0, 255
FIRST_KILLER, LAST_KILLER = 1, 200


@dataclass(frozen=True)
class Place:
    """A module of the grader."""

    file: Path
    module: str


class Trials:
    """What can be tried, with one memory of which tests have killed before: those go first."""

    def __init__(self, items: Sequence[pytest.Item], reach: Reach, live: Live, within_s: float) -> None:
        self.items = {item.nodeid: item for item in items}
        self.reach, self.live, self.within_s = reach, live, within_s
        self.breadth = {one: reach.breadth(one) for one in self.items}
        self.kills: Counter[tuple[str, str]] = Counter()

    def tests_of(self, place: Place, unit: Unit, mutant: Mutant) -> list[str]:
        """Tests that run it: those that have killed its module's mutants, then those that run little else."""
        reach = self.reach
        found = [one for one in reach.tests_of(place.file, unit, mutant) if one in self.items]
        found.sort(key=lambda one: (-self.kills[place.module, one], self.breadth[one], reach.seconds[one], one))
        chosen, seconds = [], 0.0
        for one in found:
            seconds += reach.seconds[one]
            if not chosen or seconds <= self.within_s:
                chosen.append(one)
        return chosen

    def check(self, place: Place, unit: Unit) -> None:
        """The unit as it is must survive: a test that fails in a fork by itself would kill everything."""
        same = Mutant(0, unit.line, "", "", False, place.file.read_text())
        ended = self.run(place, replace(unit, mutants=(same,)), None, math.inf)
        if ended not in ({0: "survived"}, {0: "not reached"}):
            raise AssertionError(f"{place.module}: {unit.name} as it is: {ended}; {self.kills.most_common(1)}")

    def run(self, place: Place, unit: Unit, numbers: Iterable[int] | None, until: float) -> dict[int, str] | None:
        """How each mutant of the unit ended; None where time ran out before all had."""
        wanted = [m for m in unit.mutants if numbers is None or m.number in numbers]
        ended: dict[int, str] = {}
        running: dict[int, tuple[Mutant, list[str]]] = {}
        waiting = iter(wanted)
        while len(ended) < len(wanted):
            while len(running) < AT_ONCE and time.monotonic() < until and (mutant := next(waiting, None)):
                tests = self.tests_of(place, unit, mutant)
                running[_fork(lambda m=mutant, t=tests: self._child(place, unit, m, t))] = (mutant, tests)
            if not running:
                return None
            pid, status = os.wait()
            mutant, tests = running.pop(pid)
            ended[mutant.number] = self._verdict(place, os.waitstatus_to_exitcode(status), tests)
        return ended

    def _verdict(self, place: Place, code: int, tests: list[str]) -> str:
        if code == SURVIVED:
            return "survived" if tests else "not reached"
        if FIRST_KILLER <= code <= LAST_KILLER:
            self.kills[place.module, tests[code - FIRST_KILLER]] += 1
        return "cannot" if code == CANNOT else "killed"

    def _child(self, place: Place, unit: Unit, mutant: Mutant, tests: list[str]) -> int:
        _limit()
        self.live.forget()
        try:
            self.live.put_in(place.file, place.module, unit, mutant)
        except (SyntaxError, CannotSwap):
            return CANNOT
        return first_failure([self.items[one] for one in tests])


def first_failure(items: list[pytest.Item]) -> int:
    """1 and up: which of the tests failed first; 0: none did."""
    for number, (item, following) in enumerate(zip(items, [*items[1:], None], strict=True)):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            return min(FIRST_KILLER + number, LAST_KILLER)
    return SURVIVED


def _fork(task: Callable[[], int]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = LAST_KILLER + 1  # what ends the interpreter is noticed too
    try:
        code = task()
    finally:
        os._exit(code)


def _limit() -> None:
    """Against a mutant that never ends, or takes all memory. Its words are nobody's to read."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU_S, LIMIT_CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    signal.alarm(LIMIT_WALL_S)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
