"""A knowledge of the size of the whole flagship (18 causes, 33 steps) and a transcript of 40 events, for timing."""

from __future__ import annotations

import numpy as np

from grader.knowledge import CauseKnowledge, Cell, Knowledge, StepKnowledge
from tests.grader import simulated

FAMILIES = ("host", "input", "fabric", "job", "comparison")


def knowledge(causes: int = 18, steps: int = 33) -> Knowledge:
    draw = np.random.default_rng(37)
    ids = [f"cause-{number}" for number in range(causes)]
    return simulated.knowledge().model_copy(
        update={
            "causes": tuple(
                CauseKnowledge(id=c, family=FAMILIES[i % 5], title=c, prior=1 / causes, place_kind="none")
                for i, c in enumerate(ids)
            ),
            "steps": tuple(_step(f"step-{number}", ids, draw, number) for number in range(steps)),
            "symptom": _step("symptom", ids, draw, 0),
            "time_budget_min": 1000.0,
        }
    )


def _step(name, ids, draw, number):
    findings = ("a", "b", "c", "inconclusive")
    cells = {}
    for cause in (*ids, "healthy"):
        p = draw.dirichlet([0.3] * 4) * 0.96 + 0.01
        upper = dict(zip(findings, np.minimum(p * 1.5 + 0.02, 1).tolist(), strict=True))
        own = dict(zip(findings, (p / p.sum()).tolist(), strict=True))
        cells[cause] = Cell(p=own, upper=upper, runs=30, own_runs=30, pool=(cause,), basis="fit")
    return StepKnowledge(
        step=name, title=name, experiment="job" if number % 3 else f"bench-{number}", price_min=5 + number % 7,
        tells=("straggler",) if number == 0 else (), findings=findings, cells=cells,
    )  # fmt: skip


def transcript(events: int = 40) -> dict:
    body = [{"kind": "estimate", "quantity": "collective-floor", "scale": "production", "value": "5.6 s"}]
    for number in range((events - 6) // 2):
        body.append({"kind": "step", "step": f"step-{number % 33}", "finding": "abc"[number % 3]})
        body.append({"kind": "rule_out", "causes": [f"cause-{number % 18}"], "because": [f"step-{number % 33}"]})
    body += [
        {"kind": "diagnose", "causes": ["cause-1"], "confidence": 0.5, "because": []},
        {"kind": "success", "metric": "fraction-of-floor", "threshold": "0.9"},
        {"kind": "fix", "fix": "drain-host"},
        {"kind": "prevent", "measures": ["link-metrics"]},
        {"kind": "close"},
    ]
    return {
        "scenario": "slow-all-reduce", "causes": ["cause-1"], "symptom": "a", "truths": {"fraction-of-floor": 0.3},
        "events": [{"at_s": 10.0 * number, **event} for number, event in enumerate(body)],
    }  # fmt: skip
