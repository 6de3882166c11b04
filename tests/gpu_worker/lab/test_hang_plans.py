"""The watched script's plans and records, without a run: what is asked of ranks, and what is kept of what they said."""

from __future__ import annotations

import pickle

import pytest

from gpu_worker.errors import BadSpec
from gpu_worker.experiments.hang import main_stack, without_places
from gpu_worker.faults import FAULTS
from gpu_worker.faults._watched import SHOWS_ALL
from gpu_worker.injectors.cut_link import CutLink
from gpu_worker.injectors.kill_rank import KillRank
from gpu_worker.lab.plan import plan_run
from gpu_worker.launcher.flight import entries_of, repaired
from gpu_worker.specs import ExperimentSpec, Fault

HANGS = [kind for kind in FAULTS.values() if set(kind.shows) == set(SHOWS_ALL)]


def spec(*faults: Fault) -> ExperimentSpec:
    return ExperimentSpec(experiment="hang", faults=faults)


def test_there_are_ten_faults_that_hang():
    assert len(HANGS) >= 10


@pytest.mark.parametrize("kind", HANGS, ids=lambda kind: kind.id)
def test_a_fault_that_hangs_can_be_tried_as_its_trial_says(kind):
    plan = plan_run(spec(Fault(cause=kind.id, place=kind.trial.place, params=dict(kind.trial.params))))
    assert plan.phases[0].hang_after_s is not None
    assert plan.phases[0].rank_job or plan.acts


def test_a_slip_is_in_one_rank_alone():
    phase = plan_run(spec(Fault(cause="order-mismatch", place="rank:2", params={"step": 5}))).to_order()["phases"][0]
    slips = [(rank["job"]["slip"], rank["job"]["slip_step"]) for rank in phase["ranks"]]
    assert slips == [("none", 8), ("none", 8), ("order", 5), ("none", 8)]


def test_the_recorder_is_on_whatever_the_setting_says():
    phase = plan_run(spec()).to_order()["phases"][0]
    assert all(rank["job"]["flight_recorder_entries"] > 0 for rank in phase["ranks"])


def test_acts_name_host_or_link_and_step():
    dead = Fault(cause="dead-rank", place="rank:2", params={"signal": 11, "step": 4})
    assert plan_run(spec(dead)).acts == (KillRank(host=2, signal=11, at_step=4),)
    cut = Fault(cause="partition", place="link:host1-leaf0")
    assert plan_run(spec(cut)).acts == (CutLink(link="host1-leaf0", at_step=8),)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(cause="dead-rank", place="rank:2", params={"signal": 17}), "one that ends a process: 6, 7, 9, 11, 15"),
        (Fault(cause="sender-left", place="rank:0"), "rank 0 receives; name a rank that sends"),
        (
            Fault(cause="shape-mismatch", place="rank:2", params={"pad_to": -1}),
            "pad_to is -1.0, but must be 0 to",
        ),
        (Fault(cause="order-mismatch", place="rank:2", params={"step": 30}), "step is 30.0, but must be 3 to 11"),
        (Fault(cause="save-slower-than-timeout", place="rank:1"), "has no place"),
        (Fault(cause="partition", place="rank:1"), "needs a place such as link:"),
    ],
)
def test_a_fault_that_does_not_fit_is_refused_by_name_and_repair(fault, said):
    with pytest.raises(BadSpec, match=said):
        plan_run(spec(fault))


def test_what_is_kept_names_no_place_of_the_machine():
    line = '  File "/home/ada/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252, in x'
    assert without_places(line) == '  File "torch/distributed/distributed_c10d.py", line 3252, in x'
    assert without_places("/opt/rank37/gpu_worker/jobs/watched.py:121") == "gpu_worker/jobs/watched.py:121"
    assert "__w" not in without_places("[/__w/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:456] op.nbytes")
    assert without_places("see gpu_worker/jobs/watched.py") == "see gpu_worker/jobs/watched.py"
    assert without_places("/usr/lib/python3.11/threading.py") == "threading.py"


def test_the_stack_is_that_of_the_thread_that_trains():
    dump = (
        'Thread 0x01 (most recent call first):\n  File "/x/gpu_worker/ranks/blackbox.py", line 9 in _answer\n\n'
        'Current thread 0x02 (most recent call first):\n  File "/x/torch/distributed/distributed_c10d.py", line 7 in'
        ' barrier\n  File "/x/gpu_worker/jobs/watched.py", line 5 in save\n  File "/x/gpu_worker/ranks/body.py", line'
        ' 3 in run_rank\n  File "/x/gpu_worker/launcher/process.py", line 1 in main\n'
    )
    assert main_stack(dump) == ["barrier distributed_c10d.py:7", "save watched.py:5", "run_rank body.py:3"]
    assert main_stack("") == []


def _entry(number: int, **more) -> dict:
    return {
        "record_id": number,
        "collective_seq_id": number,
        "profiling_name": "gloo:all_reduce",
        "is_p2p": False,
        "input_sizes": [[4]],
        "input_dtypes": ["Float"],
        "retired": True,
        "time_created_ns": 1,
        "process_group": ("0", "default_pg"),
        "frames": [],
        **more,
    }


def test_a_dump_becomes_plain_data_and_none_stays_none():
    dump = pickle.dumps({"version": "2.10", "entries": [_entry(n) for n in range(1, 40)], "pg_config": {}})
    kept = entries_of(dump)
    assert kept["collectives"] == 39
    assert [entry["op"] for entry in kept["last"]] == ["all_reduce"] * 12
    assert entries_of(b"") is None


def test_the_repair_gives_a_dumps_group_the_name_that_its_entries_have():
    raw = {"entries": [_entry(1)], "pg_config": {"": {"name": "", "desc": "", "ranks": "[]"}}}
    assert repaired(raw, 4)["pg_config"] == {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}}
