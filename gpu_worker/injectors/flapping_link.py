"""One end of a link goes down for short moments, again and again, while the ranks run."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from gpu_worker.fabric.namespaces import enter_network
from gpu_worker.injectors.base import Act, Injector, Scene
from gpu_worker.injectors.counts import SharedCounts

if TYPE_CHECKING:
    from gpu_worker.fabric.build import Fabric
    from gpu_worker.fabric.plan import Port


class FlappingLink(Act):
    """The sending end of `way` (`leaf0->host1`) is down for down_s, about every every_s."""

    kind: Literal["flapping-link"] = "flapping-link"
    way: str
    down_s: float = Field(gt=0, le=0.5)
    every_s: float = Field(gt=0, le=10)


class Flaps:
    def __init__(self, act: FlappingLink, scene: Scene) -> None:
        self._fabric, self._counts = scene.fabric, SharedCounts("cpu_s")
        port, self._other_end = scene.fabric.ends_of(act.way)
        draws = random.Random(scene.seed)
        scene.fork(lambda: _flap(act, scene.fabric, port, draws, self._counts))

    def count(self) -> Mapping[str, float]:
        """How often the other end lost its carrier, by the kernel's own count."""
        name = f"{self._other_end.node}:{self._other_end.interface}"
        return {"carrier_downs": self._fabric.carrier_downs()[name], **self._counts.read()}

    def stop(self) -> None:
        """The conductor ends the child with the ranks; the fabric's networks go with the run."""


def _flap(act: FlappingLink, fabric: Fabric, port: Port, draws: random.Random, counts: SharedCounts) -> None:
    """For ever. A netlink socket of our own: the fabric's are the conductor's."""
    from pyroute2 import IPRoute

    from gpu_worker.fabric.build import set_route

    enter_network(fabric.namespaces[port.node])
    netlink, index = IPRoute(), fabric.index_of(port)
    routes = [route for route in fabric.plan.routes if route.node == port.node]
    while True:
        # Uneven, so that it does not fall in step with the job.
        time.sleep(act.every_s * draws.uniform(0.5, 1.5))
        netlink.link("set", index=index, state="down")
        time.sleep(act.down_s)
        netlink.link("set", index=index, state="up")
        for route in routes:
            set_route(netlink, route)
        counts.write(time.process_time())


INJECTOR = Injector(act=FlappingLink, stage="ranks", start=Flaps)
