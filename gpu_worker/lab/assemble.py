"""From the launcher's raw result to a WholeRun: names, roundings and the proof that each fault fired. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.faults import kind_of
from gpu_worker.lab.plan import RunPlan
from gpu_worker.specs import WholeRun

DIGITS_S = 5  # 10 microseconds


def whole_run(plan: RunPlan, raw: Mapping[str, Any], provenance: Mapping[str, Any]) -> WholeRun:
    """Raises FaultDidNotFire where a fault of the spec left no trace."""
    return WholeRun(
        spec=plan.spec,
        fired=proofs(plan, raw),
        provenance=dict(provenance),
        fabric=_fabric(plan, raw),
        ranks=_ranks(plan, raw) if plan.spec.experiment == "job" else [],
        iterations=_iterations(raw) if plan.spec.experiment == "microbenchmark" else [],
        size_bytes=plan.size_bytes,
    )


def proofs(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """By cause: what shows that its fault fired. Raises FaultDidNotFire."""
    facts = {
        **raw,
        "setting": plan.spec.setting.model_dump(),
        "experiment": plan.spec.experiment,
        "placement": plan.placement,
        "packed": plan.packed,
        "interface": plan.job.interface,
        "stops_planned": bool(plan.stops),
    }
    return {fault.cause: kind_of(fault).fired(fault, facts) for fault in plan.spec.faults}


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
            }
            for cable in plan.fabric.cables
        ],
        "counters": raw["counters"],
        "paths": raw["paths"],
        # Kept out of provenance, which is shown: a run whose fault wants a certain path needs more tries.
        "port_tries": raw["port_tries"],
    }


def _ranks(plan: RunPlan, raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    # Counted from the first measured step: shorter numbers, and nothing about when the machine was started.
    origin = min(rank["steps"][0]["start"] for rank in raw["ranks"])
    return [
        {
            "rank": number,
            "host": plan.placement[number],
            "interface": rank["interface"],
            "steps": [_step(step, origin) for step in rank["steps"]],
            "telemetry": {name: _rounded(value) for name, value in rank["telemetry"].items()},
        }
        for number, rank in enumerate(raw["ranks"])
    ]


def _step(step: Mapping[str, Any], origin: float) -> dict[str, Any]:
    collectives = [
        {
            "bytes": entry["bytes"],
            "launch": round(entry["launch"] - origin, DIGITS_S),
            "done": round(entry["done"] - origin, DIGITS_S),
        }
        for entry in step["collectives"]
    ]
    rest = {name: _rounded(value) for name, value in step.items() if name not in ("collectives", "start")}
    return {"start": round(step["start"] - origin, DIGITS_S), **rest, "collectives": collectives}


def _iterations(raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    by_iteration = zip(*(rank["seconds"] for rank in raw["ranks"]), strict=True)
    return [{"seconds": round(max(seconds), 6), "by_rank": [round(s, 6) for s in seconds]} for seconds in by_iteration]


def _rounded(value: Any) -> Any:
    return round(value, DIGITS_S) if isinstance(value, float) else value
