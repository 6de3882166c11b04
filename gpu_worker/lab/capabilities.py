"""What this machine can do for the lab, tried rather than assumed. Imports no torch."""

from __future__ import annotations

import functools
import glob
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TRY_LIMIT_S = 30.0
REPOSITORY = Path(__file__).resolve().parents[2]


@functools.cache
def capabilities() -> dict[str, Any]:
    """JSON-ready, by name: `{"available": bool, "reason": str, …}`; `namespaces` and `packet_loss` also have `how`.

    Tried once for each process, in a process of its own.
    """
    tried = _try_namespaces()
    namespaces = {"available": tried["how"] is not None, "how": tried["how"], "reason": tried["reason"]}
    gloo = _installed("torch")
    return {
        "namespaces": namespaces,
        "token_bucket": {"available": tried["token_bucket"], "reason": tried["token_bucket_reason"]},
        "gloo": {"available": gloo, "reason": "" if gloo else "torch is not installed"},
        "nccl": _nccl(gloo),
        "nvml": _nvml(),
        "packet_loss": {
            "available": tried["packet_loss"] is not None,
            "how": tried["packet_loss"],
            "reason": tried["packet_loss_reason"],
        },
    }


def lab_can_run() -> tuple[bool, str]:
    """(whether experiments can run here, why not)."""
    found = capabilities()
    for name in ("namespaces", "token_bucket", "gloo"):
        if not found[name]["available"]:
            return False, found[name]["reason"]
    return True, ""


def _try_namespaces() -> dict[str, Any]:
    if not sys.platform.startswith("linux"):
        return _nothing("network namespaces are a feature of Linux")
    try:
        tried = subprocess.run(
            [sys.executable, "-m", "gpu_worker.lab.capabilities"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=TRY_LIMIT_S,
            check=True,
        )
        answer: dict[str, Any] = json.loads(tried.stdout)
        return answer
    except (subprocess.SubprocessError, OSError, ValueError) as problem:
        return _nothing(f"trying it failed: {problem}")


def _nothing(reason: str) -> dict[str, Any]:
    """What a machine can do that cannot even make networks."""
    return {
        "how": None,
        "reason": reason,
        "token_bucket": False,
        "token_bucket_reason": reason,
        "packet_loss": None,
        "packet_loss_reason": reason,
    }


def _try_here() -> dict[str, Any]:
    """For a fresh process: finds the way into namespaces, then builds the smallest shaped fabric there."""
    from gpu_worker.errors import LabUnavailable
    from gpu_worker.fabric.build import Fabric
    from gpu_worker.fabric.loss import lose
    from gpu_worker.fabric.namespaces import isolate
    from gpu_worker.fabric.plan import plan_fabric
    from gpu_worker.launcher.process import find_way
    from gpu_worker.specs import Topology

    how, reason = find_way()
    if how is None:
        return _nothing(reason)
    loss: str | None = None
    loss_problem = ""
    try:
        isolate(how)
        with Fabric(plan_fabric(Topology(kind="leaf-spine", leaves=2, hosts_per_leaf=1))) as fabric:
            fabric.pin_ports(20_000, 20_499)
            shaped = all(rate > 0 for rate in fabric.rates().values())
            try:
                loss = lose(fabric, "host0->leaf0", 1000)
            except LabUnavailable as missing:
                loss_problem = missing.reason
        problem = "" if shaped else "the kernel did not take the rates of the token buckets"
    except Exception as error:
        shaped, problem = False, f"a fabric could not be built: {error}"
    return {
        "how": how,
        "reason": "",
        "token_bucket": shaped,
        "token_bucket_reason": problem,
        "packet_loss": loss,
        "packet_loss_reason": loss_problem or problem,
    }


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _nccl(torch_there: bool) -> dict[str, Any]:
    devices = len(glob.glob("/dev/nvidia[0-9]*"))
    if not torch_there or devices < 2:
        return {"available": False, "reason": f"needs two or more CUDA devices; this machine has {devices}"}
    return {"available": True, "reason": ""}


def _nvml() -> dict[str, Any]:
    if not _installed("pynvml"):
        return {"available": False, "reason": "nvidia-ml-py is not installed"}
    there = bool(glob.glob("/dev/nvidia[0-9]*"))
    return {"available": there, "reason": "" if there else "this machine has no NVIDIA device"}


if __name__ == "__main__":
    print(json.dumps(_try_here()))
