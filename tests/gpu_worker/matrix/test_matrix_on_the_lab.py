"""The matrix of one fault, really run."""

from __future__ import annotations

import dataclasses

import pytest

from gpu_worker.faults import FAULTS
from gpu_worker.lab import run as lab
from gpu_worker.matrix import judge
from gpu_worker.matrix.digest import digest
from gpu_worker.matrix.readings import Taken
from gpu_worker.matrix.store import Store
from gpu_worker.matrix.take import take_missing
from gpu_worker.matrix.trials import launches, pairs

pytestmark = pytest.mark.lab

AS_JOB, PACKED = (f"microbenchmark[placement={where},size=job]" for where in ("as-job", "packed"))


@pytest.mark.long
def test_a_degraded_link_separates_and_spares_the_inside_of_a_host(tmp_path):
    kind = dataclasses.replace(FAULTS["degraded-link"], shows=(AS_JOB,), spares=(PACKED,))
    wanted, store = pairs([kind]), Store(tmp_path)
    try:
        assert take_missing(launches(wanted, 1), store, lab.run_experiment) == []
    finally:
        lab.close()
    matrix = judge.judge([kind.id], wanted, 1, lambda spec: Taken(store.get(digest(spec))))
    assert matrix.faults[0].holds
    assert matrix.faults[0].shows[0].effect < 0.6
    assert take_missing(launches(wanted, 1), store, lambda spec: pytest.fail("it is stored")) == []
