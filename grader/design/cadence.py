"""How often to save: two intervals, local and global, against what they lose, by `physics.checkpoint_overhead`.

A share of failures leaves the copy in a neighbour's memory whole; the others need the last global save. To first order
the two lose on their own, and what they lose adds up: save/interval + (interval/2 + restart)/mtbf, each with the mean
time between the failures that it answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader import physics
from grader.design import base
from grader.design.base import Given, Judged, Line, NotAnAnswer
from grader.drills.base import Tidy
from grader.drills.picking import Pick
from grader.units import Kind, QuantityError, format_quantity, parse_quantity

# How far off a worked-out figure may be, and how much more than the best an interval may lose.
WITHIN = 0.05
EXCESS = 0.05
# A window typed as it stands must not be over it by rounding.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Tier:
    """One kind of save: the seconds it stops the job, the failures it answers, what a restart from it takes, and the
    most work that such a failure may undo."""

    name: str
    save_s: float
    mtbf_s: float
    restart_s: float
    window_s: float

    def overhead(self, interval_s: float) -> physics.CheckpointOverhead:
        return physics.checkpoint_overhead(self.save_s, interval_s, self.mtbf_s, self.restart_s)

    def lost(self, interval_s: float) -> float:
        """The share of time lost, saving and failures together."""
        return float(self.overhead(interval_s).share)

    def movable(self, interval_s: float) -> float:
        """What of it the interval moves: the restart is lost anyway."""
        return self.lost(interval_s) - self.restart_s / self.mtbf_s

    @property
    def free_s(self) -> float:
        """√(2·MTBF·save), as if there were no window."""
        return float(physics.young_daly(self.mtbf_s, self.save_s))

    @property
    def best_s(self) -> float:
        """The interval that loses least within the window."""
        return min(self.free_s, self.window_s)

    @property
    def is_bound(self) -> bool:
        return self.free_s > self.window_s


@dataclass(frozen=True)
class Told:
    """What the page tells, as it is written there."""

    gpus: Tidy
    reference_gpus: Tidy
    reference_mtbf: Tidy
    params: Tidy
    storage_rate: Tidy
    neighbour_rate: Tidy
    answered_nearby: Tidy
    global_restart: Tidy
    local_restart: Tidy
    global_window: Tidy
    local_window: Tidy


@dataclass(frozen=True)
class Task:
    told: Told
    size_bytes: float
    mtbf_s: float
    far: Tier
    near: Tier

    @property
    def fingerprint(self) -> str:
        told = [(name, str(number)) for name, number in vars(self.told).items()]
        return base.fingerprint("cadence", told, f"{self.far.best_s:.9g}", f"{self.near.best_s:.9g}")

    def lost(self, far_s: float, near_s: float) -> float:
        """The share of time that both together lose."""
        return self.far.lost(far_s) + self.near.lost(near_s)


def draw(seed: int) -> Task:
    """The exercise of a seed, the same for ever."""
    pick = Pick("design/cadence", seed)
    gpus = pick.count(1024, 2048, 4096)
    told = Told(
        gpus=gpus,
        reference_gpus=pick.count(256, 512),
        reference_mtbf=pick.time("h", 60, 72, 84, 96),
        params=pick.billions(70, 140, 280),
        storage_rate=pick.rate("GB/s", 40, 50, 80, 100),
        neighbour_rate=pick.rate("GB/s", 1, 2, 4),
        answered_nearby=pick.percent(60, 70, 75, 80),
        global_restart=pick.time("min", 10, 15, 20),
        local_restart=pick.time("min", 2, 3, 4),
        global_window=pick.time("min", 30, 60, 90, 120),
        local_window=pick.time("min", 3, 5, 10),
    )
    return task(told)


def task(told: Told) -> Task:
    """From what is told to both tiers."""
    size = float(physics.checkpoint_size(told.params))
    mtbf = float(physics.cluster_mtbf(told.gpus, told.reference_gpus, told.reference_mtbf))
    far_save = physics.checkpoint_pause(size, told.gpus, told.neighbour_rate, told.storage_rate).time_s
    near_save = physics.checkpoint_pause(size / told.gpus, 1, told.neighbour_rate, told.neighbour_rate).time_s
    far = Tier(
        "global", float(far_save), mtbf / (1 - told.answered_nearby), float(told.global_restart), told.global_window
    )
    near = Tier("local", float(near_save), mtbf / told.answered_nearby, float(told.local_restart), told.local_window)
    return Task(told, size, mtbf, far, near)


@dataclass(frozen=True)
class Field:
    """A figure to type."""

    id: str
    title: str
    kind: Kind
    hint: str


FIELDS: tuple[Field, ...] = (
    Field("mtbf", "Mean time between failures of the whole job", "time", "A time with its unit, like 5.6 h."),
    Field("save-global", "How long a global save stops the job", "time", "A time with its unit, like 40 s."),
    Field("save-local", "How long a local save stops the job", "time", "A time with its unit, like 800 ms."),
    Field("interval-global", "Save globally every …", "time", "A time with its unit, like 50 min."),
    Field("interval-local", "Save locally every …", "time", "A time with its unit, like 3 min."),
    Field("lost", "Share of the time that is then lost, all in all", "ratio", "A share, like 4.2 %."),
)


def judge(task: Task, given: Given) -> Judged:
    """A line a figure; intervals by what they lose, the loss by the candidate's own intervals.

    Raises NotAnAnswer, by field, for what cannot be read.
    """
    typed = read(given)
    lines = (
        _figure("mtbf", typed, task.mtbf_s, _why_mtbf(task)),
        _figure("save-global", typed, task.far.save_s, _why_save(task, task.far)),
        _figure("save-local", typed, task.near.save_s, _why_save(task, task.near)),
        _interval("interval-global", task, task.far, typed["interval-global"]),
        _interval("interval-local", task, task.near, typed["interval-local"]),
        _lost(task, typed),
    )
    return Judged(lines)


def read(given: Given) -> dict[str, float]:
    """Every field in SI. Raises NotAnAnswer, by field."""
    typed: dict[str, float] = {}
    slips: dict[str, str] = {}
    for one in FIELDS:
        try:
            typed[one.id] = parse_quantity(base.text_of(given, one.id), one.kind)
        except QuantityError as refused:
            slips[one.id] = str(refused)
    if slips:
        raise NotAnAnswer(slips)
    return typed


def _field(id: str) -> Field:
    return next(one for one in FIELDS if one.id == id)


def _figure(id: str, typed: Mapping[str, float], holds: float, why: str) -> Line:
    field = _field(id)
    right = near(typed[id], holds)
    said = format_quantity(typed[id], field.kind)
    return Line(id, field.title, right, said, format_quantity(holds, field.kind), () if right else (why,))


def near(value: float, other: float, within: float = WITHIN) -> bool:
    """Within a share of the other, either way."""
    return value <= other * (1 + within) and other <= value * (1 + within)


def _why_mtbf(task: Task) -> str:
    told = task.told
    return (
        f"Failures add up over parts: {told.reference_mtbf} · {told.reference_gpus}/{told.gpus} is {say(task.mtbf_s)}."
    )


def _why_save(task: Task, tier: Tier) -> str:
    told, size = task.told, format_quantity(task.size_bytes, "data")
    if tier is task.near:
        return f"Each GPU copies 1/{told.gpus} of {size} at {told.neighbour_rate}: {say(tier.save_s)}."
    return (
        f"14 bytes a parameter are {size}; {told.gpus} writers are faster than the storage's {told.storage_rate}, "
        f"so it sets the pace: {say(tier.save_s)}."
    )


def _interval(id: str, task: Task, tier: Tier, interval_s: float) -> Line:
    told = _told(task, tier, interval_s)
    bound = ", the window" if tier.is_bound else ""
    return Line(id, _field(id).title, not told, say(interval_s), f"{say(tier.best_s)}{bound}", told)


def _told(task: Task, tier: Tier, interval_s: float) -> tuple[str, ...]:
    """A sentence for each thing wrong with an interval; none where it is good."""
    told = []
    if interval_s > tier.window_s * (1 + ROUNDING):
        told.append(
            f"A failure just before a save undoes {say(interval_s)} of work, over the window of {say(tier.window_s)}."
        )
    if tier.movable(interval_s) > tier.movable(tier.best_s) * (1 + EXCESS):
        told.append(_too_much(task, tier, interval_s))
    return tuple(told)


def _too_much(task: Task, tier: Tier, interval_s: float) -> str:
    overhead = tier.overhead(interval_s)
    again = float(overhead.failure_share) - tier.restart_s / tier.mtbf_s
    shares = f"{share(float(overhead.save_share))} goes into saves and {share(again)} is done again"
    best = f"every {say(tier.best_s)} loses {share(tier.movable(tier.best_s))} in all"
    if near(interval_s, float(physics.young_daly(task.mtbf_s, tier.save_s))):
        return (
            f"That is √(2·MTBF·save) for all failures; only one every {say(tier.mtbf_s)} needs this save: {shares}, "
            f"where {best}."
        )
    too = "rarely" if interval_s > tier.best_s else "often"
    return f"Too {too}: {shares}, where {best}."


def _lost(task: Task, typed: Mapping[str, float]) -> Line:
    holds = task.lost(typed["interval-global"], typed["interval-local"])
    return _figure("lost", typed, holds, _why_lost(task, typed))


def _why_lost(task: Task, typed: Mapping[str, float]) -> str:
    far, near_ = (tier.lost(typed[f"interval-{tier.name}"]) for tier in (task.far, task.near))
    return (
        "save/interval + (interval/2 + restart)/MTBF, each with the failures that it answers, at your intervals: "
        f"{share(far)} global and {share(near_)} local."
    )


def say(seconds: float) -> str:
    return format_quantity(seconds, "time")


def share(part: float) -> str:
    return format_quantity(part, "ratio")
