"""What one rank does from its fork to its last word. Runs in a host's network namespace; imports torch."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from importlib import import_module
from typing import Any

from gpu_worker.fabric.namespaces import enter_network
from gpu_worker.launcher.blackbox import BlackBox
from gpu_worker.launcher.channel import Channel
from gpu_worker.ranks.telemetry import interfaces_in_use

# Enough to stand out among acknowledgements, yet sent in a few milliseconds.
TOUCH_BYTES = 256_000


def run_rank(
    plan: dict[str, Any],
    rank: int,
    namespace: int,
    store: str,
    channel: Channel,
    source: int | None,
    box: BlackBox | None = None,
) -> None:
    """Joins the process group and serves the conductor: `touch` a peer, then `go` through the experiment.

    `plan` is one phase of a RunPlan as a dict; `namespace` the descriptor of the host's network; `store` the
    rendezvous file; `source` the socket that this rank's batches come from; `box` is given where the phase may hang.
    """
    enter_network(namespace)
    if box is None:
        _serve(plan, rank, store, channel, source)
        return
    from gpu_worker.ranks.blackbox import dump_on_error, install

    install(box)
    with dump_on_error(box):
        _serve({**plan, "checkpoint_store": box.storage.fileno()}, rank, store, channel, source)


def _serve(plan: dict[str, Any], rank: int, store: str, channel: Channel, source: int | None) -> None:
    plan = {**plan, "job": plan["ranks"][rank]["job"]}
    import torch
    import torch.distributed as dist

    torch.set_num_threads(plan["job"]["threads"])
    torch.manual_seed(plan["seed"])
    _join(dist, plan, rank, store)
    channel.send({"event": "ready"})
    _touch_until_told_to_go(torch, dist, rank, channel)
    result = _body(plan["body"])(plan, rank, channel, source)
    afterwards = result.pop("afterwards", None)
    addresses = {a: i for i, a in plan["ranks"][rank]["addresses"].items()}
    channel.send({"event": "done", "result": {**result, "interface": interfaces_in_use(addresses)}})
    if plan["afterwards"]:
        wait_for(channel, "look back")
        channel.send({"event": "looked back", "result": afterwards()})
    # The peers may still be talking to this rank: it leaves only when the conductor ends the run.
    wait_for(channel, "never")


def _join(dist: Any, plan: dict[str, Any], rank: int, store: str) -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = plan["ranks"][rank]["interface"]
    if plan["job"]["flight_recorder_entries"]:
        os.environ["TORCH_FR_BUFFER_SIZE"] = str(plan["job"]["flight_recorder_entries"])
    if plan["job"]["distributed_debug"] != "off":
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = plan["job"]["distributed_debug"].upper()
        dist.set_debug_level_from_env()
    may_hang = plan["hang_after_s"] is not None
    limit_s = plan["job"]["collective_timeout_s"] if may_hang else plan["deadline_s"]
    size = len(plan["ranks"])
    dist.init_process_group(
        "gloo",
        store=dist.FileStore(store, size),
        rank=rank,
        world_size=size,
        timeout=timedelta(seconds=limit_s),
    )


def _touch_until_told_to_go(torch: Any, dist: Any, rank: int, channel: Channel) -> None:
    message = torch.zeros(TOUCH_BYTES, dtype=torch.uint8)
    while True:
        order = wait_for(channel, "touch", "go")
        if order["order"] == "go":
            return
        if order["source"] == rank:
            dist.send(message, order["target"])
        else:
            dist.recv(message, order["source"])
        channel.send({"event": "touched"})


def _body(where: str) -> Any:
    """`module:function` of a phase."""
    module, _, function = where.partition(":")
    return getattr(import_module(module), function)


def wait_for(channel: Channel, *orders: str) -> dict[str, Any]:
    """The next order of the conductor. A rank waits for ever: the conductor's deadline ends it."""
    order = channel.receive(time.monotonic() + 1e6)
    assert order["order"] in orders, order
    return order


def measure_when_all_are_warm(channel: Channel) -> None:
    """Tells the conductor that warming up is over, and waits until it has read its counters."""
    channel.send({"event": "warm"})
    wait_for(channel, "measure")
