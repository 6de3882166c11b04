"""What a probe is: pure functions from a whole run to readings, a finding, a figure and a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

INCONCLUSIVE = "inconclusive"
EDGE = 1e-4


@dataclass(frozen=True)
class Reading:
    """A named number (or short text, for configuration reads) with its unit, as a practitioner would read it."""

    value: float | int | str
    unit: str
    label: str


@dataclass(frozen=True)
class Series:
    """A table of columns with units: what the chart draws and what its table twin prints."""

    columns: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class ProbeResult:
    """Readings and series of one probe on one whole run. The finding is kept apart: candidates do not see it."""

    readings: Mapping[str, Reading]
    series: Mapping[str, Series] = field(default_factory=dict)


@dataclass(frozen=True)
class Decisive:
    """A reading that decides the finding, and the scale on which its spread is close to normal."""

    reading: str
    scale: Literal["linear", "log", "logit"] = "log"

    def to_scale(self, value: float) -> float:
        """The reading on its fitting scale. Shares outside what the scale can hold are moved to its edge (1e-4)."""
        if self.scale == "log":
            return math.log(max(value, EDGE))
        if self.scale == "logit":
            inside = min(max(value, EDGE), 1 - EDGE)
            return math.log(inside / (1 - inside))
        return value

    def from_scale(self, scaled: float) -> float:
        """The inverse of `to_scale`, for draws from a fitted distribution."""
        if self.scale == "log":
            return math.exp(min(scaled, 700.0))
        if self.scale == "logit":
            return 1 / (1 + math.exp(-min(max(scaled, -700.0), 700.0)))
        return scaled


@dataclass(frozen=True)
class Probe:
    """One diagnostic step's measurement. One module in `gpu_worker/probes/` each, exposing `PROBE`.

    `read(run, params)` takes the WholeRun (as a model) and the step's parameters, returns a ProbeResult.
    `classify(values)` takes {reading: float} for the decisive readings alone and returns one of `findings`;
    it is used on real readings and, by calibration, on draws from their fitted distribution.
    For a deterministic probe (configuration read) `decisive` readings are counts: 0, or at least 1.
    `figure(result, params)` returns a Plotly figure as a dict (data, layout), with no colours of its own: it names
    roles through `gpu_worker.figures`. An empty dict means that the table says it all.
    `tells_when` narrows `tells` to the variants that can tell (a microbenchmark of the job's size where the job runs).
    """

    id: str
    title: str
    group: str
    question: str
    price_min: float
    stops_job: bool
    parameters: Mapping[str, tuple[str, ...]]
    experiment: Callable[[Mapping[str, str]], str]
    findings: Mapping[str, str]
    decisive: tuple[Decisive, ...]
    deterministic: bool
    tells: tuple[str, ...]
    read: Callable[[Any, Mapping[str, str]], ProbeResult]
    classify: Callable[[Mapping[str, float]], str]
    figure: Callable[[ProbeResult, Mapping[str, str]], dict]
    on_nccl: str
    reads: Literal["measurement", "configuration"] = "measurement"
    tells_when: Mapping[str, str] = field(default_factory=dict)

    def roles(self, with_: Mapping[str, str]) -> tuple[str, ...]:
        """What this variant of the step can tell: `tells`, or nothing where `tells_when` asks for other parameters."""
        return self.tells if all(with_.get(name) == value for name, value in self.tells_when.items()) else ()

    def finding(self, result: ProbeResult) -> str:
        """The finding of a result, by the stated thresholds alone."""
        return self.classify({d.reading: float(result.readings[d.reading].value) for d in self.decisive})


def variants(probe: Probe) -> Sequence[dict[str, str]]:
    """Every combination of a probe's parameters; one empty dict where it has none."""
    combos: list[dict[str, str]] = [{}]
    for name, choices in probe.parameters.items():
        combos = [{**c, name: choice} for c in combos for choice in choices]
    return combos
