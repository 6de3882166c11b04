"""The job on ever more ranks: what is lost from rung to rung, and to what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun, experiment_key

GROWS, STEADY = 1.40, 1.25
BEYOND, WITHIN = 1.60, 1.30
LINEAR, BOUND = 0.92, 0.85


@dataclass(frozen=True)
class Rung:
    """Medians over the ranks of one rung; `compute_s` is the slowest rank's, without waiting for a core."""

    ranks: int
    samples: float
    step_s: float
    waiting_s: float
    compute_s: float
    exposed_s: float
    floor_s: float

    @property
    def own_cores_s(self) -> float:
        """The step if no rank had waited for a core: the lab's ranks share cores, accelerators do not."""
        return self.step_s - self.waiting_s

    @property
    def pace(self) -> float:
        """Samples/s a rank, on cores of their own."""
        return self.samples / self.own_cores_s / self.ranks


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Each rung against the smallest: pace a rank, compute a sample, exposed communication over its floor."""
    rungs = ladder(run)
    least, most = rungs[0], rungs[-1]
    growth = (most.compute_s * most.ranks / most.samples) / (least.compute_s * least.ranks / least.samples)
    readings = {
        "efficiency": Reading(most.pace / least.pace, "ratio", f"Pace a rank on {most.ranks} ranks over on one"),
        "compute_growth": Reading(growth, "ratio", "Compute a sample of the slowest rank, largest rung over one rank"),
        "exposed_over_floor": Reading(
            most.exposed_s / most.floor_s, "ratio", "Exposed communication on the largest rung over its wire floor"
        ),
        "efficiency_as_timed": Reading(
            (most.samples / most.step_s / most.ranks) / (least.samples / least.step_s),
            "ratio",
            "The same efficiency with waits for shared cores left in",
        ),
        "ranks": Reading(most.ranks, "count", "Ranks on the largest rung"),
    }
    return ProbeResult(readings, {"rungs": _table(rungs)})


def ladder(run: WholeRun) -> list[Rung]:
    """The rungs, the smallest first. Raises ValueError where the run is of another experiment."""
    if not run.recorded.get("rungs"):
        raise ValueError(f"run of {run.spec.key}: the scaling ladder has no rung")
    return sorted((_rung(run, ranks) for ranks in run.recorded["rungs"]), key=lambda rung: rung.ranks)


def _rung(run: WholeRun, ranks: Sequence[dict[str, Any]]) -> Rung:
    times = [_job.times_of(rank) for rank in ranks]
    return Rung(
        ranks=len(ranks),
        samples=sum(median(step["samples"] for step in rank["steps"]) for rank in ranks),
        step_s=median(one.total_s for one in times),
        waiting_s=median(one.waiting_s for one in times),
        compute_s=max(one.held_s for one in times),
        exposed_s=median(one.exposed_s for one in times),
        floor_s=_job.ranks_floor_s(run, ranks),
    )


def _table(rungs: list[Rung]) -> Series:
    columns = (
        *("ranks", "samples a step", "step", "waiting for a core", "slowest compute", "exposed communication"),
        *("wire floor", "efficiency"),
    )
    rows = tuple(
        (r.ranks, r.samples, r.step_s, r.waiting_s, r.compute_s, r.exposed_s, r.floor_s, r.pace / rungs[0].pace)
        for r in rungs
    )
    caption = (
        "Medians over steps and ranks. Efficiency is pace a rank over that of one rank, without the waits for cores "
        "that the lab's ranks share: on two cores they double from 4 ranks to 8, which no accelerator's would."
    )
    return Series(columns, ("count", "count", "s", "s", "s", "s", "s", "ratio"), rows, caption)


def classify(values: Mapping[str, float]) -> str:
    """Compute first: it is each rank's own. Then what is exposed against its floor, which a healthy fabric bounds
    whatever the machine computes. What remains is physics: all of the pace kept, or part of it spent at the floor.
    """
    if values["compute_growth"] > GROWS:
        return "compute-grows"
    if values["exposed_over_floor"] > BEYOND:
        return "beyond-floor"
    if values["compute_growth"] > STEADY or values["exposed_over_floor"] > WITHIN:
        return INCONCLUSIVE
    return _job.band(values["efficiency"], low=BOUND, high=LINEAR, below="communication-bound", above="linear")


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Efficiency a rung, against one."""
    rows = result.series["rungs"].rows
    labels = [f"{row[0]} ranks" if row[0] > 1 else "1 rank" for row in rows]
    said = [f"{label}: {say(row[7], 'ratio')} of the pace of one rank" for label, row in zip(labels, rows, strict=True)]
    line, note = figures.upright(1.0, "linear", role="ink")
    made = figures.frame(
        [figures.bars("efficiency", "c1", labels, [row[7] for row in rows], said, showlegend=False)],
        alt=f"Pace a rank on {len(rows)} rungs against one rank, {say(rows[-1][7], 'ratio')} on {rows[-1][0]} ranks",
        rows=len(rows),
        x=figures.numbers("pace a rank, of one rank's", high=1.15),
        y=figures.names(labels),
        shapes=[line],
        annotations=[note],
    )
    made["layout"]["margin"]["t"] = 28
    return made


PROBE = Probe(
    id="scaling-ladder",
    title="Scaling ladder",
    group="Job",
    question="What is lost as the job grows from one rank to all, and to what?",
    price_min=25,
    stops_job=True,
    parameters={"kind": ("strong", "weak")},
    experiment=lambda with_: experiment_key("scaling-ladder", dict(with_)),
    findings={
        "linear": "Each rank keeps nearly all of its pace up to the largest rung.",
        "communication-bound": "Ranks lose pace to communication, which stays within its floor: the size of the job's "
        "messages over its links explains it.",
        "beyond-floor": "On the largest rung ranks wait in communication for clearly longer than its floor.",
        "compute-grows": "On the largest rung some rank computes a sample for clearly longer than one rank alone does.",
        INCONCLUSIVE: "The losses lie between: neither explained by the floor nor clearly beyond it.",
    },
    decisive=(
        Decisive("compute_growth", "log"),
        Decisive("exposed_over_floor", "log"),
        Decisive("efficiency", "log"),
    ),
    deterministic=False,
    tells=("split",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Run the job's own script on 1, 2, 4, 8 GPUs of a node and then on 2, 4, … nodes, a few hundred steps each, "
        "the first ones dropped, and plot tokens/s a GPU. Say whether the global batch (strong) or the batch a GPU "
        "(weak) was kept. The first rung that leaves the line tells the tier: NVLink inside a node, then the NIC, "
        "then the spine. Strong scaling ends where the batch a GPU no longer fills its matrix units, which is no "
        "fault of the network: compare the compute time of a sample on each rung in a torch.profiler trace."
    ),
)
