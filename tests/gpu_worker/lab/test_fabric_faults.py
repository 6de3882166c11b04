"""Faults of links, paths and placements on real runs: each fires, shows where it must, and spares the rest."""

from __future__ import annotations

from statistics import median

import pytest

from gpu_worker.errors import RunFailed
from gpu_worker.faults import FAULTS
from gpu_worker.probes import PROBES
from gpu_worker.specs import Fault, Job, Setting, Topology, WholeRun
from grader.physics import degraded_ring, payload_floor_s

pytestmark = pytest.mark.lab

SHORT = Job(measured_steps=3, warmup_steps=2)
TWO_TIER = Setting(topology=Topology(kind="two-tier"), job=SHORT)
LINK = "link:host1-leaf0"
COLLISION = Fault(cause="path-collision")
BEHIND = Fault(cause="two-behind-one-link", place="rank:1")
OTHERS = Fault(cause="oversubscribed-spine")
MANY = Fault(cause="unequal-flows")
LOSSY = Fault(cause="lossy-link", place=LINK)
FLAPPING = Fault(cause="flapping-link", place=LINK)


def of(fault: Fault) -> Setting:
    """The setting in which a fault is tried, in short."""
    return FAULTS[fault.cause].trial.setting.model_copy(update={"job": SHORT})


def finding(run: WholeRun, probe: str, **with_: str) -> str:
    return PROBES[probe].finding(PROBES[probe].read(run, with_ or dict(run.spec.with_)))


def fraction(run: WholeRun) -> float:
    return float(PROBES["microbenchmark"].read(run, {}).readings["fraction_of_floor"].value)


def accusing(run: WholeRun) -> set[str]:
    """Which of the probes that spare a healthy job say anything else of this run."""
    quiet = {
        "per-rank-step-times": "even",
        "host-telemetry": "even",
        "link-rates": "nominal",
        "link-error-counters": "clean",
        "path-map": "apart",
        "link-utilisation": "job-alone",
    }
    found = {probe: finding(run, probe, **({"scope": "all"} if probe == "link-rates" else {})) for probe in quiet}
    return {probe for probe, said in found.items() if said != quiet[probe]}


def test_the_ring_is_read_from_the_bytes_of_sockets_and_agrees_with_the_paths(run):
    """gloo's ring sends from each rank to the one before it: counted, not believed."""
    taken = run("job")
    biggest = sorted(taken.fabric["flows"], key=lambda flow: -flow["bytes"])[:4]
    placement = taken.fabric["placement"]
    paths = {(placement[path["src_rank"]], placement[path["dst_rank"]]) for path in taken.fabric["paths"]}
    assert {(flow["src"], flow["dst"]) for flow in biggest} == paths == {(0, 3), (1, 0), (2, 1), (3, 2)}
    wanted = 1.5 * taken.size_bytes * SHORT.measured_steps
    assert all(abs(flow["bytes"] - wanted) < 0.03 * wanted for flow in biggest)
    assert accusing(taken) == set()


@pytest.mark.long
def test_inside_a_two_tier_fabric_the_cable_across_sets_the_pace(run):
    assert fraction(run("microbenchmark", setting=TWO_TIER)) > 0.9
    taken = run("job", setting=TWO_TIER)
    assert accusing(taken) == set()
    carried = taken.fabric["counters"]["node0->core0"]["bytes"]
    assert carried == pytest.approx(taken.fabric["counters"]["host1->node0"]["bytes"], rel=0.05)


@pytest.mark.parametrize(
    ("fault", "within"),
    [
        (Fault(cause="oneway-degradation", place=LINK, params={"rate": 200e6, "way": 1}), 0.10),
        (Fault(cause="degraded-link", place=LINK, params={"rate": 200e6}), 0.15),
    ],
    ids=["one way", "both ways"],
)
def test_a_ring_runs_at_its_slowest_link_as_the_physics_says(run, fault, within):
    """Against the payload floor: headers take their share of the slow link as of any other."""
    taken = run("microbenchmark", fault)
    floor = degraded_ring(4, taken.size_bytes, taken.spec.setting.topology.link_rate, fault.params["rate"])
    seconds = median(one["seconds"] for one in taken.iterations)
    assert seconds == pytest.approx(payload_floor_s(floor.time_s), rel=within)


@pytest.mark.long
def test_two_flows_on_one_uplink_show_in_the_paths_and_in_one_links_bytes(run):
    taken = run("job", COLLISION, setting=of(COLLISION))
    assert finding(taken, "path-map") == "shared-uplink"
    assert finding(taken, "link-utilisation") == "one-link-busier"
    assert accusing(taken) <= {"path-map", "link-utilisation"}


def test_two_ranks_behind_one_link_cross_no_more_switches_than_before(run):
    taken = run("job", BEHIND)
    assert finding(taken, "path-map") == "shared-host-link"
    assert finding(taken, "link-utilisation") == "one-link-busier"
    assert finding(taken, "placement-map") == "as-before"  # the misleading witness
    assert accusing(taken) <= {"path-map", "link-utilisation"}


@pytest.mark.long
def test_a_two_tier_ring_in_the_wrong_order_halves_each_nodes_cable(run):
    taken = run("microbenchmark", BEHIND, setting=TWO_TIER)
    assert fraction(taken) < 0.6
    assert taken.fired["two-behind-one-link"]["link"] == "node0-core0"


@pytest.mark.long
def test_others_on_an_uplink_are_named_by_their_sockets(run):
    taken = run("job", OTHERS, setting=of(OTHERS))
    assert finding(taken, "link-utilisation") == "others-too"
    readings = PROBES["link-utilisation"].read(taken, {}).readings
    assert {readings["others"].value} <= {"host2 → host5", "host5 → host2"}
    assert accusing(taken) <= {"link-utilisation"}


@pytest.mark.long
def test_one_flow_among_greedy_ones_gets_its_part_and_no_more(run):
    taken = run("microbenchmark", MANY, setting=of(MANY))
    assert fraction(taken) < 0.6
    assert taken.fired["unequal-flows"]["others_bits_per_s"] > 0.4 * 400e6


@pytest.mark.long
def test_two_slow_hosts_hold_the_ring_as_one_would(run):
    taken = run("microbenchmark", Fault(cause="two-slow-hosts", place="rank:1"))
    assert 0.45 < fraction(taken) < 0.6
    assert finding(run("job"), "link-rates", scope="suspects") == "nominal"


@pytest.mark.long
def test_a_lossy_link_drops_and_its_hosts_send_again(run):
    taken = run("job", LOSSY)
    assert finding(taken, "link-error-counters") == "errors"
    readings = PROBES["link-error-counters"].read(taken, {}).readings
    assert "host1" in str(readings["worst_drop_link"].value)
    assert taken.fired["lossy-link"]["by"] in ("netem", "nftables")
    # Bytes that are sent again belong to nobody: now and then they pass for others' traffic.
    assert accusing(taken) <= {"link-error-counters", "link-utilisation"}


def test_a_lossy_uplink_keeps_the_flows_that_it_slows(run):
    """TCP draws another hash after a time-out, and routers go by it: a flow left to itself walks to the other spine."""
    lossy = Fault(cause="lossy-link", place="link:leaf0-spine1", params={"per_million": 13_000})
    taken = run("microbenchmark", lossy)
    flows = [sum(f"leaf0-{spine}" in path["via"] for path in taken.fabric["paths"]) for spine in ("spine0", "spine1")]
    carried = [
        sum(taken.fabric["counters"][way]["bytes"] for way in (f"leaf0->{spine}", f"{spine}->leaf0"))
        for spine in ("spine0", "spine1")
    ]
    assert flows[1] and fraction(taken) < 0.8
    assert carried[1] / sum(carried) == pytest.approx(flows[1] / sum(flows), rel=0.2)


@pytest.mark.long
def test_a_flapping_link_loses_its_carrier_and_what_was_under_way(run):
    taken = run("job", FLAPPING)
    assert taken.fired["flapping-link"]["carrier_downs"] >= 1
    readings = PROBES["link-error-counters"].read(taken, {}).readings
    assert readings["carrier_link"].value == "host1-leaf0"
    assert sum(rank["telemetry"]["tcp_retransmits"] for rank in taken.ranks) > 50
    assert accusing(taken) <= {"link-error-counters"}


@pytest.mark.long
def test_a_flapping_uplink_goes_down_and_comes_back_with_its_routes(run):
    """It costs little: the spine says that the host cannot be reached, and TCP tries again at once."""
    taken = run("microbenchmark", Fault(cause="flapping-link", place="link:leaf0-spine1"))
    assert taken.fired["flapping-link"]["carrier_downs"] >= 1
    assert fraction(taken) > 0.05, "it never came back"


def test_beyond_an_mtu_mismatch_small_messages_pass_and_large_ones_hang(run):
    mismatch = Fault(cause="mtu-mismatch", place=LINK)
    assert run("microbenchmark", mismatch, size_bytes=4000).iterations
    with pytest.raises(RunFailed, match="deadline"):
        run("microbenchmark", mismatch, deadline_s=4)


def test_a_blackhole_hangs_the_job_once_some_traffic_has_passed(run):
    with pytest.raises(RunFailed, match="deadline"):
        run("microbenchmark", Fault(cause="blackhole", place=LINK), deadline_s=6)
