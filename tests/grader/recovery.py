"""A compact incident about resuming, for the criteria of that track. Nothing in it is measured."""

from __future__ import annotations

from functools import cache
from typing import Any

from grader.knowledge import (
    CauseKnowledge,
    Cell,
    FixKnowledge,
    Knowledge,
    MeasureKnowledge,
    StepKnowledge,
)

CAUSES = {"schedule-lost": "checkpoint", "generations-mixed": "checkpoint", "slow-store": "input"}
# step, minutes, roles, finding by cause (healthy last)
STEPS: list[tuple[str, float, tuple[str, ...], dict[str, str]]] = [
    ("manifest", 4, ("checkpoint",), {"schedule-lost": "complete", "generations-mixed": "complete",
     "slow-store": "complete", "healthy": "complete"}),
    ("contents", 5, ("checkpoint", "generation"), {"schedule-lost": "one-step", "generations-mixed": "steps-mixed",
     "slow-store": "one-step", "healthy": "one-step"}),
    ("replay", 20, ("checkpoint", "replay"), {"schedule-lost": "diverges", "generations-mixed": "diverges",
     "slow-store": "replays", "healthy": "replays"}),
    ("schedule", 3, ("checkpoint",), {"schedule-lost": "from-the-start", "generations-mixed": "as-logged",
     "slow-store": "as-logged", "healthy": "as-logged"}),
    ("step-times", 3, ("straggler",), {"schedule-lost": "even", "generations-mixed": "even", "slow-store": "late",
     "healthy": "even"}),
    ("changes", 20, ("change",), dict.fromkeys((*CAUSES, "healthy"), "changes")),
]  # fmt: skip


def step(name: str, minutes: float, roles: tuple[str, ...], shown: dict[str, str]) -> StepKnowledge:
    findings = (*dict.fromkeys(shown.values()), "inconclusive")
    cells = {}
    for cause, finding in shown.items():
        rest = 0.01 / (len(findings) - 1)
        p = {one: 0.99 if one == finding else rest for one in findings}
        upper = {one: 1.0 if one == finding else 0.05 for one in findings}
        cells[cause] = Cell(p=p, upper=upper, runs=30, own_runs=30, pool=(cause,), basis="deterministic")
    return StepKnowledge(
        step=name, title=name.capitalize(), experiment=name, price_min=minutes, tells=roles, findings=findings,
        cells=cells,
    )  # fmt: skip


@cache
def knowledge() -> Knowledge:
    return Knowledge(
        scenario="resume", revision=1, calibration="certain", track="checkpoints",
        causes=tuple(
            CauseKnowledge(id=c, family=f, title=c.replace("-", " "), prior=1 / 3, place_kind="none")
            for c, f in CAUSES.items()
        ),
        steps=tuple(step(*row) for row in STEPS),
        symptom=step("symptom", 0, (), dict.fromkeys((*CAUSES, "healthy"), "loss-jumps")),
        fixes=(
            FixKnowledge(id="save-schedule", title="Save the schedule", takes_place=False,
                         effects={"schedule-lost": "cures"}),
            FixKnowledge(id="commit-whole", title="Commit whole generations", takes_place=False,
                         effects={"generations-mixed": "cures"}),
        ),
        measures=(MeasureKnowledge(id="replay-gate", title="Replay after each release",
                                   catches=("schedule-lost", "generations-mixed")),),
        estimates=(), time_budget_min=120,
    )  # fmt: skip


CONTENTS = {"kind": "step", "step": "contents", "finding": "one-step"}
ONE_GENERATION = {"kind": "rule_out", "causes": ["generations-mixed"], "because": ["contents"]}
SCHEDULE = {"kind": "step", "step": "schedule", "finding": "from-the-start"}
NOT_THE_STORE = {"kind": "rule_out", "causes": ["slow-store"], "because": ["schedule"]}
CHANGES = {"kind": "step", "step": "changes", "finding": "changes"}
DIAGNOSE = {"kind": "diagnose", "causes": ["schedule-lost"], "confidence": 0.95, "because": ["schedule", "contents"]}
TOLERANCE = {"kind": "success", "metric": "loss-difference", "threshold": "1e-5"}
FIX = {"kind": "fix", "fix": "save-schedule"}
REPLAY = {"kind": "verify", "step": "replay", "against": ["loss"], "finding": "replays"}
PREVENT = {"kind": "prevent", "measures": ["replay-gate"]}
SOUND = [CONTENTS, ONE_GENERATION, SCHEDULE, NOT_THE_STORE, CHANGES, DIAGNOSE, TOLERANCE, FIX, REPLAY, PREVENT,
         {"kind": "close"}]  # fmt: skip


def transcript(events: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "scenario": "resume", "causes": ["schedule-lost"], "symptom": "loss-jumps",
        "events": [{"at_s": 10.0 * number, **event} for number, event in enumerate(events)],
    }  # fmt: skip
