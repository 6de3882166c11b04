"""A process of its own that runs layers for real: `python torch_traces.py < layers.json`, shapes by rank as JSON.

Each rank of a layer is a process; tensors travel over gloo. The operations are those of torch, and nothing here looks
at what `grader.design` makes of a shape.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as processes


def given(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    torch.manual_seed(rank)
    return torch.randn(trace["with"])


def all_gather(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    (dimension,) = trace["with"]
    shards = [torch.empty_like(of[0]) for _ in range(ranks)]
    dist.all_gather(shards, of[0].contiguous())
    return torch.cat(shards, dimension)


def reduce_scatter(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    (dimension,) = trace["with"]
    pieces = [piece.contiguous() for piece in of[0].chunk(ranks, dimension)]
    kept = torch.empty_like(pieces[0])
    dist.reduce_scatter(kept, pieces)
    return kept


def all_reduce(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    whole = of[0].clone()
    dist.all_reduce(whole)
    return whole


def all_to_all(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    cut, joined = trace["with"]
    sent = torch.stack([piece.contiguous() for piece in of[0].chunk(ranks, cut)])
    received = torch.empty_like(sent)
    dist.all_to_all_single(received, sent)
    return torch.cat(list(received), joined)


def _rows(tensor: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
    out = tensor.new_empty((sum(received), *tensor.shape[1:]))
    dist.all_to_all_single(out, tensor.contiguous(), received, sent)
    return out


def dispatch(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    counts = trace["counts"]
    return _rows(of[0], counts[rank], [row[rank] for row in counts])


def combine(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    counts = trace["counts"]
    return _rows(of[0], [row[rank] for row in counts], counts[rank])


def linear(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    return torch.nn.Linear(of[0].shape[-1], trace["with"][0], bias=False)(of[0])


def by_weight(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    return torch.nn.functional.linear(of[0], of[1])


def weight_gradient(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    outputs, inputs = of
    weight = torch.nn.Parameter(torch.randn(outputs.shape[-1], inputs.shape[-1]))
    torch.nn.functional.linear(inputs, weight).sum().backward()
    assert weight.grad is not None
    return weight.grad


def heads(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    return of[0].unflatten(-1, (-1, trace["with"][0]))


def merged(of: list[torch.Tensor], trace: dict[str, Any], rank: int, ranks: int) -> torch.Tensor:
    return of[0].flatten(-2)


OPS = {name.replace("_", "-"): run for name, run in list(globals().items()) if callable(run) and name[0] != "_"}


def trace_layers(rank: int, ranks: int, layers: list[dict[str, Any]], folder: str) -> None:
    """One rank: every layer's tensors in turn, their shapes written to the folder."""
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks)
    shapes = []
    for layer in layers:
        tensors: dict[str, torch.Tensor] = {}
        for trace in layer["traces"]:
            tensor = OPS[trace["op"]]([tensors[name] for name in trace["of"]], trace, rank, ranks)
            tensors[trace["name"]] = tensor.detach()
        shapes.append({name: list(tensor.shape) for name, tensor in tensors.items()})
    dist.barrier()
    dist.destroy_process_group()
    Path(folder, f"{rank}.json").write_text(json.dumps(shapes))


def on_ranks(ranks: int, layers: list[dict[str, Any]]) -> list[list[dict[str, list[int]]]]:
    """Shapes by rank, then by layer."""
    with tempfile.TemporaryDirectory() as folder:
        processes.start_processes(trace_layers, (ranks, layers, folder), nprocs=ranks, start_method="fork")
        return [json.loads(Path(folder, f"{rank}.json").read_text()) for rank in range(ranks)]


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    print(json.dumps({ranks: on_ranks(int(ranks), layers) for ranks, layers in asked.items()}))
