"""A run as the launcher holds it: the keeper of its namespaces, the fabric in them, and the pipes to its conductor.

It is made with a fabric and no plan, so that one can be kept ready between runs: every run still gets a fabric of its
own that nothing has used before.
"""

from __future__ import annotations

import os
import select
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from gpu_worker.fabric.namespaces import die_with_parent, isolate
from gpu_worker.fabric.plan import FabricPlan, at_nominal_rates, from_dict, same_but_rates
from gpu_worker.launcher.channel import Channel, ChannelClosed, DeadlinePassed
from gpu_worker.launcher.conductor import conduct

LAST_WORDS_BYTES = 2000
BUILD_LIMIT_S = 20.0


class Kept:
    """The processes of one run, from the first namespace to the grave. `orders` and `lines` lead to its conductor."""

    def __init__(self, layout: FabricPlan, how: str, data_set: int) -> None:
        self.layout = layout
        self._words = os.memfd_create("last-words", 0)
        orders, lines = os.pipe(), os.pipe()
        launcher = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(orders[1])
            os.close(lines[0])
            os.dup2(self._words, 1)
            os.dup2(self._words, 2)
            _keep(launcher, asdict(layout), Channel(orders[0], orders[0]), Channel(lines[1], lines[1]), how, data_set)
        os.close(orders[0])
        os.close(lines[1])
        self.orders = Channel(orders[1], orders[1])
        self.lines = Channel(lines[0], lines[0])

    @classmethod
    def ready_for_another(cls, layout: FabricPlan, how: str, data_set: int) -> Kept:
        """At the rates that its links were sold at: whichever run comes next sets its own, whatever its fault."""
        return cls(at_nominal_rates(layout), how, data_set)

    def fits(self, layout: FabricPlan) -> bool:
        return same_but_rates(self.layout, layout)

    def begin(self, plan: Mapping[str, Any], since: float, *, kept_ready: bool) -> dict[str, Any]:
        """Hands the plan to its conductor, once the fabric stands: the `taken` line, or a `failed` line that says why
        there is none. The run has waited for its fabric from `since` on the monotonic clock.
        """
        try:
            built = self.lines.receive(time.monotonic() + BUILD_LIMIT_S)
        except (ChannelClosed, DeadlinePassed):
            return self.failure("the fabric could not be built")
        if built["event"] != "built":
            return built
        try:
            self.orders.send({"plan": plan, "waited_s": time.monotonic() - since, "kept_ready": kept_ready})
            return self.lines.receive(time.monotonic() + BUILD_LIMIT_S)
        except (ChannelClosed, DeadlinePassed):
            return self.failure("the run ended before it began")

    def failure(self, reason: str) -> dict[str, Any]:
        """A `failed` line with the last lines that the run's processes printed."""
        return {"event": "failed", "kind": "RunFailed", "reason": reason, "said": self.last_words()}

    def last_words(self) -> str:
        """The last of what the run's processes printed."""
        size = os.fstat(self._words).st_size
        words = os.pread(self._words, LAST_WORDS_BYTES, max(0, size - LAST_WORDS_BYTES))
        return words.decode(errors="replace").strip()

    def end(self) -> None:
        """Kills the keeper, and with it the run, and waits until the run's last process let go of the pipe."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        while os.read(self.lines.reading, 1 << 16):
            pass
        self.lines.close()
        self.orders.close()
        os.close(self._words)


class Fabrics:
    """Gives each run its `Kept`: the one that was kept ready where it fits, else a new one."""

    def __init__(self, how: str, data_set: int) -> None:
        self.how, self.data_set = how, data_set
        self._ready: Kept | None = None

    def for_run(self, plan: Mapping[str, Any]) -> tuple[Kept, dict[str, Any]]:
        """(the run's Kept, its `taken` or `failed` line)."""
        begun, layout = time.monotonic(), from_dict(plan["fabric"])
        ready, self._ready = self._ready, None
        if ready is not None:
            if ready.fits(layout) and (taken := ready.begin(plan, begun, kept_ready=True))["event"] == "taken":
                return ready, taken
            ready.end()  # of another shape, or it died: a new one will say why, should it die too
        kept = Kept(layout, self.how, self.data_set)
        return kept, kept.begin(plan, begun, kept_ready=False)

    def keep_ready(self, like: Kept) -> None:
        """Another fabric of that shape, built while nobody waits for it."""
        self._ready = Kept.ready_for_another(like.layout, self.how, self.data_set)

    def close(self) -> None:
        if self._ready is not None:
            self._ready.end()
        self._ready = None


def _keep(
    launcher: int, layout: dict[str, Any], orders: Channel, out: Channel, how: str, data_set: int
) -> None:  # never returns
    """The keeper: owns the run's namespaces, forks their first process, and takes it along when it dies."""
    try:
        isolate(how)
        die_with_parent()  # after the change of credentials, which would clear it
        if os.getppid() != launcher:
            os._exit(0)
        _fork_first(lambda: conduct(layout, orders, out, data_set))
        os.close(out.writing)
        os.wait()
    except OSError as problem:
        out.send({"event": "failed", "kind": "LabUnavailable", "reason": f"namespaces were refused: {problem}"})
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _fork_first(work: Callable[[], None]) -> None:
    """The first process of the run's own process namespace: it dies with the keeper, and everything with it."""
    lifeline, held = os.pipe()
    if os.fork():
        return
    die_with_parent()
    os.close(held)
    if not select.select([lifeline], [], [], 0)[0]:  # readable only once the keeper is gone
        work()
    os._exit(0)
