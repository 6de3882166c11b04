"""From spec to run plan: pure. What does not fit is refused in words that name it and the repair."""

from __future__ import annotations

import pytest

from gpu_worker.errors import BadSpec
from gpu_worker.faults import FAULTS, describe
from gpu_worker.injectors.stop_continue import StopContinue
from gpu_worker.jobs.shape import GRADIENT_BYTES
from gpu_worker.lab.plan import RunPlan, plan_run
from gpu_worker.specs import ExperimentSpec, Fault, Setting, Topology


def spec(*faults: Fault, experiment: str = "job", **more) -> ExperimentSpec:
    return ExperimentSpec.model_validate({"experiment": experiment, "faults": faults, **more})


def stopped(plan: RunPlan) -> list[int]:
    """Ranks that run on a host whose processes are stopped."""
    hosts = {act.host for act in plan.acts if isinstance(act, StopContinue)}
    return [rank for rank, host in enumerate(plan.placement) if host in hosts]


def test_every_cause_of_the_flagship_has_a_fault():
    assert set(FAULTS) >= {
        "comparison-changed",
        "degraded-link",
        "fallback-transport",
        "no-overlap",
        "slow-input-rank",
        "throttled-rank",
        "worse-placement",
    }


@pytest.mark.parametrize("cause", FAULTS)
def test_a_fault_describes_its_parameters_with_bounds_default_and_unit(cause):
    for facts in describe(FAULTS[cause])["params"].values():
        assert facts["minimum"] <= facts["default"] <= facts["maximum"]
        assert facts["unit"] is not None and facts["kind"]


def test_a_healthy_plan_breaks_nothing():
    plan = plan_run(spec())
    assert plan.placement == (0, 1, 2, 3)
    assert not plan.acts and not plan.source_rates and not plan.must_cross
    assert plan.size_bytes == GRADIENT_BYTES


def test_packed_puts_every_rank_on_the_first_ranks_host_over_loopback():
    plan = plan_run(spec(experiment="microbenchmark", **{"with": {"placement": "packed", "size": "small"}}))
    assert plan.placement == (0, 0, 0, 0)
    assert plan.interface == "lo"


def test_a_throttled_host_takes_its_throttle_along_only_where_its_processes_run():
    throttled = Fault(cause="throttled-rank", place="rank:2")
    packed = {"with": {"placement": "packed", "size": "job"}, "experiment": "microbenchmark"}
    assert stopped(plan_run(spec(throttled))) == [2]
    assert stopped(plan_run(spec(throttled, **packed))) == []
    first = Fault(cause="throttled-rank", place="rank:0")
    assert stopped(plan_run(spec(first, **packed))) == [0, 1, 2, 3]


def test_a_worse_placement_moves_one_rank_to_the_far_leaf():
    assert plan_run(spec(Fault(cause="worse-placement", place="rank:3"))).placement == (0, 1, 2, 4)


def test_a_host_names_its_rank():
    by_host = plan_run(spec(Fault(cause="throttled-rank", place="host:1")))
    assert by_host.acts == plan_run(spec(Fault(cause="throttled-rank", place="rank:1"))).acts


def test_two_faults_compose():
    plan = plan_run(
        spec(Fault(cause="degraded-link", place="link:host1-leaf0"), Fault(cause="slow-input-rank", place="rank:0"))
    )
    assert plan.fabric.cable("host1-leaf0").a.rate == 160_000_000
    assert plan.source_rates == {0: 120e3}


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([Fault(cause="gremlins")], "no fault 'gremlins'; the lab has .*comparison-changed"),
        ([Fault(cause="throttled-rank")], "needs a place from rank:0 to rank:3"),
        ([Fault(cause="throttled-rank", place="rank:7")], "needs a place from rank:0 to rank:3"),
        ([Fault(cause="throttled-rank", place="rank:1", params={"duty": 2})], "duty is 2.0, but must be 0.15 to 0.8"),
        ([Fault(cause="throttled-rank", place="rank:1", params={"heat": 2})], "no parameter heat; it has duty"),
        ([Fault(cause="degraded-link", place="link:host9-leaf0")], "no link host9-leaf0"),
        ([Fault(cause="degraded-link", place="rank:1")], "needs a place such as link:"),
        ([Fault(cause="degraded-link", params={"rate": 4e8})], "must be below the 400000000 bit/s"),
        ([Fault(cause="comparison-changed", params={"samples": 8})], "must be below the healthy run's 8"),
        ([Fault(cause="no-overlap", place="rank:1")], "has no place"),
        ([Fault(cause="degraded-link")] * 2, "two faults change the same thing"),
    ],
)
def test_a_fault_that_does_not_fit_is_refused_by_name_bound_and_repair(faults, said):
    with pytest.raises(BadSpec, match=said):
        plan_run(spec(*faults))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"setting": Setting(placement=(0,))}, "2 to 16 ranks"),
        ({"setting": Setting(placement=(0, 9))}, "names host 9"),
        ({"setting": Setting(placement=(1, 1))}, "two ranks on one host"),
        ({"with": {"size": "huge"}, "experiment": "microbenchmark"}, "size is 'huge', but must be small or job"),
        ({"with": {"size": "job"}}, "job has no parameter size"),
        ({"size_bytes": 2, "experiment": "microbenchmark"}, "bytes, not 2"),
        (
            {
                "setting": Setting(topology=Topology(kind="flat")),
                "faults": (Fault(cause="worse-placement", place="rank:1"),),
            },
            "needs a leaf-spine fabric",
        ),
    ],
)
def test_a_setting_that_cannot_run_is_refused(more, said):
    fields = {"experiment": "job", **more}
    with pytest.raises(BadSpec, match=said):
        plan_run(ExperimentSpec.model_validate(fields))
