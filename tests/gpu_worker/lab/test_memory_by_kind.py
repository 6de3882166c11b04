"""Where memory goes, counted on a small model in this process."""

from __future__ import annotations

import torch
from torch import nn

from gpu_worker.jobs import memory


def small() -> tuple[nn.Module, torch.optim.Optimizer, torch.Tensor]:
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    return model, torch.optim.AdamW(model.parameters()), torch.randn(32, 64)


def one_step(model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor) -> None:
    model(inputs).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)


def test_gradients_weigh_what_parameters_do_and_adam_holds_twice_that():
    model, optimizer, inputs = small()
    assert memory.standing(model, optimizer)["optimizer"] == 0
    one_step(model, optimizer, inputs)
    held = memory.standing(model, optimizer)
    weights = 4 * sum(p.numel() for p in model.parameters())
    assert held["parameters"] == held["gradients"] == weights
    assert held["optimizer"] == 2 * weights + 4 * len(list(model.parameters()))  # and a step count a tensor


def test_the_kinds_of_a_step_add_up_to_its_peak_and_activations_grow_with_the_batch():
    model, optimizer, inputs = small()
    one_step(model, optimizer, inputs)
    peaks = []
    for count in (32, 128):
        batch = torch.randn(count, 64)
        held = memory.of_a_step(model, optimizer, lambda b=batch: one_step(model, optimizer, b), [batch])
        assert sum(held[name] for name in memory.NAMES) == held["peak"]
        assert held["parameters"] == memory.standing(model, optimizer)["parameters"]
        peaks.append(held["activations"])
    assert peaks[1] > 3 * peaks[0] > 0


def test_a_storage_that_two_tensors_share_counts_once():
    whole = torch.zeros(1000)
    assert memory.storage_bytes([whole, whole[:10], whole.view(10, 100)]) == 4000
    assert memory.storage_bytes(memory.tensors_in({"a": [whole, {"b": (torch.zeros(5),)}], "n": 3})) == 4020
