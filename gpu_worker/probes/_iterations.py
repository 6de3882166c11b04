"""What probes of a collective alone share: the table of its kept iterations, and their figure against the floor."""

from __future__ import annotations

from typing import Any

from gpu_worker import figures
from gpu_worker.probes.base import ProbeResult, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun


def table(run: WholeRun, floor_s: float) -> Series:
    """Time, fraction of the floor and algbw of each kept iteration."""
    rows = tuple(
        (f"run {number}", one["seconds"], floor_s / one["seconds"], 8 * run.size_bytes / one["seconds"])
        for number, one in enumerate(run.iterations, 1)
    )
    caption = f"One discarded, {len(rows)} kept; each timed until its slowest rank was done."
    return Series(("iteration", "time", "fraction of floor", "algbw"), ("text", "s", "ratio", "bit/s"), rows, caption)


def figure(result: ProbeResult, op: str) -> dict[str, Any]:
    """A bar an iteration, with the floor drawn across. Reads the series `iterations` and two readings: seconds,
    floor_s.
    """
    rows = result.series["iterations"].rows
    floor = float(result.readings["floor_s"].value)
    said = [f"{row[0]}: {say(row[1], 's')}, {say(row[2], 'ratio')} of the floor" for row in rows]
    line, note = figures.upright(1000 * floor, f"floor {say(floor, 's')}", role="bad")
    high = 1000 * max(floor, *(row[1] for row in rows)) * 1.12
    if floor < 0.4 * high / 1000:
        note["xanchor"] = "left"
    middle = say(result.readings["seconds"].value, "s")
    alt = f"{op.capitalize()} time of {len(rows)} iterations, median {middle}, against a floor of {say(floor, 's')}"
    labels = [row[0] for row in rows]
    made = figures.frame(
        [figures.bars(op, "c1", labels, [1000 * row[1] for row in rows], said, showlegend=False)],
        alt=alt,
        rows=len(rows),
        x=figures.numbers(f"ms {'an' if op[0] == 'a' else 'a'} {op}", high=high),
        y=figures.names(labels),
        shapes=[line],
        annotations=[note],
    )
    made["layout"]["margin"]["t"] = 28
    return made
