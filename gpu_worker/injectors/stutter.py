"""Stops the processes of a host for moments of irregular length, thick in bad spells and rare in good ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Literal

from pydantic import Field

from gpu_worker.injectors.base import Act, Injector, Scene
from gpu_worker.injectors.stop_continue import LONGEST_OFF_S, Pause, Throttle

SHORTEST_OFF_S = 0.002
GOOD_SHARE = 0.05


class Stutter(Act):
    """Bad spells in which `host` is stopped for `share` of the time, and good ones in which it hardly is.

    A bad spell lasts half to one and a half times `spell_s`, a good one the same of `rest_s`; each stop is at most
    `longest_off_s`.
    """

    kind: Literal["stutter"] = "stutter"
    host: int
    share: float = Field(gt=0, lt=1)
    spell_s: float = Field(gt=0)
    rest_s: float = Field(gt=0)
    longest_off_s: float = Field(gt=SHORTEST_OFF_S, le=LONGEST_OFF_S)


def irregular(act: Stutter, seed: int) -> Callable[[Callable[[], float]], Iterator[Pause]]:
    """Pauses drawn from a seed. They depend on no clock: stops are made of what they themselves last."""

    def pauses(_: Callable[[], float]) -> Iterator[Pause]:
        draw = random.Random(f"stutter {seed}")
        bad = draw.random() < 0.5
        while True:
            bad = not bad
            left_s = (act.spell_s if bad else act.rest_s) * draw.uniform(0.5, 1.5)
            share = act.share if bad else GOOD_SHARE
            while left_s > 0:
                off_s = draw.uniform(SHORTEST_OFF_S, act.longest_off_s)
                on_s = draw.expovariate(1.0) * off_s * (1 - share) / share
                left_s -= on_s + off_s
                yield on_s, off_s

    return pauses


def start(act: Stutter, scene: Scene) -> Throttle:
    return Throttle(act.host, scene, irregular(act, scene.seed))


INJECTOR = Injector(act=Stutter, stage="ranks", start=start)
