"""The matrix as its command runs it: from fault ids and a folder to a verdict and a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gpu_worker.errors import BadSpec
from gpu_worker.faults import FAULTS
from gpu_worker.lab.machine import fingerprint
from gpu_worker.lab.provenance import torch_version
from gpu_worker.matrix import table
from gpu_worker.matrix.digest import digest
from gpu_worker.matrix.judge import Matrix, judge
from gpu_worker.matrix.store import Failed, Store
from gpu_worker.matrix.take import Told, take_missing
from gpu_worker.matrix.trials import Pair, launches, pairs
from gpu_worker.specs import ExperimentSpec, WholeRun

MOST_RUNS = 200


class RunMatrix:
    """`ids` are the faults to run, all where empty; the folder keeps the runs between calls. Raises BadSpec."""

    def __init__(self, ids: Sequence[str], runs: int, folder: Path) -> None:
        if not 1 <= runs <= MOST_RUNS:
            raise BadSpec(f"--runs is {runs}, but must be 1 to {MOST_RUNS}")
        if unknown := [id for id in ids if id not in FAULTS]:
            raise BadSpec(f"there is no fault {unknown[0]!r}; the lab has {', '.join(FAULTS)}")
        self.ids = tuple(ids) or tuple(FAULTS)
        self.runs = runs
        self.store = Store(folder)

    def take(self, tell: Callable[[Told], None]) -> list[Told]:
        """Runs what is missing; returns what could not be had. Raises LabUnavailable."""
        from gpu_worker.lab import run as lab

        try:
            return take_missing(launches(_pairs(self.ids), self.runs), self.store, lab.run_experiment, tell)
        finally:
            lab.close()

    def judge(self) -> Matrix:
        return self._judge(self.ids)

    def write_page(self, file: Path) -> None:
        """From all that is stored for every fault, whichever were run now."""
        file.parent.mkdir(parents=True, exist_ok=True)
        machine = {**fingerprint(), "torch": torch_version()}
        file.write_text(table.page(self._judge(tuple(FAULTS)), self.runs, machine), encoding="utf-8")

    def _judge(self, ids: Sequence[str]) -> Matrix:
        read: dict[str, WholeRun | Failed | None] = {}

        def get(spec: ExperimentSpec) -> WholeRun | Failed | None:
            name = digest(spec)
            if name not in read:  # many probes read one run
                read[name] = self.store.get(name)
            return read[name]

        return judge(ids, _pairs(ids), self.runs, get)


def _pairs(ids: Sequence[str]) -> list[Pair]:
    return pairs(FAULTS[id] for id in ids)
