"""Plans of fabrics: pure, no network."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_worker.errors import BadSpec
from gpu_worker.fabric import plan as fabric
from gpu_worker.specs import Topology

topologies = st.builds(
    Topology,
    kind=st.sampled_from(["leaf-spine", "flat", "two-tier"]),
    leaves=st.integers(1, 5),
    spines=st.integers(1, 4),
    hosts_per_leaf=st.integers(1, 8),
    hosts=st.integers(1, 16),
    nodes=st.integers(1, 5),
    hosts_per_node=st.integers(1, 8),
)


def test_the_flagship_fabric_is_the_documented_one():
    plan = fabric.plan_fabric(Topology())
    ids = {cable.id for cable in plan.cables}
    assert plan.leaf_of == (0, 0, 1, 1, 2, 2)
    assert {"host0-leaf0", "leaf0-spine1", "host0-mgmt"} <= ids
    assert len(ids) == 6 + 6 + 6
    assert plan.cable("leaf2-spine0").nominal == Topology().far_uplink_rate
    assert plan.cable("leaf1-spine0").nominal == Topology().link_rate


@given(topologies)
def test_addresses_and_cables_are_unique_and_every_cable_joins_two_nodes(topology):
    plan = fabric.plan_fabric(topology)
    ports = [port for cable in plan.cables for port in (cable.a, cable.b)]
    addresses = [port.address for port in ports if port.address]
    assert len(set(addresses)) == len(addresses)
    assert len({(port.node, port.interface) for port in ports}) == len(ports)
    assert {port.node for port in ports} == {node.name for node in plan.nodes}


@given(topologies)
def test_a_plan_survives_its_way_to_the_launcher(topology):
    plan = fabric.plan_fabric(topology)
    assert fabric.from_dict(json.loads(json.dumps(asdict(plan)))) == plan


def test_every_leaf_reaches_a_remote_host_by_every_spine():
    plan = fabric.plan_fabric(Topology())
    routes = {(route.node, route.destination): route.gateways for route in plan.routes}
    assert len(routes["leaf0", "10.37.2.0/30"]) == 2
    assert ("leaf0", "10.37.0.0/30") not in routes  # its own host: directly connected


def test_a_node_is_fast_inside_and_has_one_cable_across():
    plan = fabric.plan_fabric(Topology(kind="two-tier", nodes=2, hosts_per_node=2))
    assert plan.leaf_of == (0, 0, 1, 1)
    assert plan.cable("host0-node0").nominal == Topology().inside_rate
    assert plan.cable("node1-core0").nominal == Topology().link_rate
    routes = {(route.node, route.destination): route.gateways for route in plan.routes}
    assert routes["node0", "10.37.2.0/30"] == ("10.38.0.2",)
    assert ("node0", "10.37.0.0/30") not in routes


def test_one_links_rate_changes_both_its_directions_and_nothing_else():
    healthy = fabric.plan_fabric(Topology())
    plan = fabric.plan_fabric(Topology(), {"host1-leaf0": 100_000_000})
    changed = [cable.id for cable, before in zip(plan.cables, healthy.cables, strict=True) if cable != before]
    cable = plan.cable("host1-leaf0")
    assert changed == ["host1-leaf0"]
    assert (cable.a.rate, cable.b.rate, cable.nominal) == (100_000_000, 100_000_000, 400_000_000)


@pytest.mark.parametrize(
    ("topology", "said"),
    [
        (Topology(kind="flat", hosts=0), "hosts"),
        (Topology(hosts_per_leaf=40), "hosts"),
        (Topology(spines=9), "spines"),
        (Topology(link_rate=10), "link_rate"),
    ],
)
def test_a_fabric_that_cannot_be_built_is_refused_by_name(topology, said):
    with pytest.raises(BadSpec, match=said):
        fabric.plan_fabric(topology)


def test_an_unknown_link_is_refused_with_the_links_there_are():
    with pytest.raises(BadSpec, match="host0-leaf0"):
        fabric.plan_fabric(Topology(), {"host9-leaf9": 1_000_000})
