"""The self-check judges runs by their findings: pure; the runs are the lab tests' own."""

from __future__ import annotations

import pytest

from gpu_worker.errors import RunDisturbed
from gpu_worker.lab import selfcheck
from gpu_worker.specs import Fault

pytestmark = pytest.mark.lab


def expectation(name: str) -> selfcheck.Expectation:
    return next(expected for expected in selfcheck.expectations() if expected.name == name)


def test_a_healthy_microbenchmark_holds_and_a_degraded_one_in_its_place_does_not(run):
    expected = expectation("healthy microbenchmark")
    degraded = Fault(cause="degraded-link", place="link:host1-leaf0", params={"rate": 100e6})
    assert selfcheck.judge(expected, run("microbenchmark")).ok
    verdict = selfcheck.judge(expected, run("microbenchmark", degraded))
    assert not verdict.ok
    assert verdict.why == "microbenchmark found below-floor, not at-floor"


def test_a_machine_that_disturbs_every_run_fails_with_the_reason():
    def disturbed(_):
        raise RunDisturbed("other processes took 40% of the processors during the run")

    verdict = selfcheck.check_one(expectation("healthy job"), disturbed)
    assert not verdict.ok and "other processes" in verdict.why


def test_one_slip_gets_a_second_chance(run):
    runs = iter([RunDisturbed("busy"), run("microbenchmark")])

    def experiment(_):
        taken = next(runs)
        if isinstance(taken, Exception):
            raise taken
        return taken

    assert selfcheck.check_one(expectation("healthy microbenchmark"), experiment).ok
