"""Splits a step into what a rank computes and what it waits for. Runs in a rank; imports torch.

In these forms the computing thread itself waits for each collective, as gloo on processors makes it: what a collective
takes is left out of the phase around it and kept as exposed communication.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch.distributed as dist
from torch import Tensor

from gpu_worker.ranks.telemetry import Scheduled, scheduled

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Group:
    """A process group of the mesh: its name, its members as ranks of the whole job, and this rank's index in it."""

    name: str
    members: tuple[int, ...]
    index: int
    process_group: dist.ProcessGroup

    @property
    def size(self) -> int:
        return len(self.members)

    def neighbour(self, step: int) -> int:
        """The rank of the job that sits `step` places further in this group."""
        return self.members[self.index + step]


class Clock:
    """Seconds of each phase of a step without its collectives, and a record of every collective."""

    def __init__(self) -> None:
        self.begin_step()

    def begin_step(self) -> None:
        self.phase_s: dict[str, float] = {"forward": 0.0, "backward": 0.0}
        self.exposed_s = 0.0
        self.spent = Scheduled(0.0, 0.0)
        self.spans: list[tuple[str, float, float]] = []
        self.collectives: list[dict[str, Any]] = []
        self._phase = ""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Computing that counts as `forward` or `backward`."""
        self._enter(name)
        yield
        self._leave()

    def _enter(self, name: str) -> None:
        self._phase, self._since, self._before = name, time.monotonic(), scheduled()

    def _leave(self) -> None:
        now, spent = time.monotonic(), scheduled() - self._before
        self.phase_s[self._phase] += now - self._since
        self.spent = Scheduled(self.spent.cpu_s + spent.cpu_s, self.spent.run_delay_s + spent.run_delay_s)
        self.spans.append((self._phase, self._since, now))
        self._phase = ""

    def wait_for(self, op: str, group: Group, size_bytes: int, act: Callable[[], AnswerT]) -> AnswerT:
        """Does a collective and keeps its record. `size_bytes` is the S of its floor f·S/B: of an all-gather or a
        reduce-scatter the whole array."""
        inside = self._phase
        if inside:
            self._leave()
        launch = time.monotonic()
        answer = act()
        done = time.monotonic()
        self.exposed_s += done - launch
        about = {"op": op, "group": group.name, "ranks": group.size}
        self.collectives.append({"bytes": size_bytes, "launch": launch, "done": done, **about})
        if inside:
            self._enter(inside)
        return answer

    def all_reduce(self, tensor: Tensor, group: Group) -> Tensor:
        """The sum over the group, in place."""

        def act() -> None:
            dist.all_reduce(tensor, group=group.process_group)

        self.wait_for("all-reduce", group, tensor.nbytes, act)
        return tensor
