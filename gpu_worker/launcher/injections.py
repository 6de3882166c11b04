"""The acts of a run at work: started stage by stage, counted around the measured part, stopped whatever happens."""

from __future__ import annotations

from typing import Any

from gpu_worker.injectors import INJECTORS, act_from
from gpu_worker.injectors.base import Running, Scene, Stage


class Injections:
    """Use as a context manager. An act of the stage `ranks` starts anew with each phase of the run."""

    def __init__(self, acts: list[dict[str, Any]]) -> None:
        self._acts = [act_from(act) for act in acts]
        self._running: dict[int, Running] = {}

    def __enter__(self) -> Injections:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop("ranks")
        self.stop("fabric")

    def start(self, stage: Stage, scene: Scene) -> None:
        for number, act in enumerate(self._acts):
            if INJECTORS[act.kind].stage == stage:
                self._running[number] = INJECTORS[act.kind].start(act, scene)

    def stop(self, stage: Stage) -> None:
        for number in [n for n in self._running if INJECTORS[self._acts[n].kind].stage == stage]:
            self._running.pop(number).stop()

    def begin(self) -> None:
        """Tells the acts that have to know that the measured part begins."""
        for running in self._running.values():
            if begin := getattr(running, "begin", None):
                begin()

    def progressed(self, steps: int) -> None:
        """Tells the acts that wait for a step how many are done."""
        for running in self._running.values():
            if progressed := getattr(running, "progressed", None):
                progressed(steps)

    def counts(self) -> list[dict[str, float]]:
        return [dict(self._running[number].count()) for number in range(len(self._acts))]

    def since(self, before: list[dict[str, float]]) -> list[dict[str, Any]]:
        """Of each act its fields and what it counted since `before`."""
        return [
            {**act.model_dump(), **{name: value - then.get(name, 0) for name, value in now.items()}}
            for act, then, now in zip(self._acts, before, self.counts(), strict=True)
        ]
