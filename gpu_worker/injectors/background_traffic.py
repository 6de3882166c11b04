"""Somebody else's traffic over an uplink that the ring uses: a real sender and receiver on hosts without a rank."""

from __future__ import annotations

import errno
import select
import socket
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.fabric.namespaces import enter_network
from gpu_worker.fabric.plan import FABRIC_INTERFACE
from gpu_worker.injectors.base import Act, Injector, Scene
from gpu_worker.injectors.counts import SharedCounts

if TYPE_CHECKING:
    from gpu_worker.fabric.build import Fabric
    from gpu_worker.fabric.paths import Path

SO_MAX_PACING_RATE = 47
FIRST_PORT, PORT_TRIES = 42_000, 64
BURST_BYTES, PIECE_BYTES = 256_000, 64_000
PUSH_BYTES = 256_000
ANSWER_LIMIT_S = 2.0

Pair = tuple[socket.socket, socket.socket]


class BackgroundTraffic(Act):
    """Hosts `low` (below the uplink `link`) and `far` send to each other over it, the way that flows of the ring go.

    `rate` is bits/s of payload each way, 0 for as much as TCP takes; `connections` share it.
    """

    kind: Literal["background-traffic"] = "background-traffic"
    link: str
    low: int
    far: int
    rate: float = Field(ge=0)
    connections: int = Field(default=1, ge=1, le=32)


def ways_of_the_ring(paths: Sequence[Path], link: str) -> list[str]:
    """The directions (`leaf0->spine1`) in which flows of the ring cross an uplink."""
    low, high = link.split("-")
    climbs = any(path.via[1:2] == (link,) for path in paths)
    falls = any(path.via[2:3] == (link,) for path in paths)
    return [f"{low}->{high}"] * climbs + [f"{high}->{low}"] * falls


class Traffic:
    """Connections are made one by one until their ports' hash takes them over the link; then they are filled."""

    def __init__(self, act: BackgroundTraffic, scene: Scene) -> None:
        self._counts: list[SharedCounts] = []
        for way in ways_of_the_ring(scene.paths, act.link):
            hosts = (act.low, act.far) if way.startswith(act.link.split("-")[0]) else (act.far, act.low)
            self._fill(act, scene, _connect(scene.fabric, way, hosts, act.connections))

    def _fill(self, act: BackgroundTraffic, scene: Scene, pairs: list[Pair]) -> None:
        sent, received = SharedCounts("bytes_sent", "cpu_s"), SharedCounts("bytes_received", "cpu_s")
        self._counts += [sent, received]
        scene.fork(lambda: drain([pair[1] for pair in pairs], received))
        scene.fork(lambda: push([pair[0] for pair in pairs], act.rate / act.connections, sent))
        for pair in pairs:
            for end in pair:
                end.close()

    def count(self) -> Mapping[str, float]:
        total: Counter[str] = Counter({"bytes_sent": 0, "bytes_received": 0, "cpu_s": 0})
        for counts in self._counts:
            total.update(counts.read())
        return total

    def stop(self) -> None:
        """The conductor ends the children with the ranks."""


def _connect(fabric: Fabric, way: str, hosts: tuple[int, int], wanted: int) -> list[Pair]:
    """So many connections from host to host whose bursts the counters show on `way`; leaves us in a host's network."""
    source, target = (fabric.plan.address(host, FABRIC_INTERFACE) for host in hosts)
    enter_network(fabric.namespaces[f"host{hosts[1]}"])
    pairs: list[Pair] = []
    with socket.create_server((target, 0)) as listener:
        enter_network(fabric.namespaces[f"host{hosts[0]}"])
        for port in range(FIRST_PORT, FIRST_PORT + PORT_TRIES):
            pair = _pair(listener, (source, port))
            if pair is None:
                continue
            if _takes(fabric, way, pair):
                pairs.append(pair)
                if len(pairs) == wanted:
                    return pairs
            else:
                for end in pair:
                    end.close()
    raise FaultDidNotFire(
        f"of {PORT_TRIES} ports, {len(pairs)} took background traffic over {way}; {wanted} are wanted"
    )


def _pair(listener: socket.socket, source: tuple[str, int]) -> Pair | None:
    """A connection from a port; None where that of an earlier phase still lingers on it."""
    try:
        sender = socket.create_connection(listener.getsockname(), ANSWER_LIMIT_S, source_address=source)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            return None
        raise
    receiver, _ = listener.accept()
    receiver.settimeout(ANSWER_LIMIT_S)
    return sender, receiver


def _takes(fabric: Fabric, way: str, pair: Pair) -> bool:
    """Whether a burst along the connection shows in the counter of the direction."""
    node = {way.partition("->")[0]}
    before = fabric.counters(node)[way]["bytes"]
    sender, receiver = pair
    for _ in range(BURST_BYTES // PIECE_BYTES):
        sender.sendall(bytes(PIECE_BYTES))
        left = PIECE_BYTES
        while left > 0:
            left -= len(receiver.recv(left))
    return fabric.counters(node)[way]["bytes"] - before > BURST_BYTES // 2


def push(senders: Sequence[socket.socket], rate: float, counts: SharedCounts) -> None:
    """For ever: fills the connections, each at `rate` bits/s at most (0: no limit). The kernel paces."""
    for sender in senders:
        sender.setblocking(False)
        if rate:
            sender.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, int(rate / 8))
    piece, sent = bytes(PUSH_BYTES), 0
    while True:
        for sender in select.select([], senders, [])[1]:
            sent += sender.send(piece)
        counts.write(sent, time.process_time())


def drain(receivers: Sequence[socket.socket], counts: SharedCounts) -> None:
    """For ever: takes what arrives and looks at none of it."""
    held, received = bytearray(1 << 20), 0
    while True:
        for receiver in select.select(receivers, [], [])[0]:
            # MSG_TRUNC: TCP throws the bytes away uncopied, so that a neighbour costs little processor time.
            received += receiver.recv_into(held, 0, socket.MSG_TRUNC)
        counts.write(received, time.process_time())


INJECTOR = Injector(act=BackgroundTraffic, stage="ranks", start=Traffic)
