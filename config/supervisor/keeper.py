"""Keeps children running until it is told to stop, then leaves nothing behind."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from config.supervisor import backoff, linux
from config.supervisor.child import Child
from config.supervisor.say import say

TICK_S = 0.1
QUIET_TICK_S = 1.0
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Keeper:
    """The loop. It uses no threads: a child's tie to its parent ends with the thread that made it."""

    def __init__(self, children: Sequence[Child]) -> None:
        self.children = list(children)
        self.errands: list[tuple[Child, Callable[[int], None]]] = []
        self.signals_seen = 0
        self.failed = False
        self._wake, self._waker = os.pipe()

    # -- signals

    def listen(self) -> None:
        """Takes the stop signals, also where a shell started us with SIGINT ignored."""
        for end in (self._wake, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for signum in STOPPING:
            signal.signal(signum, self._note)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def _note(self, *_: object) -> None:
        self.signals_seen += 1

    @property
    def stopping(self) -> bool:
        return self.signals_seen > 0 or self.failed

    def nap(self, seconds: float) -> None:
        """Until a signal comes or the time is over."""
        with suppress(InterruptedError):
            select.select([self._wake], [], [], seconds)
        with suppress(BlockingIOError):
            os.read(self._wake, 4096)

    # -- keeping

    def run(self, until: Callable[[], bool]) -> bool:
        """Keeps everything running until the condition holds; False where it was stopped first."""
        while not self.stopping:
            self.tick()
            if until():
                return not self.stopping
            self.nap(QUIET_TICK_S if self.all_settled() else TICK_S)
        return False

    def tick(self) -> None:
        now = time.monotonic()
        for child in self.children:
            self.look_at(child, now)
        self.finish_errands()
        known = {c.pid for c in [*self.children, *(e for e, _ in self.errands)] if c.pid is not None}
        linux.end_orphans(known)

    def look_at(self, child: Child, now: float) -> None:
        if child.given_up:
            return
        if child.has_died():
            self.bury(child, now)
        elif child.start_at is not None and now >= child.start_at:
            child.start()
        elif child.looks_ready():
            if child.late:
                child.late = False
                say(f"{child.service.name} answers now.")
        elif child.is_late(now) and not child.late:
            self.tell_late(child)

    def tell_late(self, child: Child) -> None:
        """What is not essential goes on trying: its Redis may come back."""
        child.late = True
        self.tell(child, f"has not answered in {child.service.ready_within_s:.0f} s")
        self.failed = self.failed or child.service.essential

    def bury(self, child: Child, now: float) -> None:
        """Plans the next start of a child that died, or gives it up by name."""
        assert child.process is not None
        code = child.process.returncode
        child.process, child.ready = None, False
        child.deaths.append(now)
        delay = backoff.delay_after(child.deaths, now)
        if delay is None:
            self.give_up(child, f"keeps ending ({ending(code)})")
            return
        child.start_at = now + delay
        say(f"{child.service.name} ended ({ending(code)}); starting it again in {delay:.1f} s. Log: {child.log}")

    def give_up(self, child: Child, why: str) -> None:
        child.given_up, child.process = True, None
        self.tell(child, why)
        self.failed = self.failed or child.service.essential

    def tell(self, child: Child, what: str) -> None:
        """What is wrong, what still works, and where to read on."""
        words = f" ({last})" if (last := child.last_words()) else ""
        say(f"{child.service.name} {what}: {child.service.without_it}. Log: {child.log}{words}")

    def all_settled(self) -> bool:
        return all(child.ready or child.given_up or child.late for child in self.children)

    # -- errands: children that end by themselves

    def send(self, errand: Child, then: Callable[[int], None]) -> None:
        """Starts a child once; `then` gets its exit code."""
        errand.start()
        self.errands.append((errand, then))

    def finish_errands(self) -> None:
        for errand, then in list(self.errands):
            if errand.process is not None and errand.process.poll() is not None:
                self.errands.remove((errand, then))
                then(errand.process.returncode)

    # -- stopping

    def stop(self) -> None:
        """Ends everything, last started first; a second signal ends it at once."""
        for child in [*(e for e, _ in self.errands), *reversed(self.children)]:
            child.ask_to_stop()
        patience = max((c.service.stop_within_s for c in self.children), default=0.0)
        deadline = time.monotonic() + patience
        seen = self.signals_seen
        while self.anything_runs() and time.monotonic() < deadline and self.signals_seen <= max(seen, 1):
            self.nap(TICK_S / 2)
        for child in [*(e for e, _ in self.errands), *self.children]:
            child.wait_stopped(deadline=0.0)
        self.kill_the_rest()

    def anything_runs(self) -> bool:
        everyone = [*(e for e, _ in self.errands), *self.children]
        return any(c.process is not None and c.process.poll() is None for c in everyone)

    def kill_the_rest(self) -> None:
        """Whatever our children left to us, however deep, until nothing is below us."""
        deadline = time.monotonic() + 5.0
        while (left := linux.descendants_of(os.getpid())) and time.monotonic() < deadline:
            for pid in left:
                linux.send(pid, signal.SIGKILL)
                linux.reap(pid)
            self.nap(0.02)


def ending(code: int) -> str:
    """An exit code or signal in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
