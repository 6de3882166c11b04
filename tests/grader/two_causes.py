"""Two causes and three steps made by hand, small enough to work every number out."""

from __future__ import annotations

from grader.knowledge import CauseKnowledge, Cell, Knowledge, StepKnowledge


def cell(p, upper=None, basis="counts"):
    return Cell(p=p, upper=upper or {}, runs=30, own_runs=30, pool=(), basis=basis)


def step(name, findings, cells, *, with_=None, experiment="job", basis="counts", **fields):
    made = {cause: one if isinstance(one, Cell) else cell(one, basis=basis) for cause, one in cells.items()}
    return StepKnowledge(
        step=name, with_=with_ or {}, title=name, experiment=experiment, price_min=fields.pop("minutes", 4),
        findings=findings, cells=made, **fields,
    )  # fmt: skip


def cause(name, family, prior):
    return CauseKnowledge(id=name, family=family, title=name, prior=prior, place_kind="none")


TIMES = step(
    "times", ("even", "slow", "inconclusive"),
    {
        "host-fault": cell({"even": 0.1, "slow": 0.7, "inconclusive": 0.2},
                           {"even": 0.10, "slow": 0.9, "inconclusive": 0.05}),
        "bad-link": cell({"even": 0.9, "slow": 0.0, "inconclusive": 0.1},
                         {"even": 1.0, "slow": 0.09, "inconclusive": 0.05}),
        "healthy": cell({"even": 1.0}),
    },
)  # fmt: skip
RATES = step(
    "rates", ("nominal", "lower"), {"bad-link": {"nominal": 0.01, "lower": 0.99}}, basis="deterministic",
    with_={"scope": "all"}, experiment="config", minutes=12, stops_job=True,
)  # fmt: skip
SURPRISING = step(
    "swap", ("moved", "stayed"),
    {
        "host-fault": cell({"moved": 0.04, "stayed": 0.96}, {"moved": 0.08, "stayed": 1.0}),
        "bad-link": cell({"moved": 0.02, "stayed": 0.98}, {"moved": 0.08, "stayed": 1.0}),
    },
    experiment="a-swap",
)  # fmt: skip
ARRIVALS = step(
    "arrivals", ("together", "late", "inconclusive"),
    {
        "host-fault": cell({"together": 0.3, "late": 0.6, "inconclusive": 0.1}),
        "bad-link": cell({"together": 0.8, "late": 0.1, "inconclusive": 0.1}),
    },
    minutes=2, tells=("straggler",),
)  # fmt: skip
SYMPTOM = step("symptom", ("below",), {"host-fault": {"below": 1.0}, "bad-link": {"below": 1.0}}, minutes=0)


def knowledge(**fields):
    made = Knowledge(
        scenario="two", revision=1, calibration="", track="fabric",
        causes=(cause("host-fault", "host", 0.6), cause("bad-link", "fabric", 0.2)),
        steps=(TIMES, RATES, SURPRISING), symptom=SYMPTOM, fixes=(), measures=(), estimates=(), time_budget_min=60,
        tempering={"job": 0.25}, stop_weight=2,
    )  # fmt: skip
    return made.model_copy(update=fields)
