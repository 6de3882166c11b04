"""From a moment on one link drops everything, both ways, and stays up: nobody is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults import _watched
from gpu_worker.faults.base import NOT_EXERCISED, Changes, FaultKind, Trial, injected, params_of
from gpu_worker.faults.degraded_link import link_of
from gpu_worker.injectors.cut_link import CutLink
from gpu_worker.specs import Fault, Setting


def plan(setting: Setting, fault: Fault) -> Changes:
    step, link = params_of(_watched.StepParams, fault).step, link_of(setting, fault)
    return Changes(acts=(CutLink(link=link, at_step=step),), must_cross=(link,))


def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The buckets at both ends of the link dropped packets after the cut, and ranks failed."""
    if not _watched.watched(raw):
        return NOT_EXERCISED
    (counted,) = injected(raw, "cut-link")
    dropped = {"forward": counted["dropped_forward"], "back": counted["dropped_back"]}
    if not counted["cuts"] or not max(dropped.values()) or not _watched.failed_ranks(raw):
        raise FaultDidNotFire(f"{counted['link']} should drop everything, but dropped {dropped}")
    return {"link": counted["link"], "dropped": dropped, "ends": list(_watched.kinds(raw))}


FAULT = FaultKind(
    id="partition",
    title="A partition",
    description="Both buckets of one cable keep no packet any more. The interfaces stay up.",
    place_kind="link",
    params=_watched.StepParams,
    plan=plan,
    fired=fired,
    shows=_watched.SHOWS_ALL,
    trial=Trial(place="link:host1-leaf0"),
)
