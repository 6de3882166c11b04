"""Loses packets of a link at random, both ways, from before the ranks are there until the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene


class LossyLink(Act):
    """Each direction in `ways` (`host1->leaf0`) loses `per_million` of its packets."""

    kind: Literal["lossy-link"] = "lossy-link"
    ways: tuple[str, ...]
    per_million: int = Field(ge=1, le=500_000)


class Loss:
    def __init__(self, act: LossyLink, scene: Scene) -> None:
        from gpu_worker.fabric.loss import NETEM, lose

        self._lost = scene.fabric.lost
        self._by_netem = {way: lose(scene.fabric, way, act.per_million) == NETEM for way in act.ways}

    def count(self) -> Mapping[str, float]:
        """Packets lost so far, over all directions, by what lost them."""
        lost = {True: 0, False: 0}
        for way, by_netem in self._by_netem.items():
            lost[by_netem] += self._lost[way]()
        return {"lost_by_netem": lost[True], "lost_by_nftables": lost[False]}

    def stop(self) -> None:
        """It goes with the fabric's networks."""


INJECTOR = Injector(act=LossyLink, stage="fabric", start=Loss)
