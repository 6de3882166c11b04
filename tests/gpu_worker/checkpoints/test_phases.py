"""What the experiments about checkpoints launch, decided purely."""

import pytest

from gpu_worker.checkpoints.knobs import Knobs, knobs_from
from gpu_worker.checkpoints.shape import SHARDS, generation_name, shards_of, step_of
from gpu_worker.errors import BadSpec
from gpu_worker.experiments.resume_replay import SAVES, compared
from gpu_worker.faults import FAULTS
from gpu_worker.lab.plan import plan_run
from gpu_worker.specs import ExperimentSpec, Fault, Setting, Topology

CHECKPOINT_FAULTS = [kind for kind in FAULTS.values() if kind.plan.__module__ == "gpu_worker.faults._checkpoint"]
EIGHT = Topology(kind="flat", hosts=8)


def planned(experiment, *faults, ranks=4):
    setting = Setting(topology=EIGHT, placement=tuple(range(ranks)))
    return plan_run(ExperimentSpec(experiment=experiment, faults=faults, setting=setting))


@pytest.mark.parametrize(("ranks", "restored_at"), [(2, [2, 4]), (4, [4, 2, 8]), (8, [8, 4])])
def test_a_replay_restores_at_the_saved_size_first_and_then_at_half_and_double(ranks, restored_at):
    phases = planned("resume-replay", ranks=ranks).phases
    assert [phase.name for phase in phases] == ["job", *(f"resume-{size}" for size in restored_at)]
    assert [len(phase.hosts) for phase in phases] == [ranks, *restored_at]
    assert all(phase.stored and phase.fed for phase in phases)


def test_another_number_of_ranks_is_packed_since_nothing_is_timed_there():
    phases = planned("resume-replay").phases
    assert [phase.packed for phase in phases] == [False, False, True, True]


def test_a_restore_begins_with_other_weights_so_that_only_the_checkpoint_can_bring_the_same_back():
    first, *resumes = planned("resume-replay").phases
    assert {phase.arguments["first_weights"] for phase in resumes}.isdisjoint({first.arguments["first_weights"]})


def test_ranks_that_cannot_share_the_shards_evenly_are_refused_with_the_numbers_that_can():
    with pytest.raises(BadSpec, match="2, 4 or 8, not 3"):
        planned("save", ranks=3)


def test_a_killed_rank_is_the_only_one_that_may_die():
    (phase,) = planned("save", Fault(cause="killed-while-saving", place="rank:2")).phases
    assert phase.mortal == (2,)
    assert planned("save").phases[0].mortal == ()


def test_a_reused_folder_has_an_earlier_job_of_other_size():
    earlier, job = planned("save", Fault(cause="stale-shards")).phases
    assert (earlier.name, len(earlier.hosts), job.name, len(job.hosts)) == ("earlier", 8, "job", 4)
    assert earlier.arguments["saves"] == [job.arguments["saves"][-1]]


@pytest.mark.parametrize("kind", CHECKPOINT_FAULTS, ids=lambda kind: kind.id)
def test_every_fault_of_checkpoints_changes_knobs_and_nothing_else(kind):
    fault = Fault(cause=kind.id, place="rank:2" if kind.place_kind == "rank" else None)
    changes = kind.plan(Setting(), fault)
    assert knobs_from(changes.checkpoint) != Knobs()
    assert not (changes.job or changes.acts or changes.link_rates or changes.placement)
    assert kind.shows and set(kind.shows).isdisjoint(kind.spares)


@pytest.mark.parametrize("kind", CHECKPOINT_FAULTS, ids=lambda kind: kind.id)
def test_a_fault_with_a_place_needs_a_rank_that_is_there_and_one_without_refuses_any(kind):
    with pytest.raises(BadSpec):
        kind.plan(Setting(), Fault(cause=kind.id, place="rank:9"))


def test_a_fault_of_checkpoints_is_not_exercised_by_the_job():
    kind = FAULTS["torn-shard"]
    fault = Fault(cause="torn-shard", place="rank:2")
    assert kind.fired(fault, {"experiment": "job"}) == {"exercised": False}


def test_two_faults_that_turn_the_same_knob_are_refused():
    with pytest.raises(BadSpec, match="the same thing"):
        planned("save", Fault(cause="optimizer-not-saved"), Fault(cause="scaler-not-saved"))


def test_two_faults_of_different_knobs_are_composed():
    (job,) = planned("save", Fault(cause="optimizer-not-saved"), Fault(cause="gather-to-rank-0")).phases
    knobs = job.arguments["knobs"]
    assert (knobs["without"], knobs["saver"]) == (("optimizer",), "gather")


def test_a_knob_that_does_not_exist_is_named():
    with pytest.raises(BadSpec, match="saver"):
        knobs_from({"saver": "by-post"})


def test_names_of_the_generations_sort_the_other_way_round_than_their_steps():
    names = [generation_name(step) for step in SAVES]
    assert sorted(names) != names
    assert [step_of(name) for name in names] == list(SAVES)
    assert step_of("step-10.staging") is None


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_every_shard_is_read_by_one_rank(ranks):
    assert [shard for rank in range(ranks) for shard in shards_of(rank, ranks)] == list(range(SHARDS))


def test_checksums_are_compared_part_by_part():
    def one(part, total, norm):
        return {"kind": "parameter", "name": "head", "part": part, "sum": total, "norm": norm}

    logged = [one(0, "aa", 2.0), one(1, "bb", 4.0)]
    restored = [one(0, "aa", 2.0), one(1, "cc", 5.0), {**one(2, "dd", 1.0), "name": "unknown"}]
    assert compared(restored, logged) == [
        {"kind": "parameter", "part": 0, "tensors": 1, "differ": 0, "norm_apart": 0.0},
        {"kind": "parameter", "part": 1, "tensors": 1, "differ": 1, "norm_apart": 0.25},
    ]


def test_a_save_comes_out_the_same_however_it_will_be_restored():
    healthy = planned("save").phases[0].arguments
    restarts = ("picked-by-glob", "shuffle-seed-redrawn", "schedule-restepped", "resumed-with-other-batch")
    for cause in restarts:
        assert planned("save", Fault(cause=cause)).phases[0].arguments == healthy, cause
        assert planned("resume-replay", Fault(cause=cause)).phases[-1].arguments["knobs"] != Knobs().model_dump(), cause
    assert planned("save", Fault(cause="scheduler-stepped-twice")).phases[0].arguments != healthy


def test_more_saves_than_planned_end_with_the_plan_s_last_one():
    planned_saves = planned("save").phases[0].arguments["saves"]
    often = planned("save", Fault(cause="saves-too-often")).phases[0].arguments["saves"]
    assert len(often) > len(planned_saves) and often[-1] == planned_saves[-1]
    assert often == list(range(often[0], often[-1] + 1))


def test_one_host_s_way_to_the_storage_is_that_of_the_rank_s_host():
    setting = Setting(topology=EIGHT, placement=(3, 1, 2, 0))
    spec = ExperimentSpec(experiment="save", faults=(Fault(cause="slow-writer", place="rank:0"),), setting=setting)
    slow, healthy = plan_run(spec), plan_run(spec.model_copy(update={"faults": ()}))
    changed = [
        cable.id for cable, other in zip(slow.fabric.cables, healthy.fabric.cables, strict=True) if cable != other
    ]
    assert changed == ["host3-mgmt"]
