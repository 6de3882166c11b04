"""One end of a cable takes smaller packets than the other sends: large ones vanish, small ones pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene


class MtuMismatch(Act):
    """The receiving end of `way` (`host1->leaf0`) has an MTU of `mtu` bytes; the sending end keeps its own."""

    kind: Literal["mtu-mismatch"] = "mtu-mismatch"
    way: str
    mtu: int = Field(ge=576, le=1499)


class Refusal:
    def __init__(self, act: MtuMismatch, scene: Scene) -> None:
        from gpu_worker.fabric.loss import refuse_large

        self._dropped = refuse_large(scene.fabric, act.way, act.mtu)

    def count(self) -> Mapping[str, float]:
        return {"too_large": self._dropped()}

    def stop(self) -> None:
        """It goes with the fabric's networks."""


INJECTOR = Injector(act=MtuMismatch, stage="ranks", start=Refusal)
