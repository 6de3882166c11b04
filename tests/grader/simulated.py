"""A compact incident for the grader's own tests: seven causes, eleven steps, readings drawn by a simulator.

Only the tests use it. What Rank 37 scores by is measured.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from grader import tables
from grader.knowledge import (
    AcceptedValue,
    CauseKnowledge,
    EstimateKnowledge,
    FixKnowledge,
    Knowledge,
    MeasureKnowledge,
    StepKnowledge,
)
from grader.transcript import variant_id

CAUSES = {
    "throttled-rank": ("host", "rank"),
    "slow-input-rank": ("input", "rank"),
    "degraded-link": ("fabric", "link"),
    "worse-placement": ("fabric", "rank"),
    "fallback-transport": ("fabric", "none"),
    "no-overlap": ("job", "none"),
    "comparison-changed": ("comparison", "none"),
}


def band(reading, low, high, below, above):
    """A classifier with an inconclusive band between two thresholds."""

    def classify(values):
        value = values[reading]
        return below if value < low else above if value > high else "inconclusive"

    return classify


def step_times(values):
    compute, inputs = values["compute"], values["input"]
    if min(compute, inputs) > 0.8:
        return "even"
    if min(compute, inputs) > 0.7:
        return "inconclusive"
    return "one-rank-slow-compute" if compute < inputs else "one-rank-slow-input"


def flag(reading, off, on):
    return lambda values: on if values[reading] >= 1 else off


# step, with, minutes, stops, tells, decisive, classify, findings, deterministic
STEPS = [
    ("per-rank-step-times", {}, 3, False, ("straggler",), (("compute", "log"), ("input", "log")), step_times,
     ("even", "one-rank-slow-compute", "one-rank-slow-input"), False),
    ("collective-arrivals", {}, 4, False, ("straggler",), (("lateness", "logit"),),
     band("lateness", 0.12, 0.2, "together", "one-rank-late"), ("together", "one-rank-late"), False),
    ("host-telemetry", {}, 8, False, (), (("stalled", "logit"),),
     band("stalled", 0.15, 0.3, "even", "one-host-stalled"), ("even", "one-host-stalled"), False),
    ("input-timings", {}, 8, False, (), (("input", "log"),),
     band("input", 0.7, 0.8, "one-rank-slow", "even"), ("even", "one-rank-slow"), False),
    ("overlap-trace", {}, 12, False, ("overlap",), (("overlap", "logit"),),
     band("overlap", 0.15, 0.3, "serial", "overlapped"), ("overlapped", "serial"), False),
    ("link-error-counters", {}, 12, False, ("link",), (("drops", "linear"),),
     band("drops", 0.01, 0.02, "clean", "errors"), ("clean", "errors"), False),
    ("library-choices", {}, 10, False, ("library",), (("management", "linear"),),
     flag("management", "fabric-interface", "management-interface"),
     ("fabric-interface", "management-interface"), True),
    ("placement-map", {}, 10, False, ("placement",), (("far", "linear"),),
     flag("far", "as-before", "more-hops"), ("as-before", "more-hops"), True),
    ("link-rates", {"scope": "suspects"}, 12, False, ("link",), (("suspect_low", "linear"),),
     flag("suspect_low", "nominal", "one-link-lower"), ("nominal", "one-link-lower"), True),
    ("link-rates", {"scope": "all"}, 12, False, ("link",), (("any_low", "linear"),),
     flag("any_low", "nominal", "one-link-lower"), ("nominal", "one-link-lower"), True),
    ("change-log", {}, 20, False, ("change",), (("changes", "linear"),),
     flag("changes", "nothing", "changes"), ("changes", "nothing"), True),
    *[("microbenchmark", {"size": size, "placement": place}, 8, True,
       ("bisect",) if (size, place) == ("job", "as-job") else (), ((f"fraction_{size}_{place}", "logit"),),
       band(f"fraction_{size}_{place}", 0.7, 0.85, "below-floor", "at-floor"), ("at-floor", "below-floor"), False)
      for size in ("small", "job") for place in ("as-job", "packed")],
    ("symptom", {}, 0, False, (), (("symptom_fraction", "logit"),),
     band("symptom_fraction", 0.75, 0.85, "collective-below-floor", "collective-at-floor"),
     ("collective-at-floor", "collective-below-floor"), False),
]  # fmt: skip


def job_run(cause, draw):
    """Readings of one job run under `cause`; all share the run's own noise."""
    noise = draw.normal(0, 0.03)

    def ratio(centre, spread=0.05):
        return float(np.exp(np.log(centre) + noise + draw.normal(0, spread)))

    def share(centre, spread=0.2):
        logit = np.log(centre / (1 - centre)) + 3 * noise + draw.normal(0, spread)
        return float(1 / (1 + np.exp(-logit)))

    return {
        "compute": ratio(0.55 if cause == "throttled-rank" else 0.95),
        "input": ratio(0.3 if cause == "slow-input-rank" else 0.95),
        "lateness": share({"throttled-rank": 0.4, "slow-input-rank": 0.4}.get(cause, 0.05)),
        "stalled": share(0.5 if cause == "throttled-rank" else 0.05),
        "overlap": share(0.04 if cause == "no-overlap" else 0.6),
        "drops": abs(draw.normal(0, 0.002)),
        "management": float(cause == "fallback-transport"),
        "far": float(cause == "worse-placement"),
        "suspect_low": float(cause == "degraded-link" and draw.random() < 0.5),
        "any_low": float(cause == "degraded-link"),
        "changes": 1.0,
        "symptom_fraction": share(0.93 if cause in ("comparison-changed", "healthy") else 0.35),
    }


def microbenchmark_run(cause, size, place, draw):
    fabric = {"degraded-link": 0.3, "worse-placement": 0.45, "fallback-transport": 0.4}.get(cause, 0.95)
    if place == "packed" and cause in ("degraded-link", "worse-placement"):
        fabric = 0.95
    centre = 0.6 if size == "small" else fabric
    logit = np.log(centre / (1 - centre)) + draw.normal(0, 0.5 if size == "small" else 0.15)
    return {f"fraction_{size}_{place}": float(1 / (1 + np.exp(-logit)))}


def observations(runs=10, seed=37):
    """`runs` whole runs of every experiment under every cause and healthy."""
    draw = np.random.default_rng(seed)
    found = []
    for cause in (*CAUSES, "healthy"):
        for number in range(runs):
            found += _one_instance(cause, f"{cause}-{number}", draw)
    return found


def _one_instance(cause, run_id, draw):
    job = job_run(cause, draw)
    for step, with_, _, _, _, decisive, classify, _, _ in STEPS:
        experiment = "job"
        readings = job
        if step == "microbenchmark":
            experiment = variant_id(step, with_)
            readings = microbenchmark_run(cause, with_["size"], with_["placement"], draw)
        yield {
            "cause": cause,
            "run_id": run_id,
            "experiment": experiment,
            "variant": variant_id(step, with_),
            "readings": {name: readings[name] for name, _ in decisive},
            "finding": classify(readings),
        }


def rules():
    return {
        variant_id(step, with_): tables.Rule(decisive, classify, (*findings, "inconclusive"), deterministic)
        for step, with_, _, _, _, decisive, classify, findings, deterministic in STEPS
    }


@cache
def built(runs=10, seed=37):
    return tables.build(observations(runs, seed), rules())


def _step(table, step, with_, minutes, stops, tells):
    one = table.variants[variant_id(step, with_)]
    return StepKnowledge(
        step=step, with_=with_, title=step.replace("-", " ").capitalize(), experiment=one.experiment,
        price_min=minutes, stops_job=stops, tells=tells, findings=one.findings, cells=one.cells,
    )  # fmt: skip


FIXES = {
    "drain-host": ({"throttled-rank": "cures", "slow-input-rank": "cures", "degraded-link": "mitigates"}, True),
    "move-input": ({"slow-input-rank": "cures"}, True),
    "replace-link": ({"degraded-link": "cures"}, True),
    "restore-placement": ({"worse-placement": "cures"}, False),
    "restore-transport": ({"fallback-transport": "cures"}, False),
    "restore-overlap": ({"no-overlap": "cures"}, False),
    "accept-physics": ({"comparison-changed": "cures"}, False),
    "reboot-switches": ({}, False),
    "add-gpus": ({"throttled-rank": "harms"}, False),
}
MEASURES = {
    "step-time-distributions": ("throttled-rank", "slow-input-rank"),
    "link-metrics": ("degraded-link",),
    "busbw-floor-alert": ("degraded-link", "worse-placement", "fallback-transport"),
    "placement-check": ("worse-placement",),
    "config-diff-gate": ("no-overlap", "comparison-changed", "fallback-transport", "worse-placement"),
    "preflight-microbenchmark": ("degraded-link", "fallback-transport"),
}


def knowledge():
    return knowledge_of(10)


@cache
def knowledge_of(runs):
    """The incident as calibration of so many runs a cause knows it."""
    table = built(runs)
    steps = tuple(_step(table, *row[:5]) for row in STEPS if row[0] != "symptom")
    symptom = next(row for row in STEPS if row[0] == "symptom")
    return Knowledge(
        scenario="slow-all-reduce", revision=1, calibration=table.digest, track="incident",
        causes=tuple(
            CauseKnowledge(id=c, family=f, title=c.replace("-", " "), prior=1 / 7, place_kind=k)
            for c, (f, k) in CAUSES.items()
        ),
        steps=steps, symptom=_step(table, *symptom[:5]),
        fixes=tuple(
            FixKnowledge(id=f, title=f, takes_place=place, effects=effects, changes_optimisation=f == "add-gpus")
            for f, (effects, place) in FIXES.items()
        ),
        measures=tuple(MeasureKnowledge(id=m, title=m, catches=c) for m, c in MEASURES.items()),
        estimates=(
            EstimateKnowledge(quantity="collective-floor", scale="production", kind="time", accepted=(
                AcceptedValue(value=5.6), AcceptedValue(value=0.69, assuming="8 NICs a host"))),
            EstimateKnowledge(quantity="bytes-on-the-wire", scale="production", kind="data",
                              accepted=(AcceptedValue(value=280e9),)),
            EstimateKnowledge(quantity="fraction-of-floor", scale="production", kind="ratio", accepted=()),
            EstimateKnowledge(quantity="collective-floor", scale="lab", kind="time",
                              accepted=(AcceptedValue(value=0.441),)),
        ),
        time_budget_min=90, tempering=table.tempering,
    )  # fmt: skip
