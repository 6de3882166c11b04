"""The matrix as its command runs it: from fault ids and a folder to a verdict and a page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gpu_worker.errors import BadSpec
from gpu_worker.faults import FAULTS
from gpu_worker.lab.machine import fingerprint
from gpu_worker.lab.provenance import torch_version
from gpu_worker.matrix import readings, table
from gpu_worker.matrix.digest import digest
from gpu_worker.matrix.judge import Matrix, judge
from gpu_worker.matrix.readings import Entry, Taken
from gpu_worker.matrix.store import Failed, Store
from gpu_worker.matrix.take import Told, take_missing
from gpu_worker.matrix.trials import Pair, Role, in_launch, launches, pairs
from gpu_worker.specs import ExperimentSpec, WholeRun

MOST_RUNS = 200
PAGE, READINGS = "matrix.md", "matrix.json.gz"


class RunMatrix:
    """`ids` are the faults to run, all where empty, and `only` what they show or what they spare; `folder` keeps the
    runs between calls, and `docs` the page and the readings of runs that were taken elsewhere. Raises BadSpec."""

    def __init__(self, ids: Sequence[str], runs: int, folder: Path, docs: Path, only: Role | None = None) -> None:
        if not 1 <= runs <= MOST_RUNS:
            raise BadSpec(f"--runs is {runs}, but must be 1 to {MOST_RUNS}")
        if unknown := [id for id in ids if id not in FAULTS]:
            raise BadSpec(f"there is no fault {unknown[0]!r}; the lab has {', '.join(FAULTS)}")
        self.ids = tuple(ids) or tuple(FAULTS)
        self.runs = runs
        self.wanted = [pair for pair in _pairs(self.ids) if only in (None, pair.role)]
        self.store = Store(folder)
        self.docs = docs
        self.remembered = readings.load(docs / READINGS)
        self._read: dict[str, Taken | Failed | None] = {}

    def take(self, tell: Callable[[Told], None]) -> list[Told]:
        """Runs what is missing; returns what could not be had. Raises LabUnavailable."""
        from gpu_worker.lab import run as lab

        try:
            known = self._known()
            return take_missing(launches(self.wanted, self.runs), self.store, lab.run_experiment, tell, known)
        finally:
            lab.close()

    def judge(self) -> Matrix:
        return judge(self.ids, self.wanted, self.runs, self._get)

    def write_docs(self) -> None:
        """The page and the readings, from all that is known of every fault, whichever were run now."""
        entries = dict(self._entries())
        readings.save(self.docs / READINGS, entries)
        judged = judge(tuple(FAULTS), _pairs(tuple(FAULTS)), self.runs, self._get)
        machines = Counter(entry.on for entry in entries.values())
        (self.docs / PAGE).write_text(table.page(judged, self.runs, machines), encoding="utf-8")

    def _get(self, spec: ExperimentSpec) -> Taken | Failed | None:
        name = digest(spec)
        if name not in self._read:  # many probes read one run
            self._read[name] = self._find(name)
        return self._read[name]

    def _find(self, name: str) -> Taken | Failed | None:
        found = self.store.get(name)
        if isinstance(found, WholeRun):
            return Taken(found)
        return found or (self.remembered[name].taken() if name in self.remembered else None)

    def _known(self) -> set[str]:
        """Digests of the runs whose readings answer all that is declared of them."""
        asked: dict[str, set[str]] = defaultdict(set)
        for pair in self.wanted:
            for number in range(self.runs):
                for spec in (pair.healthy, pair.faulted):
                    asked[digest(in_launch(spec, number))].add(pair.variant)
        known = self.remembered
        return {name for name, wanted in asked.items() if name in known and known[name].serves(wanted)}

    def _entries(self) -> Iterator[tuple[str, Entry]]:
        """What is stored before what is remembered, of the runs that present sources ask for, in every launch."""
        machine, wanted = machine_name(), _pairs(tuple(FAULTS))
        number_of_launches = max([self.runs, *(1 + entry.launch for entry in self.remembered.values())])
        for number in range(number_of_launches):
            for spec in launches(wanted, 1):
                name = digest(in_launch(spec, number))
                if found := self.store.get(name):
                    yield name, readings.entry_of(found, number, machine)
                elif name in self.remembered:
                    yield name, self.remembered[name]


def machine_name() -> str:
    machine = fingerprint()
    return f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, torch {torch_version()}"


def _pairs(ids: Sequence[str]) -> list[Pair]:
    return pairs(FAULTS[id] for id in ids)
