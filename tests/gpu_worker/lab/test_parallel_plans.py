"""How jobs of other forms are laid out and refused: pure, no rank is started."""

from __future__ import annotations

import pytest

from gpu_worker.errors import BadSpec
from gpu_worker.experiments.scaling_ladder import rungs
from gpu_worker.faults import FAULTS
from gpu_worker.jobs.layout import groups
from gpu_worker.jobs.shape import PIPELINE_DIMENSIONS, context_slices, stage_layers
from gpu_worker.lab.plan import plan_run
from gpu_worker.specs import ExperimentSpec, Fault, Job, Parallel, Setting, Topology

PLANS = ("tensor-group-across-hosts", "slow-last-stage", "too-few-microbatches", "hot-expert", "uneven-context-shards")


def spec(parallel: Parallel, *faults: Fault, ranks: int = 4, experiment: str = "job", **more) -> ExperimentSpec:
    setting = Setting(
        topology=Topology(hosts_per_leaf=4), placement=tuple(range(ranks)), job=Job(parallel=parallel, **more)
    )
    with_ = {"kind": "strong"} if experiment == "scaling-ladder" else {}
    return ExperimentSpec(experiment=experiment, with_=with_, setting=setting, faults=faults)


def test_inner_groups_hold_neighbours_and_outer_ones_every_so_manieth():
    inside = groups(Parallel(form="tensor", group=2), 8)
    assert inside == {"tensor": [[0, 1], [2, 3], [4, 5], [6, 7]], "data": [[0, 2, 4, 6], [1, 3, 5, 7]]}
    across = groups(Parallel(form="tensor", group=2, inner="data"), 8)
    assert across == {"data": [[0, 1, 2, 3], [4, 5, 6, 7]], "tensor": [[0, 4], [1, 5], [2, 6], [3, 7]]}


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("last", [0, 1])
def test_every_layer_is_on_one_stage(stages, last):
    if stages == 1 and last:
        return
    split = stage_layers(stages, last)
    assert len(split) == stages and sum(split) == PIPELINE_DIMENSIONS.layers and min(split) >= 1


@pytest.mark.parametrize("shards", ["balanced", "contiguous"])
def test_context_shards_cover_every_token_once(shards):
    held = [t for rank in range(4) for first, end in context_slices(shards, 6144, 4, rank) for t in range(first, end)]
    assert sorted(held) == list(range(6144))


@pytest.mark.parametrize(
    ("parallel", "complaint"),
    [
        (Parallel(form="tensor", group=3), "groups of 3 do not divide 4 ranks"),
        (Parallel(form="pipeline", microbatches=7), "do not divide into 7 microbatches"),
        (Parallel(form="pipeline", last_stage_layers=6), "do not make 4 stages"),
        (Parallel(form="expert", hot_expert=4), "there is no expert 4"),
    ],
)
def test_a_layout_that_cannot_be_is_refused_with_its_repair(parallel, complaint):
    with pytest.raises(BadSpec, match=complaint):
        plan_run(spec(parallel))


@pytest.mark.parametrize("cause", PLANS)
def test_a_fault_of_a_plan_refuses_a_job_of_another_form(cause):
    place = "rank:1" if FAULTS[cause].place_kind == "rank" else None
    with pytest.raises(BadSpec, match="needs a job laid out as"):
        plan_run(spec(Parallel(), Fault(cause=cause, place=place)))


@pytest.mark.parametrize("cause", PLANS)
def test_a_fault_of_a_plan_changes_that_plan_alone(cause):
    kind = FAULTS[cause]
    healthy = plan_run(ExperimentSpec(experiment="job", setting=kind.trial.setting))
    faulted = plan_run(
        ExperimentSpec(
            experiment="job",
            setting=kind.trial.setting,
            faults=(Fault(cause=cause, place=kind.trial.place, params=kind.trial.params),),
        )
    )
    assert faulted.job.parallel != healthy.job.parallel
    assert faulted.job.model_copy(update={"parallel": healthy.job.parallel}) == healthy.job
    assert faulted.fabric == healthy.fabric and faulted.placement == healthy.placement


def test_a_ladder_halves_its_ranks_and_a_strong_one_keeps_the_whole_batch():
    assert rungs(8) == [8, 4, 2, 1] and rungs(6) == [6, 4, 2, 1] and rungs(2) == [2, 1]
    plan = plan_run(spec(Parallel(), ranks=8, experiment="scaling-ladder"))
    assert [len(phase.hosts) * phase.job.microbatch for phase in plan.phases] == [64] * 4
    with pytest.raises(BadSpec, match="another microbatch"):
        plan_run(spec(Parallel(), ranks=8, experiment="scaling-ladder", microbatch=16))
