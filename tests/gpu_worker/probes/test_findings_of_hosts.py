"""Memory by rank and host swap: findings of made runs, exact to the threshold."""

from __future__ import annotations

import pytest

from gpu_worker.probes import PROBES
from tests.gpu_worker.probes.conftest import made_job
from tests.gpu_worker.probes.made_host_swap import swapped

MEMORY, SWAP = PROBES["memory-by-rank"], PROBES["host-swap"]
SLOW, SOMEWHAT = {"forward_s": 0.3, "backward_s": 0.75}, {"forward_s": 0.17, "backward_s": 0.41}
TENSORS = made_job().ranks[0]["memory"]["step"]["peak"]
MADE_ANEW = TENSORS - sum(made_job().ranks[0]["memory"]["held"].values())
STARTED = made_job().ranks[0]["memory"]["started_bytes"]


def memory_finding(memory):
    return MEMORY.finding(MEMORY.read(made_job(memory=memory), {}))


def everyone(**memory):
    return dict.fromkeys(range(4), memory)


def test_ranks_that_hold_their_tensors_and_no_more_are_even():
    result = MEMORY.read(made_job(), {})
    assert MEMORY.finding(result) == "even"
    assert result.readings["spread"].value == 1
    row = dict(zip(result.series["ranks"].columns, result.series["ranks"].rows[0], strict=True))
    kinds = ("parameters", "gradients", "optimizer", "activations", "other")
    assert row["before the job"] + sum(row[kind] for kind in kinds) + row["not in tensors"] == row["at its most"]
    assert "gathered" not in row  # plain DDP gathers nothing


def test_what_a_process_had_before_the_job_does_not_hide_a_rank_that_needs_more_of_it():
    most = 380_000_000 - STARTED
    assert memory_finding({2: {"peak_bytes": STARTED + int(1.1 * most)}}) == "even"
    assert memory_finding({2: {"peak_bytes": STARTED + int(1.2 * most)}}) == "inconclusive"
    assert memory_finding({2: {"peak_bytes": STARTED + int(1.6 * most)}}) == "one-rank-larger"
    assert 1.6 * most + STARTED < 1.25 * 380_000_000


def test_processes_that_grow_are_told_from_one_that_is_larger():
    assert memory_finding(everyone(growth_bytes=MADE_ANEW // 2, peak_bytes=600_000_000)) == "growing"
    assert memory_finding(everyone(growth_bytes=MADE_ANEW // 3)) == "inconclusive"
    assert memory_finding(everyone(growth_bytes=MADE_ANEW // 5)) == "even"
    assert memory_finding({1: {"growth_bytes": MADE_ANEW // 2, "peak_bytes": 600_000_000}}) == "one-rank-larger"


def test_what_the_allocator_keeps_of_one_large_batch_is_no_growth():
    run = made_job()
    for step in (step for rank in run.ranks for step in rank["steps"][3:]):
        step["resident_bytes"] += 300_000_000
    assert MEMORY.read(run, {}).readings["growth"].value == 0


def test_a_heap_that_all_ranks_hold_shows_beside_their_tensors():
    assert memory_finding(everyone(peak_bytes=STARTED + TENSORS + int(0.7 * STARTED))) == "inconclusive"
    assert memory_finding(everyone(peak_bytes=STARTED + TENSORS + int(0.9 * STARTED))) == "more-than-tensors"


def test_a_run_that_kept_no_memory_is_refused_in_words():
    run = made_job()
    del run.ranks[3]["memory"]
    with pytest.raises(ValueError, match="run of job: this probe reads each rank's memory"):
        MEMORY.read(run, {})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, "unchanged"),
        ({1: SLOW}, {0: SLOW}, "follows-host"),
        ({1: SLOW}, {1: SLOW}, "follows-rank"),
        ({1: {"input_s": 0.6}}, {1: {"input_s": 0.6}}, "follows-rank"),
        ({1: SLOW}, {}, "follows-neither"),
        ({1: SLOW}, {2: SLOW}, "inconclusive"),
        ({1: SLOW}, {0: SOMEWHAT, 1: SOMEWHAT}, "inconclusive"),
        ({}, {1: SLOW}, "inconclusive"),
        ({1: SOMEWHAT}, {1: SOMEWHAT}, "inconclusive"),
    ],
)
def test_a_swap_tells_what_a_late_ranks_slowness_belongs_to(before, after, expected):
    assert SWAP.finding(SWAP.read(swapped(before, after), {})) == expected


def test_a_rank_that_kept_its_host_tells_nothing():
    """Alone on its leaf, as a misplaced rank is: both its own lateness and its host's are the same number."""
    run = swapped({3: SLOW}, {3: SLOW}, hosts=(1, 0, 2, 3))
    readings = SWAP.read(run, {}).readings
    assert readings["kept_by_host"].value == readings["kept_by_rank"].value == 1
    assert SWAP.finding(SWAP.read(run, {})) == "inconclusive"


def test_a_swap_names_who_was_late_where_it_went_and_who_came():
    result = SWAP.read(swapped({2: SLOW}, {3: SLOW}), {})
    names = {name: result.readings[name].value for name in ("latest_rank", "its_host", "its_new_host", "heir")}
    assert names == {"latest_rank": "rank 2", "its_host": "host2", "its_new_host": "host3", "heir": "rank 3"}
    table = result.series["swap"]
    assert [row[table.columns.index("rank after")] for row in table.rows] == ["rank 1", "rank 0", "rank 3", "rank 2"]


def test_a_swap_is_read_from_its_own_experiment_alone():
    with pytest.raises(ValueError, match="run of job: this probe reads a job before and after a swap"):
        SWAP.read(made_job(), {})
