"""The brief's measured numbers: a fixed set of placeholders, filled from the attempt's own symptom."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpu_worker.readable import say
from gpu_worker.symptoms import SYMPTOMS

# Placeholder -> (number of the symptom, unit), over all kinds of symptoms: a name means the same in each.
PLACEHOLDERS: dict[str, tuple[str, str]] = {
    name: what for kind in SYMPTOMS.values() for name, what in kind.shown.items()
}
WRITTEN = re.compile(r"\{([^{}]*)\}")


def placeholders_in(text: str) -> list[str]:
    """Every name in braces, in order."""
    return WRITTEN.findall(text)


def fill(text: str, numbers: Mapping[str, float]) -> str:
    """The brief with its numbers as a person reads them. Raises KeyError for an unknown placeholder."""
    values = {name: say_short(numbers[key], unit) for name, (key, unit) in PLACEHOLDERS.items() if key in numbers}
    return WRITTEN.sub(lambda found: values[found.group(1)], text)


def say_short(value: float, unit: str) -> str:
    """A share in percent, a loss to the digits in which runs differ."""
    if unit == "loss":
        return f"{value:.4f}"
    return f"{100 * value:.0f} %" if unit == "share" else say(value, unit)
