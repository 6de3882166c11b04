"""The brief's measured numbers: a fixed set of placeholders, filled from the attempt's own symptom."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpu_worker.readable import say

# Placeholder -> (number of the symptom, unit). A share prints in percent.
PLACEHOLDERS: dict[str, tuple[str, str]] = {
    "mfu_before": ("mfu_before", "share"),
    "mfu_now": ("mfu_now", "share"),
    "work_ratio": ("work_ratio", "share"),
    "step_before": ("step_s_before", "s"),
    "step_now": ("step_s_now", "s"),
    "collective_before": ("collective_s_before", "s"),
    "collective_now": ("collective_s_now", "s"),
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
    return f"{100 * value:.0f} %" if unit == "share" else say(value, unit)
