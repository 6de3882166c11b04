"""Cases of checkpoints from public trackers: each with its signature, and the witness that misleads."""

from __future__ import annotations

import contextlib

import pytest

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.probes import PROBES
from gpu_worker.probes._checkpoint import documents
from gpu_worker.specs import Fault, Setting

pytestmark = pytest.mark.lab

RANK_2 = "rank:2"
REPLAY = "resume-replay"


def finding(run, step):
    return PROBES[step].finding(PROBES[step].read(run, {}))


def reading(run, step, name):
    return PROBES[step].read(run, {}).readings[name].value


def resumed_at(run, ranks):
    return next(one for one in run.recorded["resumes"] if one["ranks"] == ranks)


def test_a_healthy_checkpoint_replays_bit_by_bit_and_within_tolerance_at_half_and_double_the_ranks(run):
    taken = run(REPLAY)
    assert [one["ranks"] for one in taken.recorded["resumes"]] == [4, 2, 8]
    assert finding(taken, REPLAY) == "replays"
    assert reading(taken, REPLAY, "loss_apart") == 0.0
    assert {step["overflow"] for step in taken.recorded["steps"]} == {True, False}, "the scaler never decided anything"


def test_torchtitan_275_the_rate_starts_over_while_parameters_and_samples_are_right(run):
    taken = run(REPLAY, Fault(cause="scheduler-not-saved"))
    assert finding(taken, "schedule-position") == "rate-apart"
    # The optimizer brought its last rate along; the scheduler sets its own with the step after that.
    second = resumed_at(taken, 4)["steps"][1]
    logged = next(step for step in taken.recorded["steps"] if step["step"] == 12)
    assert second["learning_rate"] != pytest.approx(logged["learning_rate"])
    assert finding(taken, "parameter-checksums") == "bit-exact"
    assert finding(taken, "sample-order") == "as-logged"


def test_kempnerforge_115_moments_are_in_the_checkpoint_and_lost_on_load(run):
    taken = run(REPLAY, Fault(cause="raw-optimizer-state"))
    kinds = taken.recorded["generations"][-1]["kinds"]
    assert kinds["optimizer"]["bytes"] > kinds["model"]["bytes"], "the moments are not in the files"
    assert finding(taken, "parameter-checksums") == "moments-differ"
    assert finding(taken, "schedule-position") == "in-step"
    assert finding(taken, "sample-order") == "as-logged"
    steps = PROBES[REPLAY].read(taken, {}).series["steps"].rows
    assert steps[0][1] == steps[0][2], "the first loss is of the restored parameters and hides it"
    assert finding(taken, REPLAY) == "diverges"


def test_torchtitan_816_the_resume_at_two_ranks_works_and_drops_positions_silently(run):
    taken = run(REPLAY, Fault(cause="loader-state-shared-key"))
    half = resumed_at(taken, 2)
    assert half["error"] is None
    assert half["at"]["step"] == 10, "the counter is right"
    logged = next(step for step in taken.recorded["steps"] if step["step"] == 11)
    assert documents(half["steps"][0]) != documents(logged)
    assert finding(taken, "sample-order") == "repeated-across-ranks"
    assert finding(taken, "schedule-position") == "in-step"


def test_megatron_bridge_3503_the_counter_is_right_and_the_data_start_over(run):
    taken = run(REPLAY, Fault(cause="sampler-ignores-offset"))
    assert finding(taken, "sample-order") == "starts-over"
    assert finding(taken, "schedule-position") == "in-step"
    assert finding(taken, "parameter-checksums") == "bit-exact"


def torn(run):
    """Whether a write is overtaken by the optimizer is chance: the first run of a few in which it was."""
    for seed in range(4):
        with contextlib.suppress(FaultDidNotFire):
            return run(REPLAY, Fault(cause="live-tensors"), setting=Setting(seed=seed))
    return pytest.fail("in four runs no write was overtaken")


@pytest.mark.long
def test_pytorch_144657_a_save_without_copies_holds_later_values_and_one_with_copies_does_not(run):
    live, copied = torn(run), run(REPLAY, Fault(cause="asynchronous-save"))
    assert finding(live, "parameter-checksums") in ("parameters-differ", "moments-differ")
    assert resumed_at(live, 4)["at"]["step"] == 10, "the checkpoint still calls itself step 10"
    assert finding(copied, "parameter-checksums") == "bit-exact"
    assert finding(copied, REPLAY) == "replays"


def test_transformers_27925_all_ranks_but_one_find_nothing_to_rename_and_the_checkpoint_is_complete(run):
    taken = run("save", Fault(cause="every-rank-renames"))
    errors = [one["error"] or "" for one in taken.recorded["saves"][-1]["by_rank"]]
    assert sum("FileNotFoundError" in error for error in errors) == 3
    assert finding(taken, "save-timings") == "save-failed"
    assert finding(taken, "checkpoint-manifest") == "complete"
    assert finding(taken, "checkpoint-contents") == "complete"


def test_deepspeed_2898_another_number_of_ranks_is_refused_and_the_saved_one_is_not(run):
    taken = run(REPLAY, Fault(cause="no-resharding"))
    assert [one["error"] is None for one in taken.recorded["resumes"]] == [True, False, False]
    assert "written in 4 parts" in resumed_at(taken, 2)["error"]
    assert finding(taken, REPLAY) == "refused-at-others"
    assert finding(taken, "parameter-checksums") == "bit-exact"


def test_opt_175b_a_save_cut_by_a_kill_is_passed_over_for_the_newest_complete_generation(run):
    taken = run(REPLAY, Fault(cause="killed-while-saving", place=RANK_2))
    assert taken.recorded["died"] == [2]
    newest = taken.recorded["generations"][-1]
    assert (newest["folder"], newest["marked"]) == ("step-10.staging", False)
    assert resumed_at(taken, 4)["restored"] == "step-8"
    assert finding(taken, "schedule-position") == "in-step"
    assert finding(taken, REPLAY) == "replays"


def test_xla_7919_an_empty_shard_in_a_marked_generation_ends_the_restore(run):
    taken = run(REPLAY, Fault(cause="empty-shard", place=RANK_2))
    newest = taken.recorded["generations"][-1]
    assert newest["marked"], "the commit mark says that all is well"
    assert finding(taken, REPLAY) == "not-restored"


def test_mixed_generations_load_without_a_word_and_only_checksums_name_the_rank(run):
    taken = run(REPLAY, Fault(cause="mixed-generations", place=RANK_2))
    assert all(one["error"] is None for one in taken.recorded["resumes"])
    assert finding(taken, "parameter-checksums") == "parameters-differ"
    assert reading(taken, "parameter-checksums", "ranks_apart") == "rank 2"


@pytest.mark.long
def test_one_writer_holds_training_up_longer_than_all_and_the_background_shortest(run):
    all_ranks, one, background = (
        run("save", *faults) for faults in ((), (Fault(cause="gather-to-rank-0"),), (Fault(cause="asynchronous-save"),))
    )
    pauses = [reading(taken, "save-timings", "pause_s") for taken in (background, all_ranks, one)]
    assert pauses[0] < 0.75 * pauses[1] < 0.35 * pauses[2]
    assert reading(one, "save-timings", "memory_growth") > 3 * reading(all_ranks, "save-timings", "memory_growth")


@pytest.mark.long
def test_slow_storage_shows_with_one_writer_and_with_all(run):
    for writers in ("one", "all"):
        healthy = run("storage-throughput", **{"with": {"writers": writers}})
        slow = run("storage-throughput", Fault(cause="slow-storage"), **{"with": {"writers": writers}})
        assert finding(healthy, "storage-throughput") == "at-rate"
        assert finding(slow, "storage-throughput") == "below-rate"


RESTARTS = {
    "nondeterministic-kernels": {REPLAY: "last-digits"},
    "shuffle-seed-redrawn": {"sample-order": "another-order"},
    "offset-counted-per-rank": {"sample-order": "other-at-other-sizes", REPLAY: "only-at-this-size"},
    "random-state-by-rank": {"sample-order": "as-logged", REPLAY: "only-at-this-size"},
    "schedule-restepped": {"schedule-position": "rate-apart", "parameter-checksums": "bit-exact"},
    "resumed-with-other-batch": {"sample-order": "fewer-a-step", "parameter-checksums": "bit-exact"},
    "resumed-with-other-settings": {
        "sample-order": "as-logged",
        "parameter-checksums": "bit-exact",
        REPLAY: "diverges",
    },
}


@pytest.mark.long
@pytest.mark.parametrize(("cause", "shown"), RESTARTS.items(), ids=lambda part: part if isinstance(part, str) else None)
def test_what_a_restart_does_otherwise_shows_in_its_own_reading(run, cause, shown):
    taken = run(REPLAY, Fault(cause=cause))
    assert {step: finding(taken, step) for step in shown} == shown


@pytest.mark.long
@pytest.mark.parametrize(
    ("cause", "shown"),
    [
        ("saves-too-often", "more-than-planned"),
        ("verified-by-every-rank", "read-back"),
    ],
)
def test_what_makes_saves_stall_more_shows_in_their_timings(run, cause, shown):
    taken = run("save", Fault(cause=cause))
    assert finding(taken, "save-timings") == shown
    assert finding(taken, "checkpoint-contents") == "complete"


@pytest.mark.long
def test_one_slow_way_to_the_storage_shows_when_all_hosts_write(run):
    found = {
        writers: finding(
            run("storage-throughput", Fault(cause="slow-writer", place=RANK_2), **{"with": {"writers": writers}}),
            "storage-throughput",
        )
        for writers in ("one", "all")
    }
    assert found == {"one": "at-rate", "all": "below-rate"}
