"""Jobs of other forms and their faults on real ranks: groups, bubbles, tokens, memory, and the job at other sizes."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from gpu_worker.faults import FAULTS
from gpu_worker.jobs.layout import groups
from gpu_worker.jobs.shape import DIMENSIONS, GRADIENT_BYTES
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import ProbeResult
from gpu_worker.specs import Fault, Job, Parallel, Setting, WholeRun, parse_key
from grader.physics import pipeline_bubble, zero_memory

pytestmark = pytest.mark.lab

SHORT = {"measured_steps": 2, "warmup_steps": 1}
PLANS = ("too-few-microbatches",)
LONGER_PLANS = ("tensor-group-across-hosts", "slow-last-stage", "hot-expert", "uneven-context-shards")


def trial_run(run: Any, cause: str, *, faulted: bool) -> WholeRun:
    """The fault's trial, or its healthy form, with few steps."""
    trial = FAULTS[cause].trial
    job = trial.setting.job.model_copy(update=SHORT)
    setting = trial.setting.model_copy(update={"job": job, "baseline_job": job})
    faults = (Fault(cause=cause, place=trial.place, params=dict(trial.params)),) if faulted else ()
    return run("job", *faults, setting=setting)


def read(run: WholeRun, variant: str) -> tuple[str, ProbeResult]:
    name, with_ = parse_key(variant)
    result = PROBES[name].read(run, with_)
    return PROBES[name].finding(result), result


@pytest.mark.parametrize("cause", [*PLANS, *(pytest.param(plan, marks=pytest.mark.long) for plan in LONGER_PLANS)])
def test_a_fault_of_a_plan_shows_where_it_says_and_spares_the_rest(run, cause):
    healthy, faulted = trial_run(run, cause, faulted=False), trial_run(run, cause, faulted=True)
    assert faulted.fired[cause].get("exercised") is not False
    for variant in FAULTS[cause].shows:
        assert read(faulted, variant)[0] not in (read(healthy, variant)[0], "inconclusive")
    for variant in FAULTS[cause].spares:
        assert read(faulted, variant)[0] == read(healthy, variant)[0]


@pytest.mark.parametrize("faulted", [False, True])
@pytest.mark.long
def test_the_groups_that_ranks_make_are_those_of_the_plan(run, faulted):
    taken = trial_run(run, "tensor-group-across-hosts", faulted=faulted)
    laid = groups(Parallel(form="tensor", group=2, inner="data" if faulted else "model"), 4)
    for rank in taken.ranks:
        for name, own in rank["groups"].items():
            assert own in laid[name] and rank["rank"] in own


@pytest.mark.long
def test_a_tensor_group_across_hosts_spends_longer_in_its_collectives_and_trains_the_same(run):
    """The misleading witness: link rates are nominal and all ranks alike. Losses prove that the work is the same."""
    healthy, faulted = (trial_run(run, "tensor-group-across-hosts", faulted=f) for f in (False, True))
    inside = [_inside(taken, "tensor") for taken in (healthy, faulted)]
    assert inside[1] > 1.8 * inside[0]
    assert _inside(faulted, "data") < _inside(healthy, "data")
    assert _losses(healthy) == _losses(faulted)


def _losses(taken: WholeRun) -> list[float]:
    return sorted({round(step["loss"], 3) for rank in taken.ranks for step in rank["steps"]})


def _inside(taken: WholeRun, group: str) -> float:
    rows = read(taken, "per-rank-step-times")[1].series["groups"].rows
    return max(row[6] for row in rows if row[0] == group)


def test_a_bubble_is_the_formulas_where_each_stage_has_a_core(run):
    faulted = trial_run(run, "too-few-microbatches", faulted=True)
    measured = read(faulted, "overlap-trace")[1].readings["bubble_share"].value
    assert measured == pytest.approx(pipeline_bubble(2, 1).step_share, rel=0.15)


@pytest.mark.long
def test_a_hot_expert_gets_most_tokens_and_computes_while_the_others_wait_for_it(run):
    healthy, faulted = (trial_run(run, "hot-expert", faulted=f) for f in (False, True))
    share = [
        read(taken, "per-rank-step-times")[1].readings["busiest_expert_share"].value for taken in (healthy, faulted)
    ]
    assert share[0] < 0.32 and share[1] > 0.6
    waits = [median(step["exposed_s"] for step in rank["steps"]) for rank in faulted.ranks]
    assert min(waits) == waits[2] and sorted(waits)[1] > 1.2 * waits[2]


@pytest.mark.long
def test_fsdp2_gathers_weights_twice_and_scatters_gradients_once(run):
    """All but the last unit are gathered again for the backward pass; each collective stands against its floor."""
    setting = Setting(job=Job(parallel=Parallel(form="fsdp2"), **SHORT))
    taken = run("job", setting=setting)
    moved = dict.fromkeys(("all-gather", "reduce-scatter"), 0)
    for entry in taken.ranks[0]["steps"][0]["collectives"]:
        moved[entry["op"]] += entry["bytes"]
    assert moved["reduce-scatter"] == pytest.approx(GRADIENT_BYTES, rel=0.01)
    assert 1.8 * GRADIENT_BYTES < moved["all-gather"] <= 2.02 * GRADIENT_BYTES
    rows = read(taken, "per-rank-step-times")[1].series["groups"].rows
    fraction = {row[3]: row[8] for row in rows}
    assert fraction["all-gather"] > 0.7  # a late rank is waited for in it
    assert 0.3 < fraction["reduce-scatter"] < 0.55  # gloo moves an all-reduce for it
    losses = [step["loss"] for step in taken.ranks[0]["steps"]]
    assert losses[-1] < losses[0] < 5.6


@pytest.mark.long
def test_memory_is_held_as_zero_says_and_a_full_gather_fills_one_rank(run):
    taken = run("memory", setting=Setting(job=Job(measured_steps=1, warmup_steps=1)))
    for form, stage in (("ddp", 0), ("fsdp2", 3)):
        wanted = zero_memory(DIMENSIONS.parameters, 4, stage, optimizer_bytes=8, weight_bytes=4, gradient_bytes=4)
        for rank in taken.recorded[form]:
            assert sum(rank["held"].values()) == pytest.approx(wanted, rel=0.01)
            assert rank["step"]["peak"] > sum(rank["held"].values()) + rank["step"]["activations"]
    gathered = [rank["gather"]["peak_bytes"] for rank in taken.recorded["fsdp2"]]
    assert gathered[0] == pytest.approx(3 * GRADIENT_BYTES, rel=0.01) and max(gathered[1:]) < 0.1 * gathered[0]
    assert all(rank["gather"]["copied_bytes"] == 0 for rank in taken.recorded["ddp"])
    for form, shards in (("ddp", 1), ("fsdp2", 4)):
        for rank in taken.recorded[form]:
            assert rank["staging"]["copied_bytes"] == pytest.approx(3 * GRADIENT_BYTES / shards, rel=0.01)


@pytest.mark.long
def test_a_ladder_without_the_waits_for_cores_loses_only_to_communication(run):
    taken = run("scaling-ladder", setting=Setting(job=Job(**SHORT)), **{"with": {"kind": "weak"}})
    finding, result = read(taken, "scaling-ladder[kind=weak]")
    assert finding == "communication-bound"
    assert result.readings["compute_growth"].value < 1.4  # beyond it the finding would be another
    assert result.readings["efficiency"].value > 1.3 * result.readings["efficiency_as_timed"].value
    assert [row[0] for row in result.series["rungs"].rows] == [1, 2, 4]


@pytest.mark.long
def test_a_degraded_link_is_gone_on_one_host(run):
    setting = Setting(job=Job(**SHORT))
    slow = Fault(cause="degraded-link", place="link:host1-leaf0", params={"rate": 120e6})
    assert read(run("single-node-baseline", setting=setting), "single-node-baseline")[0] == "within-floor"
    assert read(run("single-node-baseline", slow, setting=setting), "single-node-baseline")[0] == "beyond-floor"
