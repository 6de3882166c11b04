"""What the probes read of jobs in other forms than plain DDP, on runs made by hand from the forms' own rules."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_worker import figures
from gpu_worker.probes import PROBES
from gpu_worker.specs import Job, Parallel, Setting, Topology, WholeRun
from grader.physics import pipeline_bubble
from tests.gpu_worker.probes.conftest import made_job

FORWARD_S, BACKWARD_S, RATE = 0.010, 0.020, 400_000_000


def run_of(form: str, ranks: list[dict[str, Any]], **parallel: Any) -> WholeRun:
    """A job of that form; each rank is {"groups": …, and fields of its single step}."""
    base = made_job()
    topology = Topology(kind="flat", hosts=len(ranks), link_rate=RATE)
    job, placement = Job(parallel=Parallel(form=form, **parallel)), tuple(range(len(ranks)))
    setting = Setting(topology=topology, placement=placement, baseline_placement=placement, job=job, baseline_job=job)
    made = [_rank(base.ranks[0], number, dict(rank)) for number, rank in enumerate(ranks)]
    hosts = [{"host": number, "leaf": number // 2} for number in placement]
    fabric = {**base.fabric, "placement": list(placement), "hosts": hosts}
    spec = base.spec.model_copy(update={"setting": setting})
    return base.model_copy(update={"spec": spec, "ranks": made, "fabric": fabric})


def _rank(like: dict[str, Any], number: int, fields: dict[str, Any]) -> dict[str, Any]:
    groups = fields.pop("groups")
    brief = [entry("all-reduce", "data", 2, 1000, 1e-4)]
    step = {**like["steps"][0], "start": 0.0, "spans": [], "collectives": brief, **fields}
    return {**like, "rank": number, "host": number, "groups": groups, "steps": [step]}


def pipeline(stages: int, microbatches: int) -> WholeRun:
    """GPipe's order with nothing but computing: passes of equal length, transfers for free."""
    drained = (microbatches + stages - 1) * FORWARD_S
    ranks = []
    for stage in range(stages):
        forward = [("forward", (stage + k) * FORWARD_S, (stage + k + 1) * FORWARD_S) for k in range(microbatches)]
        waits = stages - 1 - stage
        backward = [
            ("backward", drained + (waits + k) * BACKWARD_S, drained + (waits + k + 1) * BACKWARD_S)
            for k in range(microbatches)
        ]
        fields = {"stage": stage, "layers": 8 // stages, "microbatches": microbatches, "spans": [*forward, *backward]}
        ranks.append({"groups": {"pipeline": list(range(stages)), "data": [stage]}, **fields})
    return run_of("pipeline", ranks, microbatches=microbatches)


@pytest.mark.parametrize("stages", [2, 4])
@pytest.mark.parametrize("microbatches", [1, 2, 8])
def test_the_bubble_of_an_ideal_pipeline_is_the_formulas(stages, microbatches):
    run = pipeline(stages, microbatches)
    for probe in ("per-rank-step-times", "overlap-trace"):
        readings = PROBES[probe].read(run, {}).readings
        wanted = pipeline_bubble(stages, microbatches).step_share
        assert readings["bubble_share"].value == pytest.approx(wanted)
        assert readings["bubble_formula"].value == pytest.approx(wanted)


@pytest.mark.parametrize(("microbatches", "finding"), [(1, "serial"), (2, "inconclusive"), (8, "overlapped")])
def test_stages_that_never_compute_at_once_are_serial(microbatches, finding):
    result = PROBES["overlap-trace"].read(pipeline(2, microbatches), {})
    assert PROBES["overlap-trace"].finding(result) == finding
    drawn = PROBES["overlap-trace"].figure(result, {})
    assert [trace["name"] for trace in drawn["data"]] == ["forward", "backward"]
    assert "role:" not in str(figures.themed(drawn, "dark"))


def entry(op: str, group: str, ranks: int, size: int, seconds: float) -> dict[str, Any]:
    return {"op": op, "group": group, "ranks": ranks, "bytes": size, "launch": 0.0, "done": seconds}


def tensor(inner: str) -> WholeRun:
    near, far = [[0, 1], [2, 3]], [[0, 2], [1, 3]]
    tensors, data = (near, far) if inner == "model" else (far, near)
    ranks = []
    for rank in range(4):
        groups = {"tensor": next(g for g in tensors if rank in g), "data": next(g for g in data if rank in g)}
        collectives = [entry("all-reduce", "tensor", 2, 1_000_000, 0.04), entry("all-reduce", "data", 2, 500_000, 0.01)]
        ranks.append({"groups": groups, "collectives": collectives, "spans": [("forward", 0.0, 0.1)]})
    return run_of("tensor", ranks, group=2)


def test_a_groups_time_stands_beside_its_floor_and_its_hosts():
    series = PROBES["per-rank-step-times"].read(tensor("data"), {}).series["groups"]
    rows = {(row[0], row[1]): row for row in series.rows}
    assert set(rows) == {("tensor", "0, 2"), ("tensor", "1, 3"), ("data", "0, 1"), ("data", "2, 3")}
    row = rows["tensor", "1, 3"]
    assert row[2] == "host1, host3" and row[6] == pytest.approx(0.04)
    assert row[7] == pytest.approx(8e6 / RATE) and row[8] == pytest.approx(0.5)


def test_a_placement_map_follows_the_rings_of_the_groups_that_there_are():
    probe = PROBES["placement-map"]
    found = [probe.read(tensor(inner), {}) for inner in ("model", "data")]
    assert [probe.finding(one) for one in found] == ["as-before", "more-hops"]
    assert [one.readings["hops_now"].value for one in found] == [4, 12]


def test_arrivals_refuse_a_job_whose_ranks_never_meet_in_one_collective():
    with pytest.raises(ValueError, match="no collective that all its ranks enter"):
        PROBES["collective-arrivals"].read(tensor("model"), {})


def test_tokens_by_expert_are_summed_over_the_ranks_that_send_them():
    ranks = [
        {"groups": {"expert": [0, 1], "data": [rank]}, "tokens_to_expert": sent, "spans": [("forward", 0.0, 0.1)]}
        for rank, sent in enumerate(([30, 70], [10, 90]))
    ]
    result = PROBES["per-rank-step-times"].read(run_of("expert", ranks), {})
    assert result.readings["busiest_expert_share"].value == pytest.approx(0.8)
    assert result.readings["busiest_expert"].value == "expert 1"
    assert result.series["experts"].rows == (("expert 0", 40, 0.2), ("expert 1", 160, 0.8))


def test_an_uneven_context_holds_as_many_tokens_and_more_attention():
    ranks = [
        {"groups": {"context": [0, 1], "data": [rank]}, "tokens": 512, "attends_to": reach, "spans": []}
        for rank, reach in enumerate((256.0, 768.0))
    ]
    readings = PROBES["per-rank-step-times"].read(run_of("context", ranks), {}).readings
    assert (readings["tokens_ratio"].value, readings["attention_ratio"].value) == (1.0, 3.0)
