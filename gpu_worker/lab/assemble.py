"""From the launcher's raw result to a WholeRun: names, roundings and the proof that each fault fired. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments import experiment_of
from gpu_worker.faults import kind_of
from gpu_worker.specs import WholeRun

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan


def whole_run(plan: RunPlan, raw: Mapping[str, Any], provenance: Mapping[str, Any]) -> WholeRun:
    """Raises FaultDidNotFire where a fault of the spec left no trace."""
    main = {**raw, **raw["phases"][0]}
    return WholeRun(
        spec=plan.spec,
        fired=proofs(plan, main),
        provenance=dict(provenance),
        fabric=_fabric(plan, main),
        size_bytes=plan.size_bytes,
        **experiment_of(plan.spec.experiment).record(plan, main),
    )


def proofs(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """By cause: what shows that its fault fired. Raises FaultDidNotFire."""
    known = facts(plan, raw)
    return {fault.cause: kind_of(fault).fired(fault, known) for fault in plan.spec.faults}


def facts(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """What a fault's proof may look at: the raw result of the main phase (ranks, counters over the measured part,
    rates read back, injected, paths, measured_wall_s), every phase under `phases`, and how the run was set.
    """
    return {
        **raw,
        "setting": plan.spec.setting.model_dump(),
        "experiment": plan.spec.experiment,
        "placement": plan.placement,
        "packed": plan.packed,
        "interface": plan.job.interface,
        "job": plan.job.model_dump(),
    }


def _fabric(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "hosts": [{"host": host, "leaf": leaf} for host, leaf in enumerate(plan.fabric.leaf_of)],
        "placement": list(plan.placement),
        "links": [
            {
                "id": cable.id,
                "kind": cable.kind,
                "ends": [cable.a.node, cable.b.node],
                "rate": {
                    name: raw["rates"][name]
                    for name in (f"{cable.a.node}->{cable.b.node}", f"{cable.b.node}->{cable.a.node}")
                },
                "nominal": cable.nominal,
                "carrier_downs": max(raw["carrier_downs"][f"{p.node}:{p.interface}"] for p in (cable.a, cable.b)),
            }
            for cable in plan.fabric.cables
        ],
        "counters": raw["counters"],
        "paths": raw["paths"],
        "flows": raw["flows"],
        # Kept out of provenance, which is shown: a run whose fault wants a certain path needs more tries.
        "port_tries": raw["port_tries"],
        "kept_ready": raw["kept_ready"],
        "built_s": round(raw["built_s"], 3),
    }
