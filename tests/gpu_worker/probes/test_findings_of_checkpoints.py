"""Each fault of checkpoints is told by the probes that should tell it, on really measured runs, and by no other."""

import pytest

from gpu_worker.faults import FAULTS
from gpu_worker.probes import PROBES
from gpu_worker.specs import experiment_key
from tests.gpu_worker.probes.conftest import CHECKPOINTS, load

HEALTHY = {
    "save": {
        "checkpoint-manifest": "complete",
        "checkpoint-contents": "complete",
        "save-timings": "every-rank-writes",
    },
    "resume-replay": {
        "resume-replay": "replays",
        "sample-order": "as-logged",
        "schedule-position": "in-step",
        "parameter-checksums": "bit-exact",
    },
    "storage-throughput": {"storage-throughput": "at-rate"},
}
FILES = {tuple(path.name.split(".")[0].split("--")): path for path in sorted(CHECKPOINTS.glob("*.json.gz"))}
IDS = ["--".join(key) for key in FILES]


def findings(run):
    return {step: PROBES[step].finding(PROBES[step].read(run, {})) for step in HEALTHY[run.spec.experiment]}


def _steps(variants, run):
    """The steps named, without variants of another experiment than the run's."""
    named = {variant: variant.partition("[")[0] for variant in variants}
    return {step for variant, step in named.items() if variant in (step, experiment_key(step, run.spec.with_))}


@pytest.mark.parametrize(("cause", "experiment"), FILES, ids=IDS)
def test_a_fault_moves_what_it_shows_and_spares_what_it_spares(cause, experiment):
    run, healthy = load(FILES[cause, experiment]), HEALTHY[experiment.partition("[")[0]]
    found = findings(run)
    if cause == "healthy":
        assert found == healthy
        return
    kind = FAULTS[cause]
    shows, spares = (_steps(kind.shows, run) & healthy.keys(), _steps(kind.spares, run) & healthy.keys())
    assert {step for step in shows if found[step] == healthy[step]} == set()
    assert {step for step in spares if found[step] != healthy[step]} == set()


EXPECTED = {
    ("scheduler-not-saved", "resume-replay"): {"schedule-position": "rate-apart", "resume-replay": "diverges"},
    ("scheduler-stepped-per-rank", "resume-replay"): {
        "schedule-position": "ahead-of-steps",
        "resume-replay": "only-at-this-size",
    },
    ("raw-optimizer-state", "resume-replay"): {"parameter-checksums": "moments-differ"},
    ("loader-state-shared-key", "resume-replay"): {"sample-order": "repeated-across-ranks"},
    ("offset-reapplied", "resume-replay"): {"sample-order": "skips-ahead"},
    ("sampler-ignores-offset", "resume-replay"): {"sample-order": "starts-over"},
    ("picked-by-glob", "resume-replay"): {"schedule-position": "older-generation"},
    ("no-resharding", "resume-replay"): {"resume-replay": "refused-at-others"},
    ("nondeterministic-kernels", "resume-replay"): {"resume-replay": "last-digits"},
    ("shuffle-seed-redrawn", "resume-replay"): {"sample-order": "another-order"},
    ("offset-counted-per-rank", "resume-replay"): {
        "sample-order": "other-at-other-sizes",
        "resume-replay": "only-at-this-size",
    },
    ("random-state-by-rank", "resume-replay"): {"sample-order": "as-logged", "resume-replay": "only-at-this-size"},
    ("schedule-restepped", "resume-replay"): {"schedule-position": "rate-apart"},
    ("resumed-with-other-batch", "resume-replay"): {"sample-order": "fewer-a-step"},
    ("resumed-with-other-settings", "resume-replay"): {"sample-order": "as-logged", "resume-replay": "diverges"},
    ("optimizer-not-saved", "save"): {"checkpoint-contents": "moments-missing"},
    ("scheduler-not-saved", "save"): {"checkpoint-contents": "schedule-missing"},
    ("sampler-not-saved", "save"): {"checkpoint-contents": "samples-missing"},
    ("random-state-not-saved", "save"): {"checkpoint-contents": "random-state-missing"},
    ("scaler-not-saved", "save"): {"checkpoint-contents": "scale-missing"},
    ("configuration-not-saved", "save"): {"checkpoint-contents": "state-missing"},
    ("empty-shard", "save"): {"checkpoint-manifest": "files-empty", "checkpoint-contents": "unreadable"},
    ("saves-too-often", "save"): {"save-timings": "more-than-planned"},
    ("verified-by-every-rank", "save"): {"save-timings": "read-back"},
    ("torn-shard", "resume-replay"): {"resume-replay": "not-restored"},
    ("torn-shard", "save"): {"checkpoint-manifest": "files-short", "checkpoint-contents": "unreadable"},
    ("missing-shard", "save"): {"checkpoint-manifest": "files-missing"},
    ("mixed-generations", "save"): {"checkpoint-manifest": "complete", "checkpoint-contents": "steps-mixed"},
    ("killed-while-saving", "save"): {"checkpoint-manifest": "unfinished-save", "save-timings": "save-failed"},
    ("missing-commit-mark", "save"): {"checkpoint-manifest": "no-commit-mark"},
    ("stale-shards", "save"): {"checkpoint-manifest": "files-beyond"},
    ("every-rank-renames", "save"): {"save-timings": "save-failed"},
    ("gather-to-rank-0", "save"): {"save-timings": "one-writer"},
    ("asynchronous-save", "save"): {"save-timings": "in-the-background"},
}


TOLD = [key for key in EXPECTED if key in FILES]


@pytest.mark.parametrize(("cause", "experiment"), TOLD, ids=["--".join(key) for key in TOLD])
def test_a_fault_is_told_by_name(cause, experiment):
    found = findings(load(FILES[cause, experiment]))
    assert found.items() >= EXPECTED[cause, experiment].items()


def test_one_rank_s_file_of_another_generation_points_to_that_rank():
    run = load(FILES["mixed-generations", "resume-replay"])
    readings = PROBES["parameter-checksums"].read(run, {}).readings
    assert readings["ranks_apart"].value == "rank 2"


def test_a_replay_at_another_world_size_is_held_to_its_tolerance_and_not_to_the_last_bit():
    rows = PROBES["resume-replay"].read(load(FILES["healthy", "resume-replay"]), {}).series["quantities"].rows
    assert {row[4] for row in rows if row[0] == 4} == {"bit by bit"}
    losses = [row for row in rows if row[0] != 4 and row[1] == "loss"]
    assert losses and all(row[2] <= row[3] for row in losses)


@pytest.mark.parametrize("step", ["checkpoint-manifest", "resume-replay", "storage-throughput"])
def test_a_probe_of_checkpoints_refuses_a_run_of_another_experiment(step, made):
    with pytest.raises(ValueError, match="this probe reads"):
        PROBES[step].read(made["healthy"], {})
