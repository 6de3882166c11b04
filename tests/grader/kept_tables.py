"""A small calibration as it was, variant by variant: `python -m tests.grader.kept_tables` writes it anew.

Few runs of few causes, drawn once: each way in which a table is built is taken by some variant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from grader import tables
from tests.grader.kept import rounded

FILE = Path(__file__).parent / "kept_tables.json"
LEVEL, GAP, STUCK = "level", "gap", "stuck"
IN_PART = "together-in-part"
RUNS = {"link": 9, "load": 9, "rare": 3, "healthy": 10}
CENTRES = {"link": 0.35, "load": 0.9, "rare": 0.92, "healthy": 0.92}


def banded(low: float, high: float) -> tables.Rule:
    """One share, with an inconclusive band."""

    def classify(values: Any) -> str:
        share = values["share"]
        return "below" if share < low else "above" if share > high else "inconclusive"

    return tables.Rule((("share", "logit"),), classify, ("above", "below", "inconclusive"))


def apart(values: Any) -> str:
    return "far" if values["second"] > 1.4 * values["first"] else "near"


RULES = {
    LEVEL: banded(0.6, 0.85),
    GAP: tables.Rule((("first", "log"), ("second", "log")), apart, ("near", "far")),
    STUCK: tables.Rule((("count", "linear"),), lambda v: "some" if v["count"] > 0 else "none", ("none", "some")),
    "read": tables.Rule((("set", "linear"),), lambda v: "set" if v["set"] else "unset", ("unset", "set"), True),
    "read-varies": tables.Rule((("set", "linear"),), lambda v: "set" if v["set"] else "unset", ("unset", "set"), True),
}
UNTOUCHED = {"read": ["elsewhere"]}


def observations() -> Iterator[dict[str, Any]]:
    draw = np.random.default_rng(11)
    for cause, runs in RUNS.items():
        for number in range(runs):
            noise = draw.normal(0, 0.15)
            readings = {
                LEVEL: {"share": _share(CENTRES[cause], noise + draw.normal(0, 0.35))},
                GAP: _gap(cause, noise, draw),
                STUCK: {"count": float(cause == "link")},
                "read": {"set": float(cause == "load")},
                "read-varies": {"set": float(cause == "load" and number % 2)},
            }
            for variant, values in readings.items():
                yield {
                    "cause": cause, "run_id": f"{cause}-{number}", "experiment": "job", "variant": variant,
                    "readings": values, "finding": RULES[variant].classify(values),
                }  # fmt: skip


def _share(centre: float, off: float) -> float:
    return float(1 / (1 + np.exp(-(np.log(centre / (1 - centre)) + off))))


def _gap(cause: str, noise: float, draw: np.random.Generator) -> dict[str, float]:
    """Two readings that move together; under `link` the second runs away."""
    first = 3 * noise + draw.normal(0, 0.02)
    return {
        "first": float(np.exp(first)),
        "second": float(np.exp(first + 0.6 * (cause == "link") + draw.normal(0, 0.1))),
    }


def built(*variants: str, in_part: bool = False) -> dict[str, Any]:
    """The tables of these variants alone, as JSON; `in_part`: every other run lacks the last of them."""
    rows = [row for row in observations() if row["variant"] in variants]
    rows = [row for row in rows if not (in_part and row["variant"] == variants[-1] and row["run_id"][-1] in "13579")]
    untouched = {name: causes for name, causes in UNTOUCHED.items() if name in variants}
    made = tables.build(rows, {name: RULES[name] for name in variants}, untouched)
    return dict(rounded(made.model_dump(mode="json")))


def shown() -> dict[str, tuple[str, ...]]:
    """What is kept: each variant by itself, and two of one experiment, for their tempering."""
    return {**{name: (name,) for name in RULES}, "together": (LEVEL, STUCK), IN_PART: (STUCK, LEVEL)}


def made(name: str) -> dict[str, Any]:
    return built(*shown()[name], in_part=name == IN_PART)


@cache
def kept() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text()))


def main() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(made(name))}" for name in shown()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
