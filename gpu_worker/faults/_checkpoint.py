"""What the faults of checkpoints share: they change knobs of saving or restoring, and prove it by what lies there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import (
    NOT_EXERCISED,
    Changes,
    FaultKind,
    NoParams,
    PlaceKind,
    Trial,
    params_of,
    rank_of,
    refuse_place,
)
from gpu_worker.specs import Fault, Setting

SAVING = ("save", "resume-replay")
RESUMING = ("resume-replay",)
Proof = Callable[["Seen"], dict[str, Any]]


class Seen:
    """What a proof may look at: the job's ranks, the generations in the storage, and the restored ranks."""

    def __init__(self, fault: Fault, raw: Mapping[str, Any]) -> None:
        self.phases: dict[str, Mapping[str, Any]] = {phase["name"]: phase for phase in raw["phases"]}
        self.ranks: Sequence[Mapping[str, Any]] = self.phases["job"]["ranks"]
        self.living = [rank for rank in self.ranks if "died" not in rank]
        self.generations: Sequence[Mapping[str, Any]] = self.living[0]["generations"]
        self.resumed = [p["ranks"][0] for name, p in self.phases.items() if name.startswith("resume-")]
        self.rank = int((fault.place or "rank:0").partition(":")[2])

    @property
    def restored(self) -> list[Mapping[str, Any]]:
        """The first rank of each restart that came back."""
        return [one for one in self.resumed if one["restored"]]

    @property
    def resumed_alike(self) -> Mapping[str, Any]:
        """The first rank of the restart with as many ranks as saved. Raises FaultDidNotFire where none came back."""
        one: Mapping[str, Any] = self.phases[f"resume-{len(self.ranks)}"]["ranks"][0]
        require(bool(one["restored"]), f"nothing was restored: {one['error']}")
        return one

    def logged(self, step: int) -> Mapping[str, Any]:
        """What the first living rank logged of a step before the restart."""
        return next(one for one in self.living[0]["steps"] if one["step"] == step)

    @property
    def newest(self) -> Mapping[str, Any]:
        return self.generations[-1]

    def file(self, rank: int) -> Mapping[str, Any]:
        """{name, bytes, expected} of a rank's file in the newest generation."""
        return next(one for one in self.newest["files"] if one["name"] == f"__{rank}_0.distcp")


def checkpoint_fault(
    id: str,
    title: str,
    description: str,
    knobs: Mapping[str, Any],
    proof: Proof,
    *,
    ranked: str | None = None,
    experiments: Sequence[str] = SAVING,
    shows: Sequence[str] = (),
    spares: Sequence[str] = (),
) -> FaultKind:
    """A fault that sets `knobs`; `ranked` names the knob that its place fills. `proof` raises FaultDidNotFire."""

    def plan(setting: Setting, fault: Fault) -> Changes:
        params_of(NoParams, fault)
        if ranked is None:
            refuse_place(fault)
            return Changes(checkpoint=knobs)
        return Changes(checkpoint={**knobs, ranked: rank_of(setting, fault)})

    def fired(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
        return proof(Seen(fault, raw)) if raw["experiment"] in experiments else NOT_EXERCISED

    place: PlaceKind = "none" if ranked is None else "rank"
    trial = Trial(place="rank:2") if ranked else None
    return FaultKind(id, title, description, place, NoParams, plan, fired, tuple(shows), tuple(spares), trial)


def without(kind: str) -> Proof:
    """The proof that no generation holds anything of a kind."""

    def proof(seen: Seen) -> dict[str, Any]:
        held = sum(generation["kinds"].get(kind, {}).get("entries", 0) for generation in seen.generations)
        require(held == 0, f"{held} entries of {kind} were saved all the same")
        return {"entries": held, "generations": len(seen.generations)}

    return proof


def require(holds: bool, otherwise: str) -> None:
    """Raises FaultDidNotFire with `otherwise` unless it holds."""
    if not holds:
        raise FaultDidNotFire(otherwise)
