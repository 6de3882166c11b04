"""Faults of links and placements as plans: pure. What does not fit is refused in words that name the repair."""

from __future__ import annotations

import socket

import pytest

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.fabric.paths import are_as_wanted, static_paths
from gpu_worker.fabric.plan import FABRIC_INTERFACE, plan_fabric
from gpu_worker.faults import FAULTS, kind_of
from gpu_worker.injectors.background_traffic import BackgroundTraffic, _pair, ways_of_the_ring
from gpu_worker.lab.plan import RunPlan, plan_run
from gpu_worker.lab.request import Request, spec_of
from gpu_worker.specs import ExperimentSpec, Fault, Setting, Topology

SPARE = FAULTS["oversubscribed-spine"].trial.setting
ALTERNATING = FAULTS["path-collision"].trial.setting


def planned(cause: str, place: str | None = None, setting: Setting | None = None, **params: float) -> RunPlan:
    fault = Fault(cause=cause, place=place, params=params)
    return plan_run(ExperimentSpec(experiment="job", setting=setting or Setting(), faults=(fault,)))


def test_one_direction_is_degraded_and_the_other_left_alone():
    cable = planned("oneway-degradation", "link:host1-leaf0", rate=100e6, way=1).fabric.cable("host1-leaf0")
    assert (cable.a.rate, cable.b.rate) == (400_000_000, 100_000_000)


def test_two_hosts_are_slow_at_once():
    plan = planned("two-slow-hosts", "rank:1", rate=220e6, apart=2)
    slow = [cable.id for cable in plan.fabric.cables if cable.a.rate == 220_000_000]
    assert slow == ["host1-leaf0", "host3-leaf1"]
    assert plan.must_cross == ("host1-leaf0", "host3-leaf1")


def test_a_rank_joins_the_host_of_one_that_is_no_neighbour():
    plan = planned("two-behind-one-link", "rank:1")
    assert plan.placement == (0, 3, 2, 3)
    paths = static_paths(plan.fabric, plan.placement, FABRIC_INTERFACE)
    assert sum(path.via[0] == "host3-leaf1" for path in paths) == 2


def test_in_a_two_tier_fabric_the_ring_leaves_each_node_twice():
    two_tier = Setting(topology=Topology(kind="two-tier"))
    plan = planned("two-behind-one-link", "rank:1", two_tier)
    assert plan.placement == (0, 2, 1, 3) and plan.collide
    wide = Setting(topology=Topology(kind="two-tier", hosts_per_node=4), placement=tuple(range(8)))
    assert planned("two-behind-one-link", "rank:3", wide).placement == (0, 1, 2, 4, 3, 5, 6, 7)
    with pytest.raises(BadSpec, match="at the end of a node"):
        planned("two-behind-one-link", "rank:1", wide)


def test_a_collision_is_asked_of_the_ports_and_of_nothing_else():
    plan = planned("path-collision", "link:leaf0-spine1", ALTERNATING)
    assert plan.collide and plan.must_cross == ("leaf0-spine1",)
    assert plan.fabric == plan_fabric(ALTERNATING.topology)
    assert plan.to_order()["phases"][0]["collide"] is True


def test_only_a_collision_may_have_flows_that_share_and_it_must():
    fabric = plan_fabric(Topology(kind="two-tier"))
    apart, shared = (static_paths(fabric, hosts, FABRIC_INTERFACE) for hosts in ((0, 1, 2, 3), (0, 2, 1, 3)))
    assert are_as_wanted(fabric, apart, ["node0-core0"], collide=False)
    assert not are_as_wanted(fabric, apart, [], collide=True)
    assert are_as_wanted(fabric, shared, ["node0-core0"], collide=True)
    assert not are_as_wanted(fabric, shared, [], collide=False)
    assert not are_as_wanted(fabric, shared, ["host0-node0"], collide=True)


def test_background_traffic_runs_between_hosts_without_a_rank_below_both_ends():
    (act,) = planned("oversubscribed-spine", "link:leaf1-spine0", SPARE, share=0.5).acts
    assert isinstance(act, BackgroundTraffic)
    assert (act.low, act.far, act.link, act.rate) == (5, 2, "leaf1-spine0", 200e6)


def test_background_traffic_goes_the_way_that_the_ring_goes():
    fabric = plan_fabric(Topology(kind="two-tier"))
    paths = static_paths(fabric, (0, 1, 2, 3), FABRIC_INTERFACE)
    assert ways_of_the_ring(paths, "node0-core0") == ["node0->core0", "core0->node0"]
    assert ways_of_the_ring(paths[:1], "node0-core0") == ["node0->core0"]
    assert ways_of_the_ring(paths[1:2], "node0-core0") == []


def test_unequal_flows_are_many_and_greedy():
    (act,) = planned("unequal-flows", None, SPARE, connections=6).acts
    assert isinstance(act, BackgroundTraffic)
    assert (act.connections, act.rate, act.link) == (6, 0, "leaf0-spine0")


def test_a_lossy_link_loses_both_ways_and_a_flapping_one_goes_down_at_the_switch():
    (loss,) = planned("lossy-link", "link:host2-leaf1", per_million=7000).acts
    assert loss.model_dump() == {"kind": "lossy-link", "ways": ("host2->leaf1", "leaf1->host2"), "per_million": 7000}
    (flaps,) = planned("flapping-link", "link:host2-leaf1").acts
    assert flaps.model_dump()["way"] == "leaf1->host2"


@pytest.mark.parametrize(
    ("cause", "place", "setting", "params", "said"),
    [
        ("oneway-degradation", None, Setting(), {"rate": 4e8}, "must be below the 400000000 bit/s"),
        ("oneway-degradation", None, Setting(), {"way": 2}, "way is 2.0, but must be 0 to 1"),
        ("two-slow-hosts", "rank:1", Setting(), {"apart": 4}, "that is the same host"),
        ("two-behind-one-link", "rank:0", Setting(placement=(0, 1, 2)), {}, "needs 4 ranks or more"),
        ("path-collision", None, Setting(), {}, "two flows of the ring that leave one leaf"),
        ("path-collision", "link:host0-leaf0", ALTERNATING, {}, "between two switches"),
        ("oversubscribed-spine", None, Setting(), {}, "leave some free"),
        ("oversubscribed-spine", None, Setting(topology=Topology(kind="flat")), {}, "needs uplinks"),
        ("unequal-flows", "link:host0-leaf0", SPARE, {}, "between two switches"),
        ("lossy-link", "rank:1", Setting(), {}, "needs a place such as link:"),
        ("lossy-link", None, Setting(), {"per_million": 0}, "must be 500 to 200000"),
        ("mtu-mismatch", None, Setting(), {"mtu": 9000}, "must be 576 to 1480 B"),
        ("blackhole", "rank:1", Setting(), {}, "needs a place such as link:"),
        ("flapping-link", None, Setting(), {"down_s": 3}, "must be 0.005 to 0.2 s"),
    ],
)
def test_a_fabric_fault_that_does_not_fit_is_refused_with_its_repair(cause, place, setting, params, said):
    with pytest.raises(BadSpec, match=said):
        planned(cause, place, setting, **params)


@pytest.mark.parametrize("cause", ["path-collision", "oversubscribed-spine", "unequal-flows"])
def test_a_fault_that_needs_a_setting_of_its_own_gets_it_on_the_command_line(cause):
    own = FAULTS[cause].trial.setting
    spec = spec_of(Request("path-map", faults=[cause], rate="200Mbit"))
    assert spec.setting.placement == spec.setting.baseline_placement == own.placement
    assert spec.setting.topology.hosts_per_leaf == own.topology.hosts_per_leaf
    assert spec.setting.topology.link_rate == 200_000_000
    assert plan_run(spec)
    with pytest.raises(BadSpec):
        plan_run(spec_of(Request("path-map", faults=[cause], topology="flat")))


def raw(**more) -> dict:
    facts = {"setting": Setting().model_dump(), "packed": False, "interface": "fabric", "measured_wall_s": 2.0}
    return {**facts, "placement": (0, 1, 2, 3), "counters": {}, "paths": [], "rates": {}, "injected": [], **more}


@pytest.mark.parametrize(
    ("fault", "facts"),
    [
        (
            Fault(cause="lossy-link", place="link:host1-leaf0"),
            raw(
                counters={way: {"bytes": 30_000_000} for way in ("host1->leaf0", "leaf0->host1")},
                injected=[{"kind": "lossy-link", "per_million": 20_000, "lost_by_netem": 0, "lost_by_nftables": 3}],
            ),
        ),
        (
            Fault(cause="flapping-link", place="link:host1-leaf0"),
            raw(injected=[{"kind": "flapping-link", "way": "leaf0->host1", "every_s": 0.6, "carrier_downs": 0}]),
        ),
        (
            Fault(cause="oversubscribed-spine"),
            raw(
                setting=SPARE.model_dump(),
                injected=[{"kind": "background-traffic", "link": "leaf0-spine0", "rate": 2e8, "bytes_sent": 10_000}],
            ),
        ),
        (Fault(cause="path-collision"), raw(setting=ALTERNATING.model_dump())),
        (
            Fault(cause="two-behind-one-link", place="rank:1"),
            raw(
                placement=(0, 3, 2, 3),
                counters={
                    way: {"bytes": 1_000_000}
                    for host, leaf in ((0, 0), (2, 1), (3, 1))
                    for way in (f"host{host}->leaf{leaf}", f"leaf{leaf}->host{host}")
                },
            ),
        ),
    ],
    ids=lambda value: getattr(value, "cause", ""),
)
def test_a_fabric_fault_that_left_no_trace_did_not_fire(fault, facts):
    with pytest.raises(FaultDidNotFire):
        kind_of(fault).fired(fault, facts)


def test_a_port_that_an_earlier_phase_still_holds_is_passed_over():
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        assert _pair(listener, holder.getsockname()) is None
