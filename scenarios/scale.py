"""How far numbers carry over between production and the lab: floors at both scales and the share of latency."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_worker.readable import say
from grader import physics
from scenarios.format import Collective, Saving, Scenario

# Above this share of latency a ratio to the floor says nothing about the other scale.
LARGEST_LATENCY_SHARE = 0.10


@dataclass(frozen=True)
class Floor:
    """One collective's wire floor: seconds, bytes that a rank moves, and the share of its time that latency takes."""

    seconds: float
    bytes_per_rank: float
    latency_share: float


@dataclass(frozen=True)
class ScaleView:
    """What the page prints: rows of (label, production, lab), and whether ratios may be carried over."""

    rows: tuple[tuple[str, str, str], ...]
    note: str
    ratios_carry_over: bool
    production: Floor | None
    lab: Floor | None


def floor_of(collective: Collective) -> Floor:
    """Floor and latency share of a stated collective."""
    shape = (collective.op, collective.ranks, collective.size_bytes, collective.rate_bits_per_s)
    cost = physics.collective(*shape)
    share = physics.latency_share(*shape, collective.latency_s) if collective.latency_s else 0.0
    return Floor(cost.time_s, cost.bytes_per_rank, share)


def scale_view(scenario: Scenario) -> ScaleView:
    """The scale table of a scenario; where it has a collective its last row is the latency share, never a floor."""
    rows = [(row.label, row.production, row.lab) for row in scenario.scale.rows]
    if scenario.scale.production is None or scenario.scale.lab is None:
        return ScaleView(tuple(rows), scenario.scale.note, True, None, None)
    production, lab = floor_of(scenario.scale.production), floor_of(scenario.scale.lab)
    rows.append(("latency, share of the collective", share_text(production), share_text(lab)))
    carries = max(production.latency_share, lab.latency_share) <= LARGEST_LATENCY_SHARE
    note = scenario.scale.note if carries else "Latency takes over 10 % at one scale: ratios do not carry over."
    return ScaleView(tuple(rows), note, carries, production, lab)


def saving_values(saving: Saving) -> dict[str, float]:
    """What the arithmetic of saves gives, SI. Work lost by a failure is half an interval on average."""
    size = float(physics.checkpoint_size(saving.params, saving.bytes_a_param, 0))
    wide = saving.storage_bits_per_s or saving.writers * saving.rate_bits_per_s
    save_s = float(physics.checkpoint_pause(size, saving.writers, saving.rate_bits_per_s, wide).time_s)
    return {
        "checkpoint-bytes": size,
        "save-time": save_s,
        "save-interval": float(physics.young_daly(saving.mtbf_s, save_s)),
        "lost-work": saving.interval_s / 2,
        "samples-by-step": float(saving.samples_a_step * saving.steps),
    }


def share_text(floor: Floor) -> str:
    return say(floor.latency_share, "share")
