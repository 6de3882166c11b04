"""Watches the measured part of a phase that may hang, and keeps what is known of every rank when it ends.

Nobody is interrupted: ranks end by themselves (finish, raise at the library's time-out, die), or are found hanging once
`hang_after_s` has passed. While they run, and again where nothing moves any more, every rank is asked twice where it
is: its Python stacks by a signal, its Flight Recorder and its threads by its second thread.
"""

from __future__ import annotations

import os
import re
import select
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpu_worker.launcher.blackbox import DUMP, USAGE, BlackBox
from gpu_worker.launcher.channel import ChannelClosed
from gpu_worker.launcher.flight import entries_of, torchfrtrace

if TYPE_CHECKING:
    from gpu_worker.launcher.conductor import Ranks

STACKS_SIGNAL = signal.SIGUSR1
STALL_S = 1.0  # nothing heard from any rank for so long: they hang, and are asked where
BETWEEN_DUMPS_S = 0.6
ANSWER_S = 1.0
POLL_S = 0.002
NEVER = 1 << 30
TRAINING_FRAME = " in run_rank\n"
# The last line of a traceback, as the interpreter prints it.
RAISED = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception|Exit|Interrupt))\b:? ?(.*)")


@dataclass
class Seen:
    """What is known of one rank. Times are on the monotonic clock."""

    steps: int = 0
    said: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] | None = None
    result: dict[str, Any] = field(default_factory=dict)
    cpu_before_s: float = 0.0
    cpu_s: float = 0.0
    gone: bool = False


class Watch:
    """Of one phase. Make it once the measured part has begun; `until_it_ends`, then `results`."""

    def __init__(self, ranks: Ranks, phase: dict[str, Any]) -> None:
        self._ranks, self._boxes = ranks, ranks.boxes
        self._seen = [Seen() for _ in self._boxes]
        self._begun = self._heard = time.monotonic()
        self._ends_at = min(self._begun + phase["hang_after_s"], ranks.deadline)
        self._ask_at_step = phase["arguments"].get("ask_at_step", NEVER)
        self._second_at: float | None = None
        self._asked_at_step = self._stalled = False
        self._dumps: list[list[dict[str, Any] | None]] = []
        self._dumped_at: list[float] = []

    def until_it_ends(self) -> None:
        """Returns when every rank has ended in one way or another, or the time is over."""
        self._read_usage_before()
        while any(seen.end is None for seen in self._seen) and time.monotonic() < self._ends_at:
            self._hear()
            self._dump_where_due()
        if self._second_at is not None:
            self._dump_again()
        for seen in self._seen:
            seen.end = seen.end or {"how": "hung", "at": time.monotonic()}
        self._read_usage_after()

    def results(self) -> list[dict[str, Any]]:
        """Of each rank: how it ended, its log, stacks and Flight Recorder, its result where it has one, its usage."""
        analysis = torchfrtrace(self._flights(), len(self._seen))
        for box in self._boxes:
            box.drain_log()
        return [self._result(rank, analysis) for rank in range(len(self._seen))]

    def _alive(self) -> list[int]:
        return [rank for rank, seen in enumerate(self._seen) if not seen.gone]

    def _hear(self) -> None:
        """Waits until something arrives or is due, and takes it."""
        channels = {rank: self._ranks.channels[rank] for rank in self._alive()}
        wait_s = max(0.0, self._next_due() - time.monotonic())
        listening: list[Any] = [*channels.values(), *self._open_logs()]
        ready = select.select(listening, [], [], wait_s)[0]
        for box in self._boxes:
            if box in ready:
                box.read_log()
        for rank, channel in channels.items():
            if channel in ready:
                self._hear_rank(rank)

    def _next_due(self) -> float:
        stall_at = self._ends_at if self._stalled else self._heard + STALL_S
        return min(self._ends_at, stall_at, self._second_at or self._ends_at)

    def _open_logs(self) -> list[BlackBox]:
        """A pipe whose writer is gone is always readable: only the logs of the living are waited for."""
        return [self._boxes[rank] for rank in self._alive()]

    def _hear_rank(self, rank: int) -> None:
        channel = self._ranks.channels[rank]
        try:
            channel.fill()
        except ChannelClosed:
            self._bury(rank)
        while (message := channel.take()) is not None:
            self._take(rank, message)

    def _take(self, rank: int, message: dict[str, Any]) -> None:
        seen, self._heard = self._seen[rank], time.monotonic()
        if message["event"] == "step":
            seen.steps = message["done"]
            if rank == 0:
                self._ranks.tell_progress({**message, "event": "progress"})
        elif message["event"] == "done":
            seen.result, seen.end = message["result"], {"how": "finished", "at": time.monotonic()}
        else:
            seen.said.append(message)

    def _bury(self, rank: int) -> None:
        """A rank whose process has ended: by a signal, by an exception, or because it left."""
        seen, box, now = self._seen[rank], self._boxes[rank], time.monotonic()
        status, cpu_s = self._ranks.reap(rank)
        seen.gone, seen.cpu_s, self._heard = True, cpu_s, now
        box.drain_log()
        end = _how_it_ended(status, box)
        seen.end = {**end, "at": now}
        box.log.append((now, f"[launcher] rank {rank} {_told(end)}"))

    def _dump_where_due(self) -> None:
        now = time.monotonic()
        if self._second_at is not None:
            if now >= self._second_at:
                self._dump_again()
        elif not self._stalled and now - self._heard >= STALL_S:
            self._stalled = True
            self._dump_first()
        elif not self._asked_at_step and self._seen[0].steps >= self._ask_at_step:
            self._asked_at_step = True
            self._dump_first()

    def _dump_first(self) -> None:
        self._dumps, self._dumped_at = [], []
        self._dump()
        self._second_at = time.monotonic() + BETWEEN_DUMPS_S

    def _dump_again(self) -> None:
        self._second_at = None
        self._dump()

    def _dump(self) -> None:
        """Asks every living rank where it is."""
        alive, offsets = self._alive(), [box.stacks_size() for box in self._boxes]
        self._dumped_at.append(time.monotonic())
        for rank in alive:
            self._boxes[rank].ask(DUMP)
        deadline = time.monotonic() + ANSWER_S
        answers = {rank: self._boxes[rank].answer(deadline) for rank in alive}
        # Only then the stacks: their handler walks the frames of every thread without the interpreter's lock, and
        # a second thread that is answering meanwhile changes its own under it, which can kill the rank.
        for rank in alive:
            os.kill(self._ranks.pids[rank], STACKS_SIGNAL)
        deadline = time.monotonic() + ANSWER_S
        dumps: list[dict[str, Any] | None] = [None] * len(self._seen)
        for rank, answer in answers.items():
            if answer is not None:
                dumps[rank] = {**answer, "stacks": _await_stacks(self._boxes[rank], offsets[rank], deadline)}
        self._dumps.append(dumps)

    def _flights(self) -> dict[int, bytes]:
        """The last Flight Recorder dump of each rank that left one: as asked, else as it raised."""
        found = {}
        for rank, box in enumerate(self._boxes):
            asked = self._dumps[-1][rank] if self._dumps else None
            data = asked["flight"] if asked else box.last_dump()
            if data:
                found[rank] = data
        return found

    def _result(self, rank: int, analysis: dict[str, Any]) -> dict[str, Any]:
        seen, box = self._seen[rank], self._boxes[rank]
        assert seen.end is not None
        dumps = [dumps[rank] for dumps in self._dumps]
        return {
            **seen.result,
            "usage": {"process_cpu_s": max(0.0, seen.cpu_s - seen.cpu_before_s)},
            "end": {**seen.end, "at": seen.end["at"] - self._begun},
            "steps_done": seen.steps,
            "said": seen.said,
            "log": [(at - self._begun, line) for at, line in box.log if at >= self._begun],
            "dumps": [_readable(dump, at - self._begun) for dump, at in zip(dumps, self._dumped_at, strict=True)],
            "at_exit": entries_of(box.last_dump()),
            "stalled": self._stalled,
            "torchfrtrace": analysis,
        }

    def _read_usage_before(self) -> None:
        for rank, cpu_s in self._usage().items():
            self._seen[rank].cpu_before_s = self._seen[rank].cpu_s = cpu_s

    def _read_usage_after(self) -> None:
        for rank, cpu_s in self._usage().items():
            self._seen[rank].cpu_s = cpu_s

    def _usage(self) -> dict[int, float]:
        alive = self._alive()
        for rank in alive:
            self._boxes[rank].ask(USAGE)
        deadline = time.monotonic() + ANSWER_S
        answers = {rank: self._boxes[rank].answer(deadline) for rank in alive}
        return {rank: answer["process_cpu_s"] for rank, answer in answers.items() if answer}


def _await_stacks(box: BlackBox, offset: int, deadline: float) -> str:
    """What the signal's handler wrote, once the thread that trains is in it: it may answer after the other thread."""
    while TRAINING_FRAME not in (text := box.stacks_from(offset)) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return text


def _how_it_ended(status: int, box: BlackBox) -> dict[str, Any]:
    """From a wait status: `died` by a signal, `raised` with the exception's own line, or `left`."""
    if os.WIFSIGNALED(status):
        return {"how": "died", "signal": os.WTERMSIG(status)}
    if (code := os.WEXITSTATUS(status)) == 0:
        return {"how": "left", "exit_code": 0}
    raised = [match for _, line in box.log if (match := RAISED.match(line))]
    said = {"exception": raised[-1][1], "text": raised[-1][2]} if raised else {}
    return {"how": "raised", "exit_code": code, **said}


def _told(end: dict[str, Any]) -> str:
    if end["how"] == "died":
        return f"was ended by signal {end['signal']} ({signal.Signals(end['signal']).name})"
    return f"exited with code {end['exit_code']}"


def _readable(dump: dict[str, Any] | None, at: float) -> dict[str, Any] | None:
    if dump is None:
        return None
    return {
        "at": at,
        "flight": entries_of(dump["flight"]),
        "threads": dump["threads"],
        "stacks": dump["stacks"],
    }
