"""Conducts one run: the first process of its own process namespace, so that the run dies whole with it.

Builds the fabric, forks the ranks into it, checks the flows' paths, injects what the plan says, reads the kernel's
counters around the measured part, and reports to the launcher in JSON lines.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from gpu_worker.errors import FaultDidNotFire, LabError, RunFailed
from gpu_worker.fabric import plan as fabric_plan
from gpu_worker.fabric.build import Fabric
from gpu_worker.fabric.flows import FlowReader
from gpu_worker.fabric.namespaces import die_with_parent
from gpu_worker.fabric.paths import Path, PathFinder, are_as_wanted, static_paths
from gpu_worker.injectors.base import Scene
from gpu_worker.lab.machine import processor_times
from gpu_worker.launcher.blackbox import BlackBox, make_box
from gpu_worker.launcher.channel import Channel, ChannelClosed
from gpu_worker.launcher.disk import open_storage
from gpu_worker.launcher.hang import Watch
from gpu_worker.launcher.injections import Injections
from gpu_worker.ranks.body import run_rank
from gpu_worker.ranks.source import serve_ranks
from gpu_worker.ranks.storage import serve_storage

FIRST_PORT = 20_000
PORTS_A_TRY = 500
PATH_TRIES = 40
STORE_PATH = "/proc/self/fd/{}"


class Helpers:
    """Children of the conductor beside the ranks: stores, injectors, traffic. All end with the block."""

    def __init__(self) -> None:
        self._pids: list[int] = []

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def fork(self, work: Callable[[], None]) -> int:
        self._pids.append(_fork(work))
        return self._pids[-1]

    def end(self) -> None:
        while self._pids:
            _kill_and_reap(self._pids.pop())


class Ranks:
    """The forked ranks of one try, and the processes that serve them."""

    def __init__(self, plan: dict[str, Any], fabric: Fabric, data_set: int, deadline: float) -> None:
        self.deadline = deadline
        self.hosts = tuple(place["host"] for place in plan["ranks"])
        self.seed = plan["seed"]
        self.pids: list[int] = []
        self.channels: list[Channel] = []
        self.boxes: list[BlackBox] = []  # of a phase that may hang
        self.reaped: set[int] = set()  # ranks that ended by themselves
        self.helpers = Helpers()
        self._progress: Callable[[dict[str, Any]], None] = lambda _: None
        # A file without a name: nothing to remove, whatever happens to the run.
        store = os.memfd_create("rendezvous", 0)
        try:
            self._fork_all(plan, fabric, data_set, STORE_PATH.format(store))
        finally:
            os.close(store)

    def scene(self, fabric: Fabric, paths: list[Path]) -> Scene:
        """Where an act of the stage `ranks` is applied; what it forks ends with the ranks."""
        return Scene(fabric, self.hosts, tuple(self.pids), self.helpers.fork, self.seed, tuple(paths))

    def _fork_all(self, plan: dict[str, Any], fabric: Fabric, data_set: int, store: str) -> None:
        feeds = [socket.socketpair() for _ in plan["ranks"]] if plan["fed"] else []
        if feeds:
            rates = {int(rank): rate for rank, rate in plan["source_rates"].items()}
            self.helpers.fork(lambda: serve_ranks(data_set, _keep(feeds, 0), rates, plan["shared_sources"]))
            # Before the ranks are forked: a rank that held the store's ends too would never see it hang up.
            for ours, _ in feeds:
                ours.close()
        for rank, place in enumerate(plan["ranks"]):
            ours, theirs = socket.socketpair()
            namespace = fabric.namespaces[f"host{place['host']}"]
            channel = Channel(theirs.fileno(), theirs.fileno())
            source = feeds[rank][1].fileno() if feeds else None
            box = self._box(plan, place)
            self.pids.append(
                _fork(lambda r=rank, n=namespace, c=channel, s=source, b=box: run_rank(plan, r, n, store, c, s, b))  # type: ignore[misc]
            )
            theirs.close()
            if box:
                box.close_writing()
            descriptor = ours.detach()
            self.channels.append(Channel(descriptor, descriptor))
        for _, theirs in feeds:
            theirs.close()

    def _box(self, plan: dict[str, Any], place: dict[str, Any]) -> BlackBox | None:
        """A black box, and the store of checkpoints behind it, for a rank of a phase that may hang."""
        if plan["hang_after_s"] is None:
            return None
        box = make_box()
        self.boxes.append(box)
        rate = place["job"]["storage_bytes_per_s"]
        self.helpers.fork(lambda: serve_storage(box.keep_store(), rate))
        box.store.close()
        return box

    def report_progress_to(self, listener: Callable[[dict[str, Any]], None]) -> None:
        self._progress = listener

    def tell_progress(self, message: dict[str, Any]) -> None:
        self._progress(message)

    def reap(self, rank: int) -> tuple[int, float]:
        """Of a rank that ended by itself: its wait status, and the processor time in seconds that it used."""
        _, status, used = os.wait4(self.pids[rank], 0)
        self.reaped.add(rank)
        return status, used.ru_utime + used.ru_stime

    def order(self, order: str, *ranks: int, **more: Any) -> None:
        for rank in ranks or range(len(self.channels)):
            self.channels[rank].send({"order": order, **more})

    def gather(self, event: str, *ranks: int, mortal: Sequence[int] = ()) -> list[dict[str, Any]]:
        """One message called `event` from each rank, in the order of ranks. Raises RunFailed.

        The result of a `mortal` rank that died instead is `{"died": True}`.
        """
        wanted = list(ranks or range(len(self.channels)))
        got: dict[int, dict[str, Any]] = {}
        while len(got) < len(wanted):
            for rank in wanted:
                while rank not in got and (message := self.channels[rank].take()) is not None:
                    if message["event"] == event:
                        got[rank] = message
                    else:
                        self._progress(message)
            missing = [rank for rank in wanted if rank not in got]
            if missing:
                got |= {rank: {"result": {"died": True}} for rank in self._fill(missing, event, mortal)}
        return [got[rank] for rank in wanted]

    def _fill(self, ranks: list[int], event: str, mortal: Sequence[int]) -> list[int]:
        """Reads what has arrived; returns the mortal ranks that died."""
        left = self.deadline - time.monotonic()
        ready = select.select([self.channels[r] for r in ranks], [], [], max(0.0, left))[0] if left > 0 else []
        if not ready:
            raise RunFailed(f"the run passed its deadline while rank {ranks[0]} was expected to be {event}")
        died = []
        for rank in ranks:
            if self.channels[rank] in ready:
                try:
                    self.channels[rank].fill()
                except ChannelClosed:
                    if rank not in mortal:
                        self._repeat_last_words(rank)
                        raise RunFailed(f"rank {rank} died before it was {event}") from None
                    died.append(rank)
        return died

    def _repeat_last_words(self, rank: int) -> None:
        """On the standard error stream, where they become part of the run's failure."""
        for box in self.boxes[rank : rank + 1]:
            box.drain_log()
            print("\n".join(line for _, line in box.log), file=sys.stderr, flush=True)

    def end(self) -> None:
        """Kills the ranks and their helpers, and waits until they are gone."""
        # A rank that ended by itself is left out: its number may belong to another process by now.
        alive = [pid for rank, pid in enumerate(self.pids) if rank not in self.reaped]
        for pid in alive:
            os.kill(pid, 9)  # all before any is waited for: they give back their memory side by side
        for pid in alive:
            _kill_and_reap(pid)
        self.helpers.end()
        for channel in self.channels:
            channel.close()
        for box in self.boxes:
            box.close()
        self.pids, self.channels, self.boxes = [], [], []


def conduct(layout: dict[str, Any], orders: Channel, out: Channel, data_set: int) -> None:
    """Builds the fabric, says so, waits for the plan, says so, and sends `progress` lines and then one `result` or
    `failed`.
    """
    begun = time.monotonic()
    try:
        with Fabric(fabric_plan.from_dict(layout)) as fabric:
            built_s = time.monotonic() - begun
            out.send({"event": "built"})
            order = orders.receive(time.monotonic() + 1e6)
            out.send({"event": "taken"})
            result = _run(order["plan"], out, data_set, fabric, order["waited_s"])
            out.send({"event": "result", "result": {**result, "built_s": built_s, "kept_ready": order["kept_ready"]}})
    except ChannelClosed:
        return  # the launcher needs another fabric, or is gone
    except LabError as problem:
        out.send({"event": "failed", "kind": type(problem).__name__, "reason": problem.reason})
    except OSError as problem:
        out.send({"event": "failed", "kind": "RunFailed", "reason": f"the fabric could not be built: {problem}"})


def _run(plan: dict[str, Any], out: Channel, data_set: int, fabric: Fabric, waited_s: float) -> dict[str, Any]:
    """`fabric_s` is what this run waited for its fabric: for its building, or for its rates to be set and checked."""
    deadline = time.monotonic() + plan["deadline_s"]
    begun = time.monotonic()
    fabric.take_rates_of(fabric_plan.from_dict(plan["fabric"]))
    fabric_s = waited_s + time.monotonic() - begun
    with Helpers() as helpers, Injections(plan["acts"]) as injections:
        injections.start("fabric", Scene(fabric, (), (), helpers.fork, plan["phases"][0]["seed"], ()))
        storage = open_storage(fabric, helpers.fork) if any(phase["stored"] for phase in plan["phases"]) else None
        orders = [{**phase, "storage": storage} for phase in plan["phases"]]
        phases = [_run_phase(plan, phase, fabric, injections, data_set, deadline, out) for phase in orders]
        return {"phases": phases, "fabric_s": fabric_s, "launch_s": sum(phase["launch_s"] for phase in phases)}


def _run_phase(
    plan: dict[str, Any],
    phase: dict[str, Any],
    fabric: Fabric,
    injections: Injections,
    data_set: int,
    deadline: float,
    out: Channel,
) -> dict[str, Any]:
    begun = time.monotonic()
    out.send({"event": "progress", "phase": "ranks", "done": 0, "total": 1})
    phase = {**phase, **{name: plan[name] for name in ("source_rates", "shared_sources")}}
    ranks, paths, tries = _launch_on_good_paths(phase, fabric, data_set, deadline)
    launch_s = time.monotonic() - begun
    ranks.report_progress_to(lambda message: _on_progress(message, out, injections))
    injections.start("ranks", ranks.scene(fabric, paths))
    try:
        measured, results_of = _measure(phase, fabric, ranks, injections)
        injections.stop("ranks")  # a rank that is throttled would take its time to look back, too
        results = _look_back(ranks, results_of()) if phase["afterwards"] else results_of()
    finally:
        injections.stop("ranks")
        ranks.end()
    return {
        **measured,
        "ranks": results,
        "name": phase["name"],
        "paths": [path.to_dict() for path in paths],
        "port_tries": tries,
        "launch_s": launch_s,
    }


def _launch_on_good_paths(
    plan: dict[str, Any], fabric: Fabric, data_set: int, deadline: float
) -> tuple[Ranks, list[Path], int]:
    """Ranks whose ring flows share no uplink (or do, where the plan says so) and cross what they must; other ports
    until then."""
    for number in range(PATH_TRIES):
        first = FIRST_PORT + (plan["seed"] + number) % PATH_TRIES * PORTS_A_TRY
        fabric.pin_ports(first, first + PORTS_A_TRY - 1)
        ranks = Ranks(plan, fabric, data_set, deadline)
        ranks.gather("ready")
        paths = _find_paths(plan, fabric, ranks)
        if are_as_wanted(fabric.plan, paths, plan["must_cross"], collide=plan["collide"]):
            return ranks, paths, number + 1
        ranks.end()
    wanted = f" and crosses {', '.join(plan['must_cross'])}" if plan["must_cross"] else ""
    flows = "two of whose flows share an uplink" if plan["collide"] else "whose flows keep apart"
    raise FaultDidNotFire(f"no choice of ports in {PATH_TRIES} gave a ring {flows}{wanted}")


def _find_paths(plan: dict[str, Any], fabric: Fabric, ranks: Ranks) -> list[Path]:
    hosts = [place["host"] for place in plan["ranks"]]
    interface = plan["ranks"][0]["interface"]
    known = static_paths(fabric.plan, hosts, interface)
    finder = PathFinder(fabric)
    return [path if path.known else finder.find(path, hosts, ranks) for path in known]


def _on_progress(message: dict[str, Any], out: Channel, injections: Injections) -> None:
    """Shown to whoever waits, and told to the acts that wait for a certain step."""
    out.send({**message, "phase": "measuring"})
    injections.progressed(message.get("done", 0))


def _measure(
    phase: dict[str, Any], fabric: Fabric, ranks: Ranks, injections: Injections
) -> tuple[dict[str, Any], Callable[[], list[dict[str, Any]]]]:
    """(what the kernel counted meanwhile, the ranks' own results: to be worked out once nothing is measured)."""
    ranks.order("go")
    with FlowReader(fabric.plan, fabric.namespaces) as flows:  # made while they warm up
        ranks.gather("warm")
        sent = flows.sent()
        before, processors, begun, counted = fabric.counters(), processor_times(), time.monotonic(), injections.counts()
        injections.begin()
        ranks.order("measure")
        results_of = _gather_results(ranks, phase) if phase["hang_after_s"] is None else _watch(ranks, phase)
        wall_s, after, processors_after = time.monotonic() - begun, fabric.counters(), processor_times()
        between = flows.between(sent, flows.sent())
    measured = {
        "counters": _difference(before, after),
        "flows": between,
        "carrier_downs": fabric.carrier_downs(),
        "rates": fabric.rates(),
        "processors": processors_after.since(processors),
        "measured_wall_s": wall_s,
        "injected": injections.since(counted),
    }
    return measured, results_of


def _gather_results(ranks: Ranks, phase: dict[str, Any]) -> Callable[[], list[dict[str, Any]]]:
    results = [message["result"] for message in ranks.gather("done", mortal=phase["mortal"])]
    return lambda: results


def _look_back(ranks: Ranks, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results with what each rank still finds out about itself, now that nothing is measured any more."""
    ranks.order("look back")
    looked = ranks.gather("looked back")
    return [{**result, **message["result"]} for result, message in zip(results, looked, strict=True)]


def _watch(ranks: Ranks, phase: dict[str, Any]) -> Callable[[], list[dict[str, Any]]]:
    """Its results are worked out later: reading the dumps is no part of what is measured."""
    watch = Watch(ranks, phase)
    watch.until_it_ends()
    return watch.results


def _difference(before: dict[str, dict[str, int]], after: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Counters over the measured part; a backlog is a level and stays as it was read last."""
    return {
        name: {key: value if key == "backlog_bytes" else value - before[name][key] for key, value in counters.items()}
        for name, counters in after.items()
    }


def _keep(pairs: list[tuple[socket.socket, socket.socket]], side: int) -> list[socket.socket]:
    """Of each pair the sockets of one side; the others are closed, so that a hang-up is seen."""
    for pair in pairs:
        pair[1 - side].close()
    return [pair[side] for pair in pairs]


def _fork(work: Callable[[], None]) -> int:
    """A child of the conductor that does `work` and exits; what it has to say goes to the standard error stream."""
    pid = os.fork()
    if pid:
        return pid
    try:
        die_with_parent()
        work()
        os._exit(0)
    except ChannelClosed:
        os._exit(1)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _kill_and_reap(pid: int) -> None:
    try:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
