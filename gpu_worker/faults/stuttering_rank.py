"""One rank's host stutters: its processes stop for moments of irregular length, in bad spells and good ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import (
    NOT_EXERCISED,
    Changes,
    FaultKind,
    Params,
    Trial,
    counted_of,
    params_of,
    rank_of,
    trained,
)
from gpu_worker.injectors.stutter import Stutter
from gpu_worker.specs import Fault, Setting

ID = "stuttering-rank"
# About a step of the healthy job, so that some steps are hit and others spared; the rests between are shorter, or
# useful work stays above 0.7 of healthy.
SPELL_S, REST_S = 1.5, 1.0
LONGEST_OFF_S = 0.008
LEAST_SHARE = 0.2  # of what was asked for, over the measured part of a job: a few steps may see little of it


class StutterParams(Params):
    stalled: float = Field(
        default=0.85,
        ge=0.5,
        le=0.9,
        description="share of a bad spell in which the rank is stopped",
        json_schema_extra={"unit": "", "kind": "ratio"},
    )


def plan(setting: Setting, fault: Fault) -> Changes:
    host = setting.placement[rank_of(setting, fault)]
    stalled = params_of(StutterParams, fault).stalled
    return Changes(
        acts=(Stutter(host=host, share=stalled, spell_s=SPELL_S, rest_s=REST_S, longest_off_s=LONGEST_OFF_S),)
    )


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The processes were stopped, for a share of the time between a good spell's and a bad one's."""
    (act,) = plan(Setting.model_validate(raw["setting"]), fault).acts
    counted = counted_of(raw, act)
    if counted["host"] not in raw["placement"]:
        return NOT_EXERCISED
    stops, share = counted["stops"], counted["stopped_s"] / raw["measured_wall_s"]
    if stops < 1 or share < LEAST_SHARE * params_of(StutterParams, fault).stalled:
        if not trained(raw):  # a short measurement may fall into a good spell
            return NOT_EXERCISED
        raise FaultDidNotFire(f"{fault.place} should stutter, but was stopped {stops} times, {share:.2f} of the time")
    return {"stops": stops, "stopped_share": round(share, 3)}


FAULT = FaultKind(
    id=ID,
    title="A stuttering rank",
    description="Every process of one rank's host stops for a few milliseconds now and again, thick in bad spells.",
    place_kind="rank",
    params=StutterParams,
    plan=plan,
    fired=fired,
    shows=("host-telemetry", "host-swap"),
    spares=(
        "input-timings",
        "link-error-counters",
        "link-rates[scope=all]",
        "microbenchmark[placement=as-job,size=job]",
    ),
    trial=Trial(place="rank:2"),
)
