"""A run that the machine was taken from is void, and says so: pure."""

from __future__ import annotations

import pytest

from gpu_worker.errors import RunDisturbed
from gpu_worker.provenance import ACCEPT_DISTURBED, disturbance, refuse_disturbed


def raw(work_s: float = 5.0, steal_s: float = 0.0, ours_s: float = 4.9) -> dict:
    return {
        "processors": {"work_s": work_s, "steal_s": steal_s, "all_s": 10.0},
        "ranks": [{"usage": {"process_cpu_s": ours_s / 2}}] * 2,
    }


def test_shares_are_of_all_processors():
    assert disturbance(raw(work_s=7.0, steal_s=0.2)) == {"steal_share": 0.02, "foreign_cpu_share": 0.21}


@pytest.mark.parametrize(("facts", "said"), [(raw(steal_s=0.5), "hypervisor"), (raw(work_s=8.0), "other processes")])
def test_a_disturbed_run_is_refused_with_the_reason(monkeypatch, facts, said):
    monkeypatch.delenv(ACCEPT_DISTURBED, raising=False)
    with pytest.raises(RunDisturbed, match=said):
        refuse_disturbed(disturbance(facts))
    monkeypatch.setenv(ACCEPT_DISTURBED, "1")
    refuse_disturbed(disturbance(facts))


def test_a_quiet_run_is_taken(monkeypatch):
    monkeypatch.delenv(ACCEPT_DISTURBED, raising=False)
    refuse_disturbed(disturbance(raw()))
