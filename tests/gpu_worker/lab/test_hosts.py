"""Memory by rank and the swap of hosts, on real ranks."""

from __future__ import annotations

import pytest

from gpu_worker.metrics import series_of
from gpu_worker.probes import PROBES
from gpu_worker.specs import Fault, Job, Setting, WholeRun

pytestmark = pytest.mark.lab

SHORT = Setting(job=Job(measured_steps=4, warmup_steps=1))


def finding(run: WholeRun, probe: str) -> str:
    return PROBES[probe].finding(PROBES[probe].read(run, {}))


def test_healthy_ranks_need_the_same_memory_and_its_kinds_add_up(run):
    taken = run("job")
    assert finding(taken, "memory-by-rank") == "even"
    for rank in taken.ranks:
        step = rank["memory"]["step"]
        assert sum(size for kind, size in step.items() if kind != "peak") == step["peak"]
        assert step["parameters"] == step["gradients"] == taken.size_bytes
        assert rank["memory"]["started_bytes"] < rank["memory"]["peak_bytes"]


def test_the_step_that_accounts_for_memory_is_in_no_counter(run):
    """Each rank sends 2(n-1)/n of the gradients a step: what was counted is that of the measured steps."""
    taken = run("job")
    for host in taken.fabric["placement"]:
        (link,) = (one for one in taken.fabric["links"] if one["kind"] == "access" and f"host{host}" in one["ends"])
        sent = taken.fabric["counters"]["->".join((f"host{host}", *set(link["ends"]) - {f"host{host}"}))]["bytes"]
        assert sent < 1.15 * 3 * 1.5 * taken.size_bytes


def test_every_series_of_host_and_process_is_kept(run):
    kept = {series.metric for series in series_of(run("job"))}
    assert {"run-queue-share", "collection-share", "resident-memory"} <= kept


def test_a_heap_that_the_collector_walks_is_more_than_the_tensors(run):
    taken = run("job", Fault(cause="collection-pause"))
    assert finding(taken, "memory-by-rank") == "more-than-tensors"


@pytest.mark.long
@pytest.mark.parametrize(("cause", "follows"), [("throttled-rank", "follows-host"), ("skewed-shard", "follows-rank")])
def test_after_a_swap_a_hosts_fault_has_another_victim_and_a_shards_the_same(run, cause, follows):
    taken = run("host-swap", Fault(cause=cause, place="rank:1"), setting=SHORT)
    assert [rank["host"] for rank in taken.recorded["before"]] == [0, 1, 2, 3]
    assert [rank["host"] for rank in taken.recorded["after"]] == [1, 0, 3, 2]
    assert finding(taken, "host-swap") == follows
