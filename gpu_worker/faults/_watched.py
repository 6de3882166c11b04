"""What the faults of the watched training script share: the step at which they strike, and proofs from what is known.

Only the experiment `hang` runs that script; a run of another does not touch these faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from gpu_worker.errors import FaultDidNotFire
from gpu_worker.faults.base import Changes, FaultKind, Params, params_of, rank_of
from gpu_worker.specs import Fault, Setting

EXPERIMENT = "hang"
SHOWS_ALL = ("rank-logs", "collective-log", "stack-dump")
REFUSED_SIZE = "data size doesn't match expected size"
DETECTED = "Detected mismatch between collectives"


class StepParams(Params):
    """When a fault strikes: before the checkpoint of step 12 and the dumps of step 16."""

    step: int = Field(
        default=8,
        ge=3,
        le=11,
        description="step of the training script from which on the fault is there",
        json_schema_extra={"unit": "steps", "kind": "count"},
    )


def slip(name: str, setting: Setting, fault: Fault, **more: Any) -> Changes:
    """The changes of a slip in the script of one rank."""
    step = params_of(StepParams, fault).step
    return Changes(rank_job={rank_of(setting, fault): {"slip": name, "slip_step": step, **more}})


def watched(raw: Mapping[str, Any]) -> bool:
    return bool(raw["experiment"] == EXPERIMENT)


def place_rank(fault: Fault, raw: Mapping[str, Any]) -> int:
    return rank_of(Setting.model_validate(raw["setting"]), fault)


def ends(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [rank["end"] for rank in raw["ranks"]]


def entries(rank: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Of a rank the Flight Recorder's last entries, as it was asked last or as it raised."""
    asked = [dump["flight"] for dump in rank["dumps"] if dump and dump["flight"]]
    flight = rank["at_exit"] or (asked[-1] if asked else None)
    return list(flight["last"]) if flight else []


def issued(rank: Mapping[str, Any]) -> dict[int, tuple[Any, ...]]:
    """By sequence number: operation, sizes and element types of the last collectives."""
    return {e["sequence"]: (e["op"], e["sizes"], e["dtypes"]) for e in entries(rank) if not e["p2p"]}


def disagreement(raw: Mapping[str, Any], rank: int) -> tuple[int, Any, Any] | None:
    """(sequence number, what this rank issued, what a peer issued) of the first collective in which they differ."""
    own = issued(raw["ranks"][rank])
    for other in range(len(raw["ranks"])):
        theirs = issued(raw["ranks"][other])
        for sequence in sorted(own.keys() & theirs.keys()):
            if own[sequence] != theirs[sequence]:
                return sequence, own[sequence], theirs[sequence]
    return None


def prove_disagreement(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The rank's collective and its peers' differ at a sequence number. Raises FaultDidNotFire."""
    rank = place_rank(fault, raw)
    if (found := disagreement(raw, rank)) is None:
        if words := _words_of_the_debug_level(raw):  # it refuses before anything is issued
            return words
        raise FaultDidNotFire(f"the recorders show no collective in which rank {rank} differs from its peers")
    sequence, own, theirs = found
    return {"sequence": sequence, "own": list(own), "peers": list(theirs)}


def prove_mismatch_by_words(fault: Fault, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The library itself refused what it received: a rank was aborted or raised with its words."""
    for words in (REFUSED_SIZE, DETECTED):
        if found := _said(raw, words):
            return found
    raise FaultDidNotFire("no rank's library refused the message of another")


def _words_of_the_debug_level(raw: Mapping[str, Any]) -> dict[str, Any] | None:
    return _said(raw, DETECTED)


def _said(raw: Mapping[str, Any], words: str) -> dict[str, Any] | None:
    """The first rank whose log holds the words."""
    for number, rank in enumerate(raw["ranks"]):
        if any(words in line for _, line in rank["log"]):
            return {"said_by": number, "words": words, "ends": list(kinds(raw))}
    return None


def events(raw: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    for number, rank in enumerate(raw["ranks"]):
        yield from ({**said, "rank": number} for said in rank["said"] if said["event"] == name)


def failed_ranks(raw: Mapping[str, Any]) -> list[int]:
    """Ranks that did not finish."""
    return [number for number, end in enumerate(ends(raw)) if end["how"] in ("raised", "died", "hung")]


def kinds(raw: Mapping[str, Any]) -> Sequence[str]:
    return [end["how"] for end in ends(raw)]


def fault_of_rank(**fields: Any) -> FaultKind:
    """A FaultKind with a rank as its place that every hang probe must show."""
    usual: dict[str, Any] = {"place_kind": "rank", "params": StepParams, "shows": SHOWS_ALL}
    return FaultKind(**{**usual, **fields})
