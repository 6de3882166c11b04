"""One rank's process is ended by a signal while it trains, as the kernel's out-of-memory killer does."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import BadSpec, FaultDidNotFire
from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, Trial, injected, params_of, rank_of
from gpu_worker.injectors.kill_rank import KillRank
from gpu_worker.specs import Fault, Setting

ID = "dead-rank"
FATAL = (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGTERM)


class DeathParams(_watched.StepParams):
    signal: int = Field(
        default=9,
        ge=1,
        le=31,
        description="number of the signal: 9 as the kernel's out-of-memory killer, 11 as a crash in a library",
        json_schema_extra={"unit": "signal", "kind": "count"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    params, rank = params_of(DeathParams, fault), rank_of(setting, fault)
    if params.signal not in FATAL:
        known = ", ".join(str(int(one)) for one in sorted(FATAL))
        raise BadSpec(f"fault {ID}: signal is {params.signal}, but must be one that ends a process: {known}")
    return Changes(acts=(KillRank(host=setting.placement[rank], signal=params.signal, at_step=params.step),))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel says that this rank was ended by that signal, and nobody else was."""
    if not _watched.watched(raw):
        return NOT_EXERCISED
    rank, wanted = _watched.place_rank(fault, raw), params_of(DeathParams, fault).signal
    (counted,) = injected(raw, "kill-rank")
    end = _watched.ends(raw)[rank]
    if counted["kills"] != 1 or end.get("signal") != wanted:
        raise FaultDidNotFire(f"rank {rank} should have been ended by signal {wanted}, but it {end['how']}")
    return {"kills": 1, "signal": wanted, "ends": list(_watched.kinds(raw))}


FAULT = _watched.fault_of_rank(
    id=ID,
    title="A dead rank",
    description="The process of one rank is ended by a signal in the middle of a step.",
    params=DeathParams,
    plan=plan,
    fired=fired,
    trial=Trial(place="rank:2"),
)
