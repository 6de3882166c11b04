"""The groups are those of a DeviceMesh, and the shapes are those of layers that really ran over gloo."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader.design import groups, shapes
from grader.design.layers import FAMILIES
from grader.design.tensors import COLLECTIVES, Layer
from grader.drills.picking import Pick

HERE = Path(__file__).parent
TASKS = [groups.draw(level, seed) for level in groups.LEVELS for seed in range(8)]
# Every layer at some sizes; the first seeds that give both numbers of ranks.
LAYERS = [(made, made(Pick(made.__name__, seed))) for family in FAMILIES for made in family for seed in range(4)]


def told(script: Path, asked: object) -> dict:
    """What a process says that may import torch; this one has no use for its threads and process groups."""
    ran = subprocess.run([sys.executable, str(script)], input=json.dumps(asked), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-800:]
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def meshes():
    layouts = []
    for task in TASKS:
        sizes = task.plan.degrees._asdict()
        layouts.append({"names": list(task.plan.order), "shape": [sizes[name] for name in task.plan.order]})
    return told(HERE.parent / "physics" / "torch_says.py", {"groups": layouts, "buckets": []})["groups"]


@pytest.mark.parametrize("at", range(len(TASKS)))
def test_the_groups_of_a_device_mesh_are_right_in_every_line(at, meshes):
    task, theirs = TASKS[at], dict(meshes[at])
    theirs["data"] = theirs.pop("dense")
    form = {kind: ["\n".join(" ".join(map(str, group)) for group in theirs[kind])] for kind in task.plan.kinds}
    crossing = [
        kind for kind in task.plan.kinds if any(len({r // task.plan.devices for r in g}) > 1 for g in theirs[kind])
    ]
    judged = groups.judge(task, {**form, groups.CROSSES: crossing})
    assert [line.told for line in judged.lines if not line.right] == []
    assert judged.asked == 2 * len(task.plan.kinds)


def as_json(layer: Layer) -> dict:
    traces = [
        {"name": one.name, "op": one.op, "of": one.of, "with": one.with_, "counts": one.counts} for one in layer.traces
    ]
    return {"traces": traces}


@pytest.fixture(scope="module")
def ran():
    """By layer, the shapes on each rank, as torch has them after running it."""
    by_ranks: dict[int, list[int]] = {}
    for at, (_, layer) in enumerate(LAYERS):
        by_ranks.setdefault(layer.ranks, []).append(at)
    asked = {str(ranks): [as_json(LAYERS[at][1]) for at in places] for ranks, places in by_ranks.items()}
    answer = told(HERE / "torch_traces.py", asked)
    return {
        at: [answer[str(ranks)][rank][place] for rank in range(ranks)]
        for ranks, places in by_ranks.items()
        for place, at in enumerate(places)
    }


@pytest.mark.parametrize("at", range(len(LAYERS)), ids=[f"{made.__name__}-{n}" for n, (made, _) in enumerate(LAYERS)])
def test_shapes_are_those_of_a_layer_that_ran(at, ran):
    layer = LAYERS[at][1]
    for name, by_rank in layer.shapes().items():
        assert [list(shape) for shape in by_rank] == [ranks[name] for ranks in ran[at]], name


def test_both_numbers_of_ranks_and_every_collective_ran():
    assert {layer.ranks for _, layer in LAYERS} == {2, 4}
    assert {trace.op for _, layer in LAYERS for trace in layer.traces} >= set(COLLECTIVES)


def test_a_drawn_exercise_has_all_four_collectives():
    kinds = {"dispatch": "all-to-all", "combine": "all-to-all"}
    for seed in range(40):
        task = shapes.draw(seed)
        ops = {kinds.get(t.op, t.op) for traced in task.layers for t in traced.layer.traces}
        assert {"all-gather", "reduce-scatter", "all-reduce", "all-to-all"} <= ops
