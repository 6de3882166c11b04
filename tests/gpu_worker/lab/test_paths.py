"""Which links the ring's flows take, and when two of them get in each other's way: pure."""

from __future__ import annotations

from dataclasses import replace

from gpu_worker.fabric.paths import shared_uplinks, static_paths
from gpu_worker.fabric.plan import FABRIC_INTERFACE, LOOPBACK_INTERFACE, MANAGEMENT_INTERFACE, plan_fabric
from gpu_worker.specs import Topology

PLAN = plan_fabric(Topology())


def test_flows_inside_a_leaf_are_known_and_flows_between_leaves_are_not():
    paths = static_paths(PLAN, (0, 1, 2, 3), FABRIC_INTERFACE)
    assert [(p.source, p.target, p.known) for p in paths] == [(0, 3, False), (1, 0, True), (2, 1, False), (3, 2, True)]
    assert paths[1].via == ("host1-leaf0", "host0-leaf0")


def test_the_management_network_and_loopback_offer_no_choice():
    assert all(path.known for path in static_paths(PLAN, (0, 1, 2, 3), MANAGEMENT_INTERFACE))
    packed = static_paths(PLAN, (0, 0, 0, 0), LOOPBACK_INTERFACE)
    assert all(path.known and not path.via for path in packed)


def test_two_flows_over_one_uplink_in_one_direction_collide():
    up = ("host0-leaf0", "leaf0-spine1", "leaf1-spine1", "host2-leaf1")
    other = ("host1-leaf0", "leaf0-spine1", "leaf1-spine1", "host3-leaf1")
    paths = static_paths(PLAN, (0, 2, 1, 3), FABRIC_INTERFACE)
    colliding = [replace(paths[0], via=up), replace(paths[2], via=other)]
    assert shared_uplinks(PLAN, colliding) == {("leaf0-spine1", "up"), ("leaf1-spine1", "down")}
    against_each_other = [replace(paths[0], via=up), replace(paths[1], via=up[::-1])]
    assert shared_uplinks(PLAN, against_each_other) == set()
