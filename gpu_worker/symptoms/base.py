"""What a kind of symptom is: pure functions from the incident's run and a healthy one to readings and a finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from gpu_worker.probes.base import Decisive, ProbeResult
from gpu_worker.specs import WholeRun

HEALTHY_MFU = 0.40


class Read(Protocol):
    def __call__(self, run: WholeRun, before: WholeRun, mfu_before: float = ..., /) -> ProbeResult: ...


@dataclass(frozen=True)
class SymptomKind:
    """One kind of evidence 0. It has findings, decisive readings and a `classify` like a probe, so that calibration
    treats it as one.

    `experiment` is the one that it reads. `read(run, before, mfu_before)` takes the incident's run and the healthy one
    that it is compared with; the MFU is the brief's, since the lab cannot measure it.
    `shown` are the numbers that a brief may print, by placeholder: (reading, unit); one that a run has not is left out.
    `lines` are (label, name, unit) of those that have a `<name>_before` and a `<name>_now`.
    `left` names the reading that says how much of what was healthy is left, 0 to 1: what headlines and the effects of
    fixes are held to, in `left_words`; None where there is no such measure.
    """

    id: str
    title: str
    experiment: str
    findings: Mapping[str, str]
    decisive: tuple[Decisive, ...]
    deterministic: bool
    read: Read
    classify: Callable[[Mapping[str, float]], str]
    shown: Mapping[str, tuple[str, str]]
    lines: tuple[tuple[str, str, str], ...] = ()
    left: str | None = None
    left_words: str = ""

    def finding(self, result: ProbeResult) -> str:
        """The finding of a result, by the stated thresholds alone."""
        return self.classify({d.reading: float(result.readings[d.reading].value) for d in self.decisive})

    def left_of(self, run: WholeRun, before: WholeRun) -> float | None:
        """How much of what was healthy is left; None where this kind does not measure it."""
        if self.left is None:
            return None
        return float(self.read(run, before).readings[self.left].value)
