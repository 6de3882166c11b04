"""The computing threads of all ranks are bound to the same core, while the other cores idle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, NoParams, params_of, refuse_place
from gpu_worker.specs import Fault, Setting

ID = "pinned-cores"


def plan(setting: Setting, fault: Fault) -> Changes:
    refuse_place(fault)
    params_of(NoParams, fault)
    return Changes(job={"binding": "one-core"})


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel's masks of the computing threads name one core, the same for all, and other cores were idler."""
    if raw["experiment"] != "job":
        return NOT_EXERCISED
    told = [rank["telemetry"]["kernel"] for rank in raw["ranks"]]
    masks = {tuple(kernel["allowed_cores"]) for kernel in told}
    if len(masks) != 1 or len(mask := masks.pop()) != 1:
        raise FaultDidNotFire(f"all ranks should share one core, but the kernel allows {sorted(masks)}")
    idle = told[0]["core_idle_shares"]
    others = [share for core, share in idle.items() if int(core) not in mask]
    if not others:
        raise FaultDidNotFire("this machine has one core only: nothing idles beside the pinned one")
    return {"core": mask[0], "its_idle_share": idle[str(mask[0])], "others_idle_share": max(others)}


FAULT = FaultKind(
    id=ID,
    title="Pinned cores",
    description="Every host got the same mask of cores: all ranks compute on the machine's first core, the rest idles.",
    place_kind="none",
    params=NoParams,
    plan=plan,
    fired=fired,
    shows=("host-telemetry",),
    spares=(
        "per-rank-step-times",
        "input-timings",
        "link-error-counters",
        "link-rates[scope=all]",
        "microbenchmark[placement=as-job,size=job]",
    ),
)
