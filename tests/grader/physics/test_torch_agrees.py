"""Groups and buckets are those that torch itself makes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader import physics

MEBIBYTE = 1 << 20
LAYOUTS = [
    {"world": 8},
    {"world": 16, "tensor": 2, "pipeline": 2, "expert": 2},
    {"world": 24, "tensor": 2, "pipeline": 3, "context": 2, "expert": 2},
    {"world": 24, "tensor": 2, "context": 3, "expert": 2, "order": "tensor-data-context-expert-pipeline"},
    {"world": 16, "tensor": 4, "pipeline": 2, "order": "pp,dp,tp"},
    {"world": 12, "tensor": 2, "expert": 3, "order": "expert-tensor-data"},
]
# Layers of one size, and tensors both far under and over the cap.
MODELS = [
    {"layers": [[512, 512, True]] * 8, "cap_mb": 2},
    {"layers": [[64, 2048, True], [2048, 1024, False], [1024, 16, True]], "cap_mb": 1},
    {"layers": [[1024, 1024, False]] * 9, "cap_mb": None},
    {"layers": [[16, 16, True]] * 4, "cap_mb": 25},
]


def names_and_shape(layout):
    sizes = {name: layout.get(name, 1) for name in ("pipeline", "data", "expert", "context", "tensor")}
    sizes["data"] = layout["world"] // (sizes["pipeline"] * sizes["expert"] * sizes["context"] * sizes["tensor"])
    short = {"pp": "pipeline", "dp": "data", "tp": "tensor"}
    order = layout.get("order", "-".join(sizes)).replace(",", "-").split("-")
    named = [short.get(name, name) for name in order]
    names = [*(name for name in sizes if name not in named), *named]
    return {"names": names, "shape": [sizes[name] for name in names]}


@pytest.fixture(scope="module")
def torch_says():
    """In a process of its own: this one has no use for torch's threads and its default process group."""
    asked = {"groups": [names_and_shape(layout) for layout in LAYOUTS], "buckets": MODELS}
    script = Path(__file__).with_name("torch_says.py")
    ran = subprocess.run([sys.executable, str(script)], input=json.dumps(asked), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-400:]  # torch repeats itself at length
    return json.loads(ran.stdout)


@pytest.mark.parametrize("at", range(len(LAYOUTS)), ids=[str(layout) for layout in LAYOUTS])
def test_groups_are_those_of_a_device_mesh(at, torch_says):
    ours, theirs = physics.parallel_groups(**LAYOUTS[at]), torch_says["groups"][at]
    for name in ("tensor", "context", "expert", "pipeline"):
        assert getattr(ours, name) == theirs[name]
    assert ours.expert_data == theirs["data"]
    assert ours.data == theirs["dense"]
    assert (ours.data_parallel, ours.expert_data_parallel) == (len(ours.data[0]), len(ours.expert_data[0]))


@pytest.mark.parametrize("at", range(len(MODELS)), ids=[str(model["cap_mb"]) for model in MODELS])
def test_buckets_are_those_that_ddp_reduces(at, torch_says):
    theirs, cap_mb = torch_says["buckets"][at], MODELS[at]["cap_mb"]
    cap_bytes = None if cap_mb is None else cap_mb * MEBIBYTE
    assert physics.ddp_buckets_of(sizes_bytes=theirs["sizes"], cap_bytes=cap_bytes).sizes_bytes == theirs["later"]
    assert theirs["first"] == [sum(theirs["sizes"])]
