"""A link that swallows everything, both ways, once some traffic has passed. No port counts a drop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene


class Blackhole(Act):
    """Each direction in `ways` (`host1->leaf0`) is silent after `after_bytes` more bytes."""

    kind: Literal["blackhole"] = "blackhole"
    ways: tuple[str, ...]
    after_bytes: int = Field(ge=1_000, le=200_000_000)


class Swallowing:
    def __init__(self, act: Blackhole, scene: Scene) -> None:
        from gpu_worker.fabric.loss import swallow

        self._swallowed = [swallow(scene.fabric, way, act.after_bytes) for way in act.ways]

    def count(self) -> Mapping[str, float]:
        return {"swallowed": sum(count() for count in self._swallowed)}

    def stop(self) -> None:
        """It goes with the fabric's networks; a phase that follows would meet it again, from its first byte."""


INJECTOR = Injector(act=Blackhole, stage="ranks", start=Swallowing)
