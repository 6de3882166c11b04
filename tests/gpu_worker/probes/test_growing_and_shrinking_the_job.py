"""Scaling ladder and single-node baseline: findings of made runs, exact to the threshold."""

from __future__ import annotations

import pytest

from gpu_worker.probes import PROBES
from tests.gpu_worker.probes import made_scaling_ladder, made_single_node_baseline


def finding(run, **params):
    probe = PROBES[run.spec.experiment]
    return probe.finding(probe.read(run, params or dict(run.spec.with_)))


@pytest.mark.parametrize("kind", ["strong", "weak"])
@pytest.mark.parametrize(
    ("exposed_s", "growth", "expected"),
    [
        (0.0, 1.0, "linear"),
        (0.3, 1.0, "communication-bound"),
        (0.62, 1.0, "inconclusive"),
        (1.5, 1.0, "beyond-floor"),
        (0.3, 1.3, "inconclusive"),
        (0.3, 2.0, "compute-grows"),
        (1.5, 2.0, "compute-grows"),
    ],
)
def test_a_ladder_tells_compute_from_communication_and_physics_from_more(kind, exposed_s, growth, expected):
    assert finding(made_scaling_ladder.healthy(kind, exposed_s=exposed_s, growth=growth)) == expected


def test_waits_for_shared_cores_cost_no_efficiency_but_are_shown():
    """Half of the compute on the largest rung is waiting: as timed it scales badly, on cores of its own it does not."""
    run = made_scaling_ladder.healthy(exposed_s=0.0, growth=2.0)
    for rank in run.recorded["rungs"][0]:
        rank["telemetry"] = {**rank["telemetry"], "compute_wall_s": 5.0, "run_delay_s": 1.0 + 2.5}
    for rank in run.recorded["rungs"][-1]:
        rank["telemetry"] = {**rank["telemetry"], "compute_wall_s": 2.5, "run_delay_s": 0.5 * 2.5 / 5.0 * 2.0}
    readings = PROBES["scaling-ladder"].read(run, {"kind": "weak"}).readings
    assert readings["efficiency"].value > 1.3 * readings["efficiency_as_timed"].value


@pytest.mark.parametrize(
    ("lost_floors", "expected"), [(0.2, "within-floor"), (1.4, "inconclusive"), (3.5, "beyond-floor")]
)
def test_a_baseline_holds_what_is_lost_between_hosts_against_the_floor(lost_floors, expected):
    floor_s = PROBES["single-node-baseline"].read(made_single_node_baseline.healthy(), {}).readings["floor_s"].value
    assert finding(made_single_node_baseline.healthy(lost_floors * floor_s)) == expected


@pytest.mark.parametrize("probe", ["scaling-ladder", "single-node-baseline"])
def test_a_run_of_another_experiment_is_refused_by_name(made, probe):
    with pytest.raises(ValueError, match="job"):
        PROBES[probe].read(made["healthy"], {"kind": "weak"})
