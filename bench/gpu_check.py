"""What the lab can do on a machine with CUDA devices, in one go: `python -m bench.gpu_check [RANKS]`, in a few minutes.

Prints JSON: capabilities, the training job's step by phase on the device (CUDA events), and NVML before, during and
after. With two devices or more every rank has its own and NCCL carries the collectives; on one device the ranks share
it for compute and gloo carries the collectives. Where there is no device it refuses with one line and exit code 1.

It was written without a device at hand and has not been run on one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

RANKS, STEPS, WARM_UP = 2, 20, 3
# Large enough that a device has something to do; the lab's own batch is made for half a core.
MICROBATCH = 256
LIMIT_S = 420


class NoDevice(Exception):
    """There is nothing to check; the text says why."""


def devices() -> int:
    """Number of CUDA devices that torch can use. Raises NoDevice."""
    import torch

    if torch.version.cuda is None:
        raise NoDevice(f"torch {torch.__version__} is built without CUDA; install a CUDA build to check a device")
    if not torch.cuda.is_available():
        raise NoDevice("torch sees no CUDA device; see nvidia-smi")
    return torch.cuda.device_count()


def backend_for(count: int) -> str:
    """NCCL refuses two ranks on one device."""
    return "nccl" if count >= 2 else "gloo"


def check(ranks: int) -> dict[str, Any]:
    """Raises NoDevice."""
    count = devices()
    backend = backend_for(count)
    world = min(ranks, count) if backend == "nccl" else ranks
    before = telemetry()
    with tempfile.TemporaryDirectory(prefix="r37-") as folder:
        results, during = _run_ranks(world, backend, Path(folder))
    return {
        "capabilities": _capabilities(),
        "devices": count,
        "ranks": world,
        "backend": backend,
        "shared_device": count < world,
        "job": results,
        "nvml": {"before": before, "during": during, "after": telemetry()},
    }


def telemetry() -> Any:
    """NVML's reading of every device, or the reason why there is none."""
    from gpu_worker.ranks.devices import read_devices

    try:
        return [device.to_dict() for device in read_devices()]
    except Exception as problem:  # NVML raises classes of its own, one for each code
        return {"unknown": str(problem)}


def _capabilities() -> dict[str, Any]:
    from gpu_worker.lab.capabilities import capabilities

    return capabilities()


def _run_ranks(world: int, backend: str, folder: Path) -> tuple[list[dict[str, Any]], Any]:
    command = [sys.executable, "-m", "bench.gpu_check", "--rank"]
    processes = [
        subprocess.Popen([*command, str(rank), str(world), backend, str(folder)], stdout=subprocess.PIPE)
        for rank in range(world)
    ]
    try:
        during = _while_busy(folder)
        outputs = [process.communicate(timeout=LIMIT_S)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    if any(process.returncode for process in processes):
        raise RuntimeError(f"a rank ended with code {max(abs(p.returncode) for p in processes)}")
    return [json.loads(output) for output in outputs], during


def _while_busy(folder: Path) -> Any:
    """Read once rank 0 says that it measures."""
    deadline = time.monotonic() + LIMIT_S
    while not (folder / "measuring").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    return telemetry()


def run_rank(rank: int, world: int, backend: str, folder: Path) -> dict[str, Any]:
    """One rank's medians over the measured steps, in seconds by CUDA events."""
    import torch
    import torch.distributed as dist

    from gpu_worker.jobs.model import ByteModel
    from gpu_worker.jobs.shape import DIMENSIONS

    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    torch.set_default_device(device)
    store = dist.FileStore(str(folder / "rendezvous"), world)
    dist.init_process_group(backend, store=store, rank=rank, world_size=world, timeout=timedelta(seconds=120))
    model = torch.nn.parallel.DistributedDataParallel(ByteModel(), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    tokens = torch.randint(DIMENSIONS.vocabulary, (MICROBATCH, DIMENSIONS.context + 1))
    steps = []
    for number in range(WARM_UP + STEPS):
        if number == WARM_UP and rank == 0:
            (folder / "measuring").touch()
        steps.append(_step(torch, model, optimizer, tokens))
    dist.destroy_process_group()
    kept = steps[WARM_UP:]
    return {
        "rank": rank,
        "device": torch.cuda.get_device_name(device),
        "steps": len(kept),
        **{name: round(median(step[name] for step in kept), 6) for name in kept[0]},
        "peak_memory_bytes": torch.cuda.max_memory_allocated(device),
    }


def _step(torch: Any, model: Any, optimizer: Any, tokens: Any) -> dict[str, float]:
    """Backward holds the reduction of the gradients, as DDP overlaps it."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)]
    marks[0].record()
    loss = model(tokens)
    marks[1].record()
    loss.backward()
    marks[2].record()
    optimizer.step()
    optimizer.zero_grad()
    marks[3].record()
    torch.cuda.synchronize()
    spans = [start.elapsed_time(end) / 1000 for start, end in pairwise(marks)]
    return {"forward_s": spans[0], "backward_and_reduce_s": spans[1], "optimizer_s": spans[2], "loss": float(loss)}


def main(argv: list[str]) -> int:
    if argv[:1] == ["--rank"]:
        rank, world, backend, folder = argv[1:]
        print(json.dumps(run_rank(int(rank), int(world), backend, Path(folder))))
        return 0
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        told = check(int(argv[0]) if argv else RANKS)
    except NoDevice as reason:
        print(f"no GPU check here: {reason}", file=sys.stderr)
        return 1
    print(json.dumps(told, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
