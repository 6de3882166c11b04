"""Where memory goes, counted on a small model in this process."""

from __future__ import annotations

import json
import subprocess
import sys

import torch
from torch import nn

from gpu_worker.jobs import memory
from gpu_worker.specs import Job
from tests.gpu_worker.lab import one_rank


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


def test_a_model_that_each_microbatch_passes_anew_is_accounted_for_once():
    model, optimizer, inputs = small()
    one_step(model, optimizer, inputs)

    def two_microbatches() -> None:
        for part in inputs.chunk(2):
            (model(part).square().mean() / 2).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    held = memory.of_a_step(model, optimizer, two_microbatches, [inputs])
    assert sum(held[name] for name in memory.NAMES) == held["peak"]
    assert held["parameters"] == held["gradients"] == memory.standing(model, optimizer)["parameters"]


KNOBS = (
    *({}, {"accumulation": 3}, {"overlap": False}, {"overlap": False, "accumulation": 2}, {"slow_blocks": 4}),
    *({"rows_a_kernel": 24}, {"extra_backward": 20}, {"blocking_reads": 12}, {"gradient_as_bucket_view": True}),
    *({"communication_dtype": "float64"}, {"small_tensors": 112}, {"script": "b"}, {"windows": 3.5}),
    *({"bucket_cap_mb": 0.001}, {"live_objects": 1000, "collect_every": 1}),
)


def test_the_job_accounts_for_its_memory_whatever_its_knobs():
    """In a process of its own, which may compute and be a job of one rank."""
    jobs = [Job(synthetic=True, microbatch=2, **knobs).model_dump() for knobs in KNOBS]
    ran = subprocess.run(
        [sys.executable, "-m", one_rank.__name__], input=json.dumps(jobs), capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert len(found) == len(KNOBS)
    for knobs, told in zip(KNOBS, found, strict=True):
        step = told["memory"]["step"]
        assert sum(step[name] for name in memory.NAMES) == step["peak"], knobs
        assert step["parameters"] == told["memory"]["held"]["parameters"] > 0, knobs
        assert step["activations"] > 0, knobs
