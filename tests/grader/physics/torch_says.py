"""A process of its own that asks torch: `python torch_says.py < questions.json`, answers as JSON.

`groups`: the groups of a DeviceMesh of each layout, every rank asked in turn, over torch's process group that sends
nothing. `buckets`: the bytes of each bucket that DDP hands to its communication hook in the first and the third step.
"""

# No postponed annotations here: DDP looks at those of a communication hook.
import json
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore


def groups(layout: dict[str, Any]) -> dict[str, list[list[int]]]:
    """`{dimension: groups, "dense": groups of data and expert flattened}`."""
    names, shape = tuple(layout["names"]), tuple(layout["shape"])
    found: dict[str, set[tuple[int, ...]]] = {}
    for rank in range(torch.Size(shape).numel()):
        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=torch.Size(shape).numel())
        mesh = init_device_mesh("cpu", shape, mesh_dim_names=names)
        dense = tuple(name for name in names if name in ("data", "expert"))
        meshes = {name: mesh[name] for name in names} | {"dense": mesh[dense]._flatten("dense")}
        for name, one in meshes.items():
            found.setdefault(name, set()).add(tuple(sorted(dist.get_process_group_ranks(one.get_group()))))
        dist.destroy_process_group()
    return {name: sorted(map(list, members)) for name, members in found.items()}


def buckets(model: dict[str, Any]) -> dict[str, list[int]]:
    """`{"first", "later"}`: bytes of the buckets in the order in which they are reduced."""
    torch.manual_seed(0)
    layers = [nn.Linear(wide, wider, bias=bias) for wide, wider, bias in model["layers"]]
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    job = DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=model["cap_mb"])
    taken: list[int] = []

    def note(_: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        taken.append(bucket.buffer().numel() * bucket.buffer().element_size())
        done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    job.register_comm_hook(None, note)
    steps = []
    for _ in range(3):
        taken.clear()
        job(torch.ones(1, model["layers"][0][0])).sum().backward()
        steps.append(list(taken))
    dist.destroy_process_group()
    sizes = [parameter.numel() * parameter.element_size() for parameter in job.module.parameters()]
    return {"sizes": sizes, "first": steps[0], "later": steps[-1]}


if __name__ == "__main__":
    torch.set_num_threads(1)
    asked = json.load(sys.stdin)
    told = {"groups": list(map(groups, asked["groups"])), "buckets": list(map(buckets, asked["buckets"]))}
    print(json.dumps(told))
