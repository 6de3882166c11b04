"""Arithmetic that several probes share: phases of a rank, peers, intervals, the floor of the job's collective."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from gpu_worker.probes.base import INCONCLUSIVE
from gpu_worker.specs import WholeRun
from grader.physics import collective

Interval = tuple[float, float]
PHASES = ("input", "forward", "backward", "exposed", "optimizer")


@dataclass(frozen=True)
class RankTimes:
    """Medians over the measured steps of one rank, in seconds."""

    rank: int
    host: int
    input_s: float
    forward_s: float
    backward_s: float
    exposed_s: float
    optimizer_s: float
    compute_s: float
    waiting_s: float
    total_s: float

    @property
    def name(self) -> str:
        return f"rank {self.rank}"

    @property
    def waiting_share(self) -> float:
        """Share of compute spent waiting for a core."""
        return self.waiting_s / max(self.compute_s, 1e-9)

    @property
    def held_s(self) -> float:
        """Compute without waiting for a core. Ranks of the lab share cores, which accelerators do not: where one rank
        comes late, whoever shares its core computes at double speed, and the punctual ones elsewhere would look slow.
        """
        return self.compute_s - self.waiting_s


def rank_times(run: WholeRun) -> list[RankTimes]:
    """One `RankTimes` a rank, in rank order. Compute is forward plus backward, without exposed communication."""
    return [times_of(rank) for rank in job_ranks(run)]


def job_ranks(run: WholeRun) -> list[dict[str, Any]]:
    """The ranks of a job run in rank order; a ValueError where the run holds none or one measured no step."""
    ranks = sorted(run.ranks, key=lambda rank: rank["rank"])
    if run.spec.experiment != "job" or len(ranks) < 2 or not all(rank["steps"] for rank in ranks):
        raise ValueError(f"run of {run.spec.key}: this probe reads a job of two ranks or more with measured steps")
    return ranks


def times_of(rank: dict[str, Any]) -> RankTimes:
    """One rank's medians over its measured steps."""

    def mid(value: Callable[[dict[str, Any]], float]) -> float:
        return median(value(step) for step in rank["steps"])

    compute_s = mid(lambda step: step["forward_s"] + step["backward_s"])
    return RankTimes(
        rank=rank["rank"],
        host=rank["host"],
        **{f"{phase}_s": mid(lambda step, key=f"{phase}_s": step[key]) for phase in PHASES},  # type: ignore[misc]
        compute_s=compute_s,
        waiting_s=_waiting_s(rank, compute_s),
        total_s=mid(lambda step: step["total_s"]),
    )


def _waiting_s(rank: dict[str, Any], compute_s: float) -> float:
    """Of the typical compute. Where each step's own was kept, a neighbour's visit stays in the steps that it hit."""
    if all("compute_run_delay_s" in step for step in rank["steps"]):
        held = [step["forward_s"] + step["backward_s"] - step["compute_run_delay_s"] for step in rank["steps"]]
        return min(max(compute_s - median(held), 0.0), 0.99 * compute_s)
    telemetry = rank["telemetry"]
    return compute_s * min(telemetry["run_delay_s"] / max(telemetry["compute_wall_s"], 1e-9), 0.99)


def others_median(values: Sequence[float], own: int) -> float:
    """The median of all values but the one at index `own`."""
    return median(value for at, value in enumerate(values) if at != own)


def scores(values: Sequence[float]) -> list[float]:
    """Others' median over own, for each: 1 is even, below 0.75 is a straggler (NVIDIA Resiliency Extension's score)."""
    return [others_median(values, at) / max(value, 1e-9) for at, value in enumerate(values)]


def input_scores(times: Sequence[RankTimes]) -> list[float]:
    """Others' median busy time (input + compute) over the same with this rank's own input in it.

    A bare ratio of input times would call 1 ms against 2 ms a straggler; this says what the input costs the step.
    """
    inputs = [rank.input_s for rank in times]
    computes = [rank.compute_s for rank in times]
    answer = []
    for at, own in enumerate(inputs):
        compute = others_median(computes, at)
        answer.append((others_median(inputs, at) + compute) / max(own + compute, 1e-9))
    return answer


def lateness_by_step(run: WholeRun, ranks: Sequence[dict[str, Any]]) -> list[list[float]]:
    """Step by step, how many seconds after its peers each rank entered the collectives: its launch less the median
    launch of the others, mean over the step. Raises ValueError where the job has no collective of all ranks.
    """
    if not all(_of_all(step, len(ranks)) for rank in ranks for step in rank["steps"]):
        raise ValueError(f"run of {run.spec.key}: this job has no collective that all its ranks enter")
    return [_lateness(steps) for steps in zip(*(rank["steps"] for rank in ranks), strict=False)]


def _lateness(steps: tuple[dict[str, Any], ...]) -> list[float]:
    """Seconds by rank for one step. A collective counts where every rank launched it."""
    shared = zip(*(_of_all(step, len(steps)) for step in steps), strict=False)
    launches = [[entry["launch"] for entry in each] for each in shared]
    late = [[own - others_median(row, at) for at, own in enumerate(row)] for row in launches]
    return [mean(row[at] for row in late) for at in range(len(steps))]


def _of_all(step: dict[str, Any], ranks: int) -> list[dict[str, Any]]:
    """The collectives of a step that have every rank of the job in them: a pipeline's transfers have two."""
    return [
        entry
        for entry in step["collectives"]
        if entry.get("ranks", ranks) == ranks and entry.get("op") not in ("receive", "sends")
    ]


def worst(values: Sequence[float]) -> int:
    """Index of the lowest score."""
    return min(range(len(values)), key=lambda at: values[at])


def band(value: float, *, low: float, high: float, below: str, above: str) -> str:
    """`below` under low, `above` from high on, `inconclusive` between."""
    if value < low:
        return below
    return above if value >= high else INCONCLUSIVE


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Disjoint intervals in order, covering the same moments."""
    answer: list[Interval] = []
    for start, end in sorted(intervals):
        if answer and start <= answer[-1][1]:
            answer[-1] = (answer[-1][0], max(end, answer[-1][1]))
        else:
            answer.append((start, end))
    return answer


def length(intervals: Iterable[Interval]) -> float:
    """Seconds covered by the union of the intervals."""
    return sum(end - start for start, end in merged(intervals))


def clipped(intervals: Iterable[Interval], window: Interval) -> list[Interval]:
    """The parts of the intervals inside the window."""
    inside = ((max(start, window[0]), min(end, window[1])) for start, end in intervals)
    return [(start, end) for start, end in inside if end > start]


def flights(step: dict[str, Any]) -> list[Interval]:
    """When each collective of a step was in flight on this rank: launch to done."""
    return [(collective["launch"], collective["done"]) for collective in step["collectives"]]


def backward_window(step: dict[str, Any]) -> Interval:
    """Start and end of the backward computation of a step on this rank."""
    start = step["start"] + step["input_s"] + step["forward_s"]
    return start, start + step["backward_s"]


def collective_s(run: WholeRun) -> float:
    """Time inside the job's collective in a step: the union of [launch, done], median over steps, then over ranks."""
    return median(median(length(flights(step)) for step in rank["steps"]) for rank in job_ranks(run))


def samples_per_step(run: WholeRun) -> float:
    """Samples of all ranks in one step, as the ranks counted them."""
    nominal = run.spec.setting.job.microbatch
    return sum(median(step.get("samples", nominal) for step in rank["steps"]) for rank in job_ranks(run))


def step_s(run: WholeRun) -> float:
    """Median step time over steps, then over ranks."""
    return median(rank.total_s for rank in rank_times(run))


def floor_s(ranks: int, size_bytes: int, rate_bits_per_s: float) -> float:
    """The wire floor of an all-reduce at the nominal access rate: 2(n-1)/n * S/B."""
    return collective("all-reduce", ranks, size_bytes, rate_bits_per_s).time_s


def job_floor_s(run: WholeRun) -> float:
    """The wire floor of one step's collectives at the nominal access rate."""
    return ranks_floor_s(run, run.ranks)


def ranks_floor_s(run: WholeRun, ranks: Sequence[Mapping[str, Any]]) -> float:
    """The same for the ranks of one phase: of plain DDP the all-reduce of its gradients, of a job in another form its
    collectives one after the other. A single rank has none.
    """
    rate = run.spec.setting.topology.link_rate
    if run.spec.setting.job.parallel.form != "ddp":
        return median(sum(entry_floor_s(one, rate) for one in rank["steps"][0]["collectives"]) for rank in ranks)
    return floor_s(len(ranks), run.size_bytes, rate) if len(ranks) > 1 else 0.0


def entry_floor_s(entry: Mapping[str, Any], rate_bits_per_s: float) -> float:
    """The wire floor of one recorded collective of a form other than plain DDP; of a transfer between two ranks S/B."""
    if entry["ranks"] < 2 or not entry["bytes"]:
        return 0.0
    op = "broadcast" if entry["op"] == "receive" else entry["op"]
    return collective(op, entry["ranks"], entry["bytes"], rate_bits_per_s).time_s


def on_job(_with: Any) -> str:
    """The experiment of every probe that reads the job's own run."""
    return "job"
