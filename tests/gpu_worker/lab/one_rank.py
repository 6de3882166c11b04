"""Jobs of one rank without a fabric, given as a list of jobs in JSON on standard input; prints the memory of each.

`python -m tests.gpu_worker.lab.one_rank`
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any


def told(job: dict[str, Any]) -> dict[str, Any]:
    from gpu_worker.jobs import memory
    from gpu_worker.jobs.loop import make_trainer

    nobody, _ = socket.socketpair()  # made-up batches are read from no store
    trainer = make_trainer({"job": job}, 0, nobody.detach())
    trainer.step()
    return memory.told(trainer.buckets.model, trainer.optimizer, trainer.step, 1)


def main() -> None:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    store = os.memfd_create("rendezvous", 0)
    dist.init_process_group("gloo", store=dist.FileStore(f"/proc/self/fd/{store}", 1), rank=0, world_size=1)
    print(json.dumps([told(job) for job in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
