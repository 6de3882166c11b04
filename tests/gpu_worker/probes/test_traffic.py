"""Paths, ring and owners, on runs made by hand: what counters and sockets say together."""

from __future__ import annotations

import pytest

from gpu_worker.probes import PROBES, _traffic
from gpu_worker.specs import WholeRun
from tests.gpu_worker.probes.conftest import BUSY_BYTES, made_job


def finding(run: WholeRun, probe: str) -> str:
    return PROBES[probe].finding(PROBES[probe].read(run, {}))


def reading(run: WholeRun, probe: str, name: str):
    return PROBES[probe].read(run, {}).readings[name].value


def with_fabric(run: WholeRun, **more) -> WholeRun:
    return run.model_copy(update={"fabric": {**run.fabric, **more}})


def sharing(kind: str) -> WholeRun:
    """Ranks 0 and 2 send over one direction: of an uplink, or of a host's link."""
    shared = {"uplink": ["host1-leaf0", "leaf0-spine0", "leaf1-spine0", "host2-leaf1"], "host": ["host0-leaf0"] * 2}
    run = made_job()
    paths = [dict(path) for path in run.fabric["paths"]]
    paths[1] = {**paths[1], "via": shared[kind] if kind == "uplink" else ["host0-leaf0", "host1-leaf0"]}
    return with_fabric(run, paths=paths, flows=[])


def test_a_path_is_a_list_of_directions_up_and_down_again():
    run = made_job()
    ways = _traffic.directions_of(run, run.fabric["paths"][0]["via"])
    assert ways == ["host0->leaf0", "leaf0->spine0", "spine0->leaf1", "leaf1->host3"]
    inside = _traffic.directions_of(run, ["host1-leaf0", "host0-leaf0"])
    assert inside == ["host1->leaf0", "leaf0->host0"]


def test_a_healthy_ring_keeps_apart_and_is_alone():
    run = made_job()
    assert finding(run, "path-map") == "apart"
    assert reading(run, "path-map", "ring") == "0 → 3 → 2 → 1 → 0"
    assert finding(run, "link-utilisation") == "job-alone"
    assert reading(run, "link-utilisation", "others") == "none"


def test_two_flows_in_one_direction_are_named_with_their_link():
    assert finding(sharing("uplink"), "path-map") == "shared-uplink"
    assert "leaf0 → spine0" in reading(sharing("uplink"), "path-map", "shared_links")
    assert finding(sharing("host"), "path-map") == "shared-host-link"


def test_sockets_that_tell_another_ring_than_the_paths_leave_it_open():
    run = made_job()
    turned = [{**flow, "src": flow["dst"], "dst": flow["src"]} for flow in run.fabric["flows"]]
    assert finding(with_fabric(run, flows=turned), "path-map") == "inconclusive"
    assert finding(with_fabric(run, paths=[]), "path-map") == "inconclusive"


def test_a_run_of_before_sockets_were_read_is_told_by_its_gradients():
    run = made_job()
    old = with_fabric(run)
    del old.fabric["flows"]
    assert finding(old, "path-map") == "apart"
    assert {flow.bytes_sent for flow in _traffic.ring_flows(old)} == {None}
    assert finding(old, "link-utilisation") in ("job-alone", "inconclusive")


@pytest.mark.parametrize(("extra", "found"), [(0.5, "others-too"), (0.1, "inconclusive"), (0.0, "job-alone")])
def test_what_a_link_carried_beyond_the_job_belongs_to_others(extra, found):
    run = made_job()
    counters = {way: dict(count) for way, count in run.fabric["counters"].items()}
    counters["leaf0->spine0"]["bytes"] += round(extra * BUSY_BYTES)
    theirs = {"src": 4, "dst": 5, "network": "access", "bytes": round(extra * BUSY_BYTES), "connections": 3}
    loaded = with_fabric(run, counters=counters, flows=[*run.fabric["flows"], theirs])
    assert finding(loaded, "link-utilisation") == found
    assert reading(loaded, "link-utilisation", "others") == "host4 → host5"


def test_traffic_of_the_job_beside_its_ring_is_the_jobs():
    """A second connection between hosts of the job, on links of unknown choice, accuses nobody."""
    run = made_job()
    counters = {way: dict(count) for way, count in run.fabric["counters"].items()}
    for way in ("host1->leaf0", "leaf0->spine0", "spine0->leaf1", "leaf1->host3"):
        counters[way]["bytes"] += BUSY_BYTES // 2
    beside = {"src": 1, "dst": 3, "network": "access", "bytes": BUSY_BYTES // 2, "connections": 1}
    run = with_fabric(run, counters=counters, flows=[*run.fabric["flows"], beside])
    assert reading(run, "link-utilisation", "others_share") < 0.06


def test_one_direction_with_twice_the_jobs_bytes_is_busier():
    run = sharing("uplink")
    counters = {way: dict(count) for way, count in run.fabric["counters"].items()}
    counters["leaf0->spine0"]["bytes"] = counters["spine0->leaf1"]["bytes"] = 2 * BUSY_BYTES
    flows = [
        {"src": s, "dst": d, "network": "access", "bytes": round(0.94 * BUSY_BYTES), "connections": 1}
        for s, d in ((0, 3), (1, 0), (2, 1), (3, 2))
    ]
    assert finding(with_fabric(run, counters=counters, flows=flows), "link-utilisation") == "one-link-busier"


def test_a_lost_carrier_is_told_by_the_link_that_lost_it():
    run = made_job()
    links = [{**link, "carrier_downs": 3 * (link["id"] == "host1-leaf0")} for link in run.fabric["links"]]
    readings = PROBES["link-error-counters"].read(with_fabric(run, links=links), {}).readings
    assert (readings["carrier_downs"].value, readings["carrier_link"].value) == (3, "host1-leaf0")
    assert "carrier_downs" not in PROBES["link-error-counters"].read(run, {}).readings
