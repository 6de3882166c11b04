"""What the experiments about checkpoints share: their phases, and what is kept of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_worker.checkpoints.knobs import Knobs, knobs_from
from gpu_worker.checkpoints.shape import SHARDS
from gpu_worker.errors import BadSpec
from gpu_worker.experiments.base import Phase, Setup
from gpu_worker.jobs.records import DIGITS_S

TRAIN = "gpu_worker.checkpoints.bodies:run_train"
RESUME = "gpu_worker.checkpoints.bodies:run_resume"
EARLIER, JOB = "earlier", "job"


def knobs_of(setup: Setup) -> Knobs:
    """Raises BadSpec where the ranks cannot share the data's shards evenly, or a rank is named that is not there."""
    ranks, knobs = len(setup.hosts), knobs_from(setup.checkpoint)
    if SHARDS % ranks:
        raise BadSpec(f"{setup.spec.experiment} shares {SHARDS} shards of data among its ranks: 2, 4 or 8, not {ranks}")
    return knobs


def saving_phases(
    setup: Setup, model: str, saves: Sequence[int], last_step: int, *, sums: bool, restored: bool
) -> list[Phase]:
    """The job that saves; before it, where its folder is reused, the job of other size that saved there.

    Where nothing is `restored` afterwards, what only a restore does otherwise is left out: the runs are the same.
    """
    knobs, ranks = knobs_of(setup), len(setup.hosts)
    knobs = knobs if restored else knobs.of_saving()
    arguments = {"model": model, "checksums": sums, "first_weights": 0}
    phases = []
    if knobs.reused_folder:
        other = 2 * ranks if 2 * ranks <= SHARDS else ranks // 2
        before = {"knobs": Knobs().model_dump(), "saves": [saves[-1]], "last_step": saves[-1]}
        phases.append(packed(setup, EARLIER, other, TRAIN, {**arguments, **before, "checksums": False}))
    steps = list(saves) if knobs.saves == "as-planned" else list(range(saves[0] - 2, saves[-1] + 1))
    own = {"knobs": knobs.model_dump(), "saves": steps, "last_step": last_step}
    mortal = () if knobs.killed_rank is None else (knobs.killed_rank,)
    phases.append(
        Phase(JOB, setup.hosts, setup.job, TRAIN, fed=True, stored=True, mortal=mortal, arguments={**arguments, **own})
    )
    return phases


def packed(setup: Setup, name: str, ranks: int, body: str, arguments: Mapping[str, Any]) -> Phase:
    """A phase of any number of ranks, all on the first host: for what is asked is not a matter of time."""
    hosts = (setup.hosts[0],) * ranks
    return Phase(name, hosts, setup.job, body, packed=True, fed=True, stored=True, arguments=arguments)


def saved(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What the job saved and logged: {ranks, generations, saves: [{step, by_rank}], steps, checksums by step}.

    `steps` has the log of the first rank that lived to tell it, with the documents of all of them.
    """
    ranks = phase_of(raw, JOB)["ranks"]
    living = [rank for rank in ranks if "died" not in rank]
    return {
        "ranks": len(ranks),
        "died": [number for number, rank in enumerate(ranks) if "died" in rank],
        "generations": living[0]["generations"],
        "saves": [
            {"step": one["step"], "by_rank": [_save(rank, at) for rank in ranks]}
            for at, one in enumerate(living[0]["saves"])
        ],
        "steps": joined_steps(ranks),
        "checksums": {int(step): sums for step, sums in living[0]["checksums"].items()},
    }


def phase_of(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return next(phase for phase in raw["phases"] if phase["name"] == name)


def joined_steps(ranks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The log of the first living rank; `documents` holds a list a rank, None for one that died."""
    living = [rank for rank in ranks if "died" not in rank]
    return [
        {
            **{name: value for name, value in step.items() if name not in ("documents", "seconds")},
            "documents": [rank["steps"][at]["documents"] if "died" not in rank else None for rank in ranks],
            "seconds": round(max(rank["steps"][at]["seconds"] for rank in living), DIGITS_S),
        }
        for at, step in enumerate(living[0]["steps"])
    ]


def _save(rank: Mapping[str, Any], at: int) -> dict[str, Any] | None:
    """None of a rank that died."""
    if "died" in rank:
        return None
    entry = rank["saves"][at]
    times = {name: round(entry[name], DIGITS_S) for name in ("pause_s", "durable_s", "waited_s")}
    return {**times, **{name: entry[name] for name in ("bytes", "read_bytes", "peak_bytes", "error")}}
