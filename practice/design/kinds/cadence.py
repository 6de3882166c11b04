"""How often to save: six figures to type, judged by what the intervals lose; the curve of it afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_worker import figures
from grader.design import cadence
from grader.design.base import Given, Judged
from grader.design.cadence import Task, Tier, say, share
from grader.units import format_quantity
from practice.design.base import Item, Typed

# How far the curve goes each way around what was chosen and what is best.
BEYOND = 4.0
POINTS = 60


@dataclass(frozen=True)
class FieldShown:
    id: str
    title: str
    hint: str
    typed: str
    error: str


@dataclass(frozen=True)
class Fact:
    label: str
    text: str


@dataclass(frozen=True)
class ChoiceLine:
    """One interval with what it loses."""

    name: str
    interval: str
    saving: str
    again: str
    in_all: str
    over_window: bool


@dataclass(frozen=True)
class TierShown:
    name: str
    lines: tuple[ChoiceLine, ...]
    formula: str


class CadenceKind:
    id = "cadence"
    place = 3
    title = "Choose how often to save"
    day = "day 4"
    lead = (
        "Failures, two kinds of saves, and the most work that may be lost. Work out what a save costs, choose both "
        "intervals and say what is lost all in all."
    )
    script = ""
    chart = True
    by_oneself = False

    def items(self) -> Sequence[Item]:
        return (Item("cadence", "The cadence of checkpoints", "six figures"),)

    def pose(self, item: Item, seed: int) -> tuple[Task, str]:
        task = cadence.draw(seed)
        return task, task.fingerprint

    def ask(self, task: Task, typed: Typed) -> dict[str, Any]:
        fields = [
            FieldShown(one.id, one.title, one.hint, typed.value(one.id)[:80], typed.error(one.id))
            for one in cadence.FIELDS
        ]
        return {"facts": facts(task), "fields": fields, "nearby": str(task.told.answered_nearby)}

    def judge(self, task: Task, given: Given) -> Judged:
        return cadence.judge(task, given)

    def model_answer(self, task: Task) -> dict[str, list[str]]:
        values = {
            "mtbf": task.mtbf_s,
            "save-global": task.far.save_s,
            "save-local": task.near.save_s,
            "interval-global": task.far.best_s,
            "interval-local": task.near.best_s,
        }
        lost = task.lost(task.far.best_s, task.near.best_s)
        return {id: [say(value)] for id, value in values.items()} | {"lost": [share(lost)]}

    def result(self, task: Task, given: Given, judged: Judged, marks: Sequence[str]) -> dict[str, Any]:
        typed = cadence.read(given)
        chosen = {tier.name: typed[f"interval-{tier.name}"] for tier in (task.far, task.near)}
        best = task.lost(task.far.best_s, task.near.best_s)
        return {
            "facts": facts(task),
            "nearby": str(task.told.answered_nearby),
            "tiers": [_tier(tier, chosen[tier.name]) for tier in (task.far, task.near)],
            "figure": figure(task, chosen),
            "yours": share(task.lost(chosen["global"], chosen["local"])),
            "best": share(best),
        }


def facts(task: Task) -> list[Fact]:
    """What is told, in the order in which it is needed."""
    told = task.told
    return [
        Fact("GPUs of the job", format_quantity(told.gpus, "count")),
        Fact(f"Mean time between failures, measured on {told.reference_gpus} GPUs", str(told.reference_mtbf)),
        Fact("Parameters; 14 bytes of each are saved", str(told.params)),
        Fact("Global save: every GPU writes, the storage takes", str(told.storage_rate)),
        Fact("Local save: every GPU copies its share to a neighbour, each at", str(told.neighbour_rate)),
        Fact("Failures after which the neighbour’s copy can be used", str(told.answered_nearby)),
        Fact("Restart from the global save, lost work apart", str(told.global_restart)),
        Fact("Restart from a local copy, lost work apart", str(told.local_restart)),
        Fact("Rollback window of failures that need the global save", str(told.global_window)),
        Fact("Rollback window of failures that a local copy answers", str(told.local_window)),
    ]


def _tier(tier: Tier, chosen_s: float) -> TierShown:
    choices = (("yours", chosen_s), ("best", tier.best_s), ("half the best", tier.best_s / 2))
    lines = tuple(_choice(tier, name, seconds) for name, seconds in (*choices, ("twice the best", tier.best_s * 2)))
    rests = f", and the window is {say(tier.window_s)}" if tier.is_bound else ""
    formula = f"√(2 · {say(tier.mtbf_s)} · {say(tier.save_s)}) = {say(tier.free_s)}{rests}"
    return TierShown(tier.name, lines, formula)


def _choice(tier: Tier, name: str, seconds: float) -> ChoiceLine:
    overhead = tier.overhead(seconds)
    return ChoiceLine(
        name,
        say(seconds),
        share(float(overhead.save_share)),
        share(float(overhead.failure_share)),
        share(float(overhead.share)),
        seconds > tier.window_s * (1 + cadence.ROUNDING),
    )


def figure(task: Task, chosen: dict[str, float]) -> dict[str, Any]:
    """What each tier loses against its interval, with the choice and the best on the curve."""
    traces: list[dict[str, Any]] = []
    for tier, role in ((task.far, "c1"), (task.near, "c5")):
        marks = (tier.best_s, chosen[tier.name])
        seconds = np.geomspace(min(marks) / BEYOND, max(marks) * BEYOND, POINTS)
        lost = [100 * tier.lost(float(one)) for one in seconds]
        said = [
            f"{tier.name}, every {say(float(one))}: {value:.2g} % lost"
            for one, value in zip(seconds, lost, strict=True)
        ]
        traces.append(figures.curve(tier.name, role, [float(one) / 60 for one in seconds], lost, said))
        traces.append(_mark(tier, f"{tier.name}, best", role, tier.best_s, "circle-open"))
        traces.append(_mark(tier, f"{tier.name}, yours", role, chosen[tier.name], "x"))
    named = [note for tier in (task.far, task.near) for note in _names(tier, chosen[tier.name])]
    most = 4 * 100 * max(tier.lost(tier.best_s) for tier in (task.far, task.near))
    return figures.frame(
        traces,
        alt="Share of time lost against the interval between saves, global and local, with your choice and the best",
        rows=6,
        x=figures.numbers("minutes from save to save", type="log", autorange=True, dtick=1),
        y=figures.numbers("% of the time lost", high=most),
        annotations=named,
    )


def _mark(tier: Tier, name: str, role: str, seconds: float, symbol: str) -> dict[str, Any]:
    lost = tier.lost(seconds)
    point = figures.cloud(name, role, [seconds / 60], [100 * lost], [f"{name}: every {say(seconds)}, {share(lost)}"])
    line = {"width": 2, "color": f"role:{role}"}
    marker = {**point["marker"], "symbol": symbol, "size": 12, "line": line}
    return point | {"marker": marker, "showlegend": False}


def _names(tier: Tier, chosen_s: float) -> list[dict[str, Any]]:
    """What the marks are called, beside them: a legend could not tell them apart."""
    best = _name("best", tier, tier.best_s, below=True)
    return [best] if cadence.near(chosen_s, tier.best_s, 0.001) else [best, _name("yours", tier, chosen_s, below=False)]


def _name(text: str, tier: Tier, seconds: float, *, below: bool) -> dict[str, Any]:
    return {
        "xref": "x",
        "yref": "y",
        "x": float(np.log10(seconds / 60)),  # Plotly's annotations take the logarithm on such an axis
        "y": 100 * tier.lost(seconds),
        "yshift": -18 if below else 18,
        "showarrow": False,
        "text": text,
        "font": {"size": 13, "color": "role:ink-2"},
    }


KIND = CadenceKind()
