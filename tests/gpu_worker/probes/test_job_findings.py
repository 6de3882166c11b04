"""Buckets, batches and input: each finding on a run made by hand, and the quiet one on really measured runs."""

from __future__ import annotations

import pytest

from gpu_worker.jobs.shape import DIMENSIONS, gradient_sizes
from gpu_worker.probes import PROBES
from gpu_worker.specs import Job
from grader.physics import ddp_buckets
from tests.gpu_worker.probes.conftest import SETTING, made_job
from tests.gpu_worker.probes.made_synthetic_batch import healthy as made_synthetic

CAP_BYTES = 1 << 20
PLAN = ddp_buckets(gradient_sizes(), CAP_BYTES)


def finding(probe, run):
    return PROBES[probe].finding(PROBES[probe].read(run, {}))


def with_collectives(sizes, others=0):
    """A made job whose every step reduces buckets of these sizes, and sums so many single numbers."""
    run = made_job()
    for rank in run.ranks:
        for step in rank["steps"]:
            times = {name: step["collectives"][0][name] for name in ("launch", "done")}
            step["collectives"] = [{"bytes": size, **times} for size in sizes]
            step["collectives"] += [{"bytes": 4, **times, "what": "metric"}] * others
    return run


def with_batches(tokens, ids=None):
    """A made job: `tokens(rank, step)` of each step, and the samples `ids(rank, step)`."""
    run = made_job()
    for rank in run.ranks:
        for number, step in enumerate(rank["steps"]):
            step["tokens"] = tokens(rank["rank"], number)
            step["sample_ids"] = ids(rank["rank"], number) if ids else [100 * rank["rank"] + at for at in range(8)]
    return run


@pytest.mark.parametrize(
    ("sizes", "others", "expected"),
    [
        (PLAN, 0, "as-planned"),
        (gradient_sizes(), 0, "many-small"),
        ([sum(PLAN)], 0, "few-large"),
        ([size / 2 for size in PLAN], 0, "other-bytes"),
        (PLAN, 40, "unplanned-collectives"),
        ([*PLAN[:-1], *[PLAN[-1] / 5] * 5], 0, "inconclusive"),
    ],
)
def test_collectives_are_held_against_the_bucket_rule(sizes, others, expected):
    assert finding("bucket-sizes", with_collectives(sizes, others)) == expected


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (lambda rank, step: 896, "even"),
        (lambda rank, step: 896 * (2.5 if rank == 2 else 1), "one-rank-more"),
        (lambda rank, step: 896 * (3 if (rank + step) % 4 == 0 else 0.5), "uneven-steps"),
        (lambda rank, step: 896 * (1.18 if rank == 1 else 1), "inconclusive"),
    ],
)
def test_tokens_are_compared_over_ranks_and_over_steps(tokens, expected):
    assert finding("batch-identity", with_batches(tokens)) == expected


def test_ranks_that_read_one_shard_train_on_the_same_samples():
    run = with_batches(lambda rank, step: 896, lambda rank, step: [step * 10 + at for at in range(8)])
    assert finding("batch-identity", run) == "same-samples"


def test_another_batch_than_the_healthy_run_had_is_said_before_anything_else():
    assert finding("batch-identity", made_job(samples=3)) == "other-batch"


@pytest.mark.parametrize(
    ("made_of", "expected"),
    [
        ({}, "input-does-not"),
        ({"input_s": 0.6}, "input-matters"),
        ({"input_s": 0.15}, "inconclusive"),
        ({"kernel_share": 0.3, "work_per_launch": 160.0}, "slow-kernels"),
        ({"kernel_share": 0.3, "work_per_launch": 20.0}, "gaps-between-kernels"),
        ({"kernel_share": 0.56}, "inconclusive"),
        ({"kernel_share": 0.42, "work_per_launch": 72.0}, "slow-kernels"),
        ({"kernel_share": 0.59, "work_per_launch": 15.4}, "gaps-between-kernels"),
        ({"kernel_share": 0.59, "work_per_launch": 29.0}, "inconclusive"),
        ({"kernel_share": 0.76, "work_per_launch": 17.0}, "input-does-not"),  # few samples, none of them slow
    ],
)
def test_a_job_without_reading_tells_input_from_kernels_and_from_launches(made_of, expected):
    assert finding("synthetic-batch", made_synthetic(**made_of)) == expected


def test_a_run_of_another_experiment_is_refused_by_name():
    with pytest.raises(ValueError, match="run of job: this probe reads a job with and without"):
        PROBES["synthetic-batch"].read(made_job(), {})


def test_measured_runs_of_other_causes_hold_the_planned_buckets_and_even_batches(measured):
    for cause, run in measured:
        if run.spec.experiment == "job":
            assert finding("bucket-sizes", run) == "as-planned"
            assert finding("batch-identity", run) == ("other-batch" if cause == "comparison-changed" else "even")


def test_the_tensors_of_the_shape_add_up_to_the_gradient_with_small_ones_spread_over_the_blocks():
    assert sum(DIMENSIONS.tensors(6)) == DIMENSIONS.parameters + 6 * DIMENSIONS.width
    assert DIMENSIONS.small_by_block(6) == (2, 2, 1, 1)
    assert SETTING.job.small_tensors == Job().small_tensors == 0


def test_a_step_of_hundreds_of_collectives_is_drawn_in_a_few_rows():
    probe, run = PROBES["overlap-trace"], with_collectives(gradient_sizes(), others=240)
    result = probe.read(run, {})
    assert len(result.series["timeline"].rows) < 30
    assert result.readings["collectives"].value == 294
    assert probe.read(with_collectives(PLAN), {}).series["timeline"].rows[-1][0] == "bucket 13"
