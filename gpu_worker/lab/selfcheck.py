"""Whether this machine reproduces what readings must show: the ground on which live evidence stands.

`judge` is pure: it holds the findings of a few runs against what must be found. `self_check` takes those runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpu_worker.errors import LabError
from gpu_worker.lab.run import run_experiment, tally
from gpu_worker.probes import PROBES
from gpu_worker.specs import ExperimentSpec, Fault, Job, Setting, WholeRun

RunExperiment = Callable[[ExperimentSpec], WholeRun]
JOB_SIZE = {"placement": "as-job", "size": "job"}
TRIES = 2


@dataclass(frozen=True)
class Expectation:
    """What one run must show: by probe, the findings that are right."""

    name: str
    spec: ExperimentSpec
    findings: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Verdict:
    """Of one run: whether it held, and each probe's finding beside what was expected."""

    name: str
    ok: bool
    why: str
    findings: Mapping[str, str]
    readings: Mapping[str, float]
    tries: int = 1

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "ok": self.ok,
            "why": self.why,
            "findings": dict(self.findings),
            "readings": dict(self.readings),
            "tries": self.tries,
        }


def _experiment(name: str, with_: Mapping[str, str], *faults: Fault) -> ExperimentSpec:
    """Shorter than a candidate's: live evidence waits for it."""
    setting = Setting(job=Job(measured_steps=4, warmup_steps=2))
    fields = {"experiment": name, "with": dict(with_), "faults": faults, "setting": setting, "repeats": 3}
    return ExperimentSpec.model_validate(fields)


def expectations() -> tuple[Expectation, ...]:
    """Healthy runs of both experiments, and a fault that each must show. About half a minute together."""
    throttled = Fault(cause="throttled-rank", place="rank:2")
    degraded = Fault(cause="degraded-link", place="link:host1-leaf0")
    healthy_job = {
        "per-rank-step-times": ("even",),
        "host-telemetry": ("even",),
        "overlap-trace": ("overlapped",),
        "link-error-counters": ("clean",),
    }
    return (
        Expectation(
            "healthy microbenchmark", _experiment("microbenchmark", JOB_SIZE), {"microbenchmark": ("at-floor",)}
        ),
        Expectation("healthy job", _experiment("job", {}), healthy_job),
        Expectation(
            "microbenchmark with a degraded link",
            _experiment("microbenchmark", JOB_SIZE, degraded),
            {"microbenchmark": ("below-floor",)},
        ),
        Expectation(
            "job with a throttled rank",
            _experiment("job", {}, throttled),
            {"per-rank-step-times": ("one-rank-slow-compute",), "host-telemetry": ("one-host-stalled",)},
        ),
        Expectation(
            "microbenchmark with a throttled rank",
            _experiment("microbenchmark", JOB_SIZE, throttled),
            {"microbenchmark": ("at-floor",)},
        ),
    )


def judge(expected: Expectation, run: WholeRun) -> Verdict:
    """Holds one run's findings against what is expected of it. Pure."""
    with_ = dict(run.spec.with_)
    results = {probe: PROBES[probe].read(run, with_) for probe in expected.findings}
    found = {probe: PROBES[probe].finding(result) for probe, result in results.items()}
    wrong = [probe for probe, finding in found.items() if finding not in expected.findings[probe]]
    why = "; ".join(f"{p} found {found[p]}, not {' or '.join(expected.findings[p])}" for p in wrong)
    readings = {
        f"{probe} {decisive.reading}": round(float(result.readings[decisive.reading].value), 4)
        for probe, result in results.items()
        for decisive in PROBES[probe].decisive
    }
    return Verdict(expected.name, not wrong, why, found, readings)


def check_one(expected: Expectation, experiment: RunExperiment) -> Verdict:
    """Takes the run and judges it; a second chance, since a healthy machine also errs now and then."""
    verdict = Verdict(expected.name, False, "it was not tried", {}, {})
    for number in range(1, TRIES + 1):
        try:
            verdict = replace(judge(expected, experiment(expected.spec)), tries=number)
        except LabError as problem:
            verdict = Verdict(expected.name, False, problem.reason, {}, {}, number)
        if verdict.ok:
            break
    return verdict


def self_check(
    *, experiment: RunExperiment = run_experiment, tell: Callable[[Verdict], None] = lambda _: None
) -> dict[str, Any]:
    """Takes every expected run: `{"ok", "checks": [verdicts], "runs": {"taken", "disturbed"}}`, JSON-ready.

    `tell` gets each verdict at once. Disturbed runs were thrown away and taken again.
    """
    verdicts: list[Verdict] = []
    before = tally()
    for expected in expectations():
        verdicts.append(check_one(expected, experiment))
        tell(verdicts[-1])
    return summary(verdicts, {name: count - before[name] for name, count in tally().items()})


def summary(verdicts: Sequence[Verdict], runs: Mapping[str, int]) -> dict[str, Any]:
    return {"ok": all(v.ok for v in verdicts), "checks": [v.to_dict() for v in verdicts], "runs": dict(runs)}


def check_and_store(now: Any, *, tell: Callable[[Verdict], None] = lambda _: None) -> Any:
    """Checks this machine and stores the result: a `models.SelfCheck` row, taken at `now`."""
    from gpu_worker.lab.machine import fingerprint
    from gpu_worker.models import SelfCheck

    result = self_check(tell=tell)
    machine = fingerprint()
    details = {**result, "cpu": machine["cpu"], "cores": machine["cores"], "kernel": machine["kernel"]}
    return SelfCheck.objects.create(ok=result["ok"], at=now, machine=machine["id"], details=details)
