"""Sends a signal to one rank's process once so many steps are done, as the kernel's out-of-memory killer does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene


class KillRank(Act):
    """The processes of `host` get `signal` when `at_step` measured steps are done."""

    kind: Literal["kill-rank"] = "kill-rank"
    host: int
    signal: int = Field(ge=1, le=31)
    at_step: int = Field(ge=1)


class Killer:
    def __init__(self, act: KillRank, scene: Scene) -> None:
        self._act = act
        self._victims = scene.pids_on(act.host)
        self._kills = 0

    def progressed(self, steps: int) -> None:
        """At the step, once; a process that is gone already is not counted."""
        if steps < self._act.at_step:
            return
        while self._victims:
            try:
                os.kill(self._victims.pop(), self._act.signal)
                self._kills += 1
            except ProcessLookupError:
                pass

    def count(self) -> Mapping[str, float]:
        return {"kills": self._kills}

    def stop(self) -> None:
        """Nothing is left to stop."""


INJECTOR = Injector(act=KillRank, stage="ranks", start=Killer)
