"""Hangs as people met them: each shows its signature on a real run, and the witness that misled them.

Before a symptom is judged, the fault has proved that it fired: a run whose fault did not is refused by the lab.
"""

from __future__ import annotations

import pytest

from gpu_worker.probes import PROBES
from gpu_worker.specs import Fault, Job, Setting, WholeRun

pytestmark = pytest.mark.lab

ORDER = Fault(cause="order-mismatch", place="rank:2")
LARGER = Fault(cause="shape-mismatch", place="rank:2", params={"pad_to": 1024})
SMALLER = Fault(cause="shape-mismatch", place="rank:2", params={"pad_to": 0})
DTYPE = Fault(cause="dtype-mismatch", place="rank:2")
DEAD = Fault(cause="dead-rank", place="rank:2")
LEFT = Fault(cause="left-loop-early", place="rank:2")
ALONE = Fault(cause="one-collective-too-many", place="rank:0")
BRANCH = Fault(cause="conditional-branch", place="rank:2")
PARTITION = Fault(cause="partition", place="link:host1-leaf0")
SLOW_SAVE = Fault(cause="save-slower-than-timeout")
SENDER = Fault(cause="sender-left", place="rank:1")

# By fault: findings of rank-logs, collective-log and stack-dump.
SIGNATURES = {
    "healthy": (None, "quiet", "in-step", "moving"),
    "order-mismatch": (ORDER, "time-outs", "ranks-differ", "ranks-apart"),
    "shape-mismatch": (LARGER, "one-rank-died", "ranks-differ", "ranks-gone"),
    "dtype-mismatch": (DTYPE, "one-rank-died", "one-rank-missing", "ranks-gone"),
    "dead-rank": (DEAD, "one-rank-died", "one-rank-missing", "ranks-gone"),
    "left-loop-early": (LEFT, "time-outs", "one-rank-behind", "ranks-apart"),
    "one-collective-too-many": (ALONE, "time-outs", "one-rank-ahead", "ranks-apart"),
    "conditional-branch": (BRANCH, "time-outs", "ranks-differ", "ranks-apart"),
    "partition": (PARTITION, "time-outs", "all-waiting", "all-in-one-place"),
    "save-slower-than-timeout": (SLOW_SAVE, "time-outs", "one-rank-behind", "one-works-others-wait"),
    "sender-left": (SENDER, "peer-lost", "one-rank-missing", "ranks-gone"),
}
# A cable may be cut in the middle of a collective: in one launch of seven some ranks had already got out of it, and
# waited in the next one.
ALSO = {"partition": ["time-outs", "all-waiting", "ranks-apart"]}


def told(taken: WholeRun, step: str) -> dict:
    return {name: reading.value for name, reading in PROBES[step].read(taken, {}).readings.items()}


def finding(taken: WholeRun, step: str) -> str:
    return PROBES[step].finding(PROBES[step].read(taken, {}))


def with_job(**fields) -> dict:
    return {"setting": Setting(job=Job(**fields))}


def log_of(taken: WholeRun, rank: int) -> str:
    return "\n".join(line for _, line in taken.recorded["ranks"][rank]["log"])


def how_they_ended(taken: WholeRun) -> list[str]:
    return [rank["end"]["how"] for rank in taken.recorded["ranks"]]


@pytest.mark.parametrize("cause", SIGNATURES)
def test_a_hang_shows_its_signature_to_all_three_probes(cause, run):
    fault, *expected = SIGNATURES[cause]
    taken = run("hang", *([fault] if fault else []))
    found = [finding(taken, step) for step in ("rank-logs", "collective-log", "stack-dump")]
    assert found in (expected, ALSO.get(cause)), [rank["end"] for rank in taken.recorded["ranks"]]


@pytest.mark.parametrize("cause", SIGNATURES)
def test_no_rank_is_left_hanging_past_the_librarys_own_time_out(cause, run):
    fault, *_ = SIGNATURES[cause]
    assert "hung" not in how_they_ended(run("hang", *([fault] if fault else [])))


def test_autocast_381_times_out_in_the_right_call_after_the_others_have_finished(run):
    """The misleading witness: the stack points at the regular save, which every rank called, and not at the extra one
    before it; everybody else's log says that training has finished."""
    taken = run("hang", ALONE)
    assert how_they_ended(taken) == ["raised", "finished", "finished", "finished"]
    assert all("training finished" in log_of(taken, rank) for rank in (1, 2, 3))
    ranks = taken.recorded["ranks"]
    counts = [rank["dumps"][-1]["collectives"] for rank in ranks]
    assert counts == [max(counts[1:]) + 1, *[max(counts[1:])] * 3]
    stands, ended = ranks[0]["dumps"][-1]["last"][-1], ranks[1]["dumps"][-1]["last"][-1]
    assert stands["op"] == ended["op"] == "barrier"
    assert stands["frames"] == ended["frames"], "rank 0 stands in the very line that its peers have passed"


def test_lightning_19106_only_the_debug_level_names_the_collective(run):
    """The misleading witness: every rank times out, and the one that took the branch is not the first to say so."""
    plain = run("hang", BRANCH)
    assert told(plain, "rank-logs")["timed_out_ranks"] >= 2
    assert told(plain, "rank-logs")["naming_ranks"] == 0
    named = run("hang", BRANCH, **with_job(distributed_debug="detail"))
    assert finding(named, "rank-logs") == "mismatch-named"
    assert told(named, "rank-logs")["timed_out_ranks"] == 0, "it is told at once, before any time-out"
    assert "SequenceNumber=" in log_of(named, 2) and "BROADCAST" in log_of(named, 2)


def test_pytorch_33148_the_ranks_with_more_batches_fail_and_the_culprit_ends_well(run):
    """The misleading witness: three ranks raise, and the fourth, whose batches ran out, reports success."""
    taken = run("hang", LEFT)
    assert how_they_ended(taken) == ["raised", "raised", "finished", "raised"]
    assert "training finished" in log_of(taken, 2) and "Error" not in log_of(taken, 2)
    behind = taken.recorded["ranks"][2]["dumps"][-1]
    assert behind["last"][-1]["retired"]
    assert all(not rank["dumps"][-1]["last"][-1]["retired"] for rank in taken.recorded["ranks"] if rank["rank"] != 2)


def test_pytorch_78514_the_healthy_receiver_reports_the_closed_connection(run):
    """The misleading witness: the only traceback of a closed peer that comes first is the receiver's; the sender
    left with success."""
    taken = run("hang", SENDER)
    assert taken.recorded["ranks"][1]["end"] | {"at_s": 0} == {"how": "left", "exit_code": 0, "at_s": 0}
    assert "by peer" in log_of(taken, 0)
    assert "training finished" in log_of(taken, 1) and "Error" not in log_of(taken, 1)
    assert told(taken, "rank-logs")["first_failure"].startswith("rank 0")


def test_a_smaller_buffer_dies_and_a_larger_one_kills_its_neighbour(run):
    """gloo aborts whoever receives more than it expects: with a larger buffer that is an innocent rank."""
    smaller, larger = run("hang", SMALLER), run("hang", LARGER)
    assert [rank["end"].get("signal") for rank in smaller.recorded["ranks"]] == [None, None, 6, None]
    dead = [rank["rank"] for rank in larger.recorded["ranks"] if rank["end"].get("signal") == 6]
    assert dead and 2 not in dead
    assert "data size doesn't match" in log_of(larger, dead[0])
    assert told(larger, "collective-log")["differing_ranks"] == 1, "the records of the living name the right rank"


@pytest.mark.parametrize("fault", [ORDER, LARGER], ids=["order", "shape"])
def test_the_debug_level_names_a_mismatch_at_once_and_nobody_dies(fault, run):
    taken = run("hang", fault, **with_job(distributed_debug="detail"))
    assert finding(taken, "rank-logs") == "mismatch-named"
    assert told(taken, "rank-logs")["timed_out_ranks"] == told(taken, "rank-logs")["killed_ranks"] == 0


def test_a_dead_rank_is_reported_by_the_healthy_at_once_and_says_nothing_itself(run):
    taken = run("hang", DEAD)
    readings = told(taken, "rank-logs")
    assert (readings["killed_ranks"], readings["timed_out_ranks"]) == (1, 0)
    assert taken.recorded["ranks"][2]["end"]["signal"] == 9
    assert "Error" not in log_of(taken, 2)
    assert all("by peer" in log_of(taken, rank) for rank in (0, 1, 3))


def test_a_monitored_barrier_names_the_rank_that_does_not_come(run):
    taken = run("hang", LEFT, **with_job(monitored_barrier=True))
    assert "Ranks 2 failed to pass monitoredBarrier" in log_of(taken, 0)
    assert finding(taken, "rank-logs") == "mismatch-named"


def test_a_healthy_script_passes_its_monitored_barriers(run):
    taken = run("hang", **with_job(monitored_barrier=True))
    assert how_they_ended(taken) == ["finished"] * 4
    assert [finding(taken, step) for step in ("rank-logs", "collective-log", "stack-dump")] == [
        "quiet",
        "in-step",
        "moving",
    ]


def test_the_debug_level_counts_sends_and_so_refuses_a_healthy_script(run):
    """Rank 0 receives thrice where each other rank sends once: the barrier after it is said to differ, and does not."""
    taken = run("hang", **with_job(distributed_debug="detail"))
    assert finding(taken, "rank-logs") == "mismatch-named"
    assert all(rank["steps"] == 36 for rank in taken.recorded["ranks"])
    assert "OpType=BARRIER" in log_of(taken, 0) and "Sequence number" in log_of(taken, 0)
    assert "Op type" not in log_of(taken, 0)


def test_a_blocked_rank_is_asked_through_its_second_thread(run):
    """Its stack ends in the library's wait, its recorder holds the collective that has not ended."""
    for rank in run("hang", PARTITION).recorded["ranks"]:
        dump = rank["dumps"][-1]
        assert any("distributed_c10d.py" in frame for frame in dump["stack"])
        assert not dump["last"][-1]["retired"]


def test_torchs_analysis_fails_on_a_raw_dump_and_works_after_the_repair(run):
    trace = run("hang", ORDER).recorded["torchfrtrace"]
    assert trace["raw"] and not trace["failed"]
    assert any("COLLECTIVE_TYPE_MISMATCH" in line for line in trace["lines"])


def test_a_partition_drops_at_the_link_and_no_log_says_where(run):
    taken = run("hang", PARTITION)
    assert max(taken.fired["partition"]["dropped"].values()) > 0
    assert not any("host1" in log_of(taken, rank) for rank in range(4))


def test_a_slow_save_fails_those_who_wait_and_the_writer_last(run):
    taken = run("hang", SLOW_SAVE)
    ends = {rank["rank"]: rank["end"]["at_s"] for rank in taken.recorded["ranks"]}
    assert max(ends, key=ends.get) == 0
    assert "written in" in log_of(taken, 0), "the writer finishes its work and finds nobody"


def test_faults_of_other_kinds_leave_the_script_in_step(run):
    for fault in (
        Fault(cause="throttled-rank", place="rank:2", params={"duty": 0.3}),
        Fault(cause="degraded-link", place="link:host1-leaf0", params={"rate": 100e6}),
    ):
        taken = run("hang", fault)
        assert [finding(taken, step) for step in ("rank-logs", "collective-log", "stack-dump")] == [
            "quiet",
            "in-step",
            "moving",
        ]


def test_a_hang_of_another_experiment_is_not_exercised(run):
    assert run("microbenchmark", ORDER).fired == {"order-mismatch": {"exercised": False}}
