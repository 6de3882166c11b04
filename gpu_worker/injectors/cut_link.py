"""Drops everything that a link should carry from a step on: both ends' buckets keep no packet. The link stays up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene


class CutLink(Act):
    """The cable `link` drops all packets, both ways, when `at_step` measured steps are done."""

    kind: Literal["cut-link"] = "cut-link"
    link: str
    at_step: int = Field(ge=1)


class Cut:
    def __init__(self, act: CutLink, scene: Scene) -> None:
        self._act, self._fabric = act, scene.fabric
        self._cuts = 0

    def progressed(self, steps: int) -> None:
        if steps >= self._act.at_step and not self._cuts:
            self._fabric.cut(self._act.link)
            self._cuts = 1

    def count(self) -> Mapping[str, float]:
        """Cuts made, and packets dropped at either end of the link so far."""
        a, b = self._act.link.split("-")
        counters = self._fabric.counters({a, b})
        drops = {name: counters[name]["drops"] for name in (f"{a}->{b}", f"{b}->{a}")}
        return {"cuts": self._cuts, "dropped_forward": drops[f"{a}->{b}"], "dropped_back": drops[f"{b}->{a}"]}

    def stop(self) -> None:
        if self._cuts:
            self._fabric.mend(self._act.link)


INJECTOR = Injector(act=CutLink, stage="ranks", start=Cut)
