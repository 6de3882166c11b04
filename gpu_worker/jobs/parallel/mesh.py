"""Process groups over a DeviceMesh of two dimensions: data, and what the form divides. Runs in a rank."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from gpu_worker.jobs.parallel.clock import Group

DATA = "data"


def lay_groups(form: str, parallel: dict[str, Any]) -> dict[str, Group]:
    """{form: group, "data": group} of this rank. `inner` says which of the two lies over neighbouring ranks."""
    world = dist.get_world_size()
    size = parallel["group"] or world
    order = (DATA, form) if parallel["inner"] == "model" else (form, DATA)
    shape = tuple(size if name == form else world // size for name in order)
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=order)
    answer = {}
    for name in order:
        process_group = mesh.get_group(name)
        members = tuple(dist.get_process_group_ranks(process_group))
        answer[name] = Group(name, members, mesh.get_local_rank(name), process_group)
    return answer
