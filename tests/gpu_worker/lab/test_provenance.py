"""A run that the machine was taken from is void, and says so: pure."""

from __future__ import annotations

import pytest

from gpu_worker.errors import RunDisturbed
from gpu_worker.lab.provenance import ACCEPT_DISTURBED, disturbance, refuse_disturbed, tries_before_accepting


def raw(work_s: float = 5.0, steal_s: float = 0.0, ours_s: float = 4.9, neighbour_s: float = 0.0) -> dict:
    phase = {
        "processors": {"work_s": work_s, "steal_s": steal_s, "idle_s": 10.0 - work_s - steal_s, "all_s": 10.0},
        "ranks": [{"usage": {"process_cpu_s": ours_s / 2}}] * 2,
        "injected": [{"kind": "neighbour", "cpu_s": neighbour_s}],
    }
    return {"phases": [phase, phase]}


def test_shares_are_of_all_processors():
    assert disturbance(raw(work_s=7.0, steal_s=0.2)) == {"steal_share": 0.02, "foreign_cpu_share": 0.21}


@pytest.mark.parametrize(("facts", "said"), [(raw(steal_s=0.5), "hypervisor"), (raw(work_s=8.0), "other processes")])
def test_a_disturbed_run_is_refused_with_the_reason(facts, said):
    with pytest.raises(RunDisturbed, match=said):
        refuse_disturbed(facts)


def test_what_others_took_of_idle_processors_disturbs_nobody():
    waits_for_its_links = raw(work_s=2.5, ours_s=0.9)
    assert disturbance(waits_for_its_links)["foreign_cpu_share"] == 0.16
    refuse_disturbed(waits_for_its_links)


def test_a_quiet_run_is_taken():
    refuse_disturbed(raw())


def test_what_a_fault_burns_on_purpose_is_ours():
    assert disturbance(raw(work_s=8.0, neighbour_s=3.1))["foreign_cpu_share"] == 0


@pytest.mark.parametrize(("value", "tries"), [(None, None), ("", None), ("0", None), ("1", 1), ("3", 3)])
def test_the_environment_may_accept_what_was_disturbed(monkeypatch, value, tries):
    monkeypatch.delenv(ACCEPT_DISTURBED, raising=False)
    if value is not None:
        monkeypatch.setenv(ACCEPT_DISTURBED, value)
    assert tries_before_accepting() == tries
