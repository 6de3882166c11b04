"""The palette of steps, as the scenario offers it: the same whatever the cause."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_worker.probes import PROBES
from gpu_worker.probes.base import Probe
from practice import words
from practice.orders import Post
from practice.progress import Progress
from practice.workbench.tokens import fresh
from practice.workbench.typed import Typed
from scenarios.causes import CAUSES
from scenarios.format import Scenario
from scenarios.palette import STEPS

MOST_PENDING = 2


@dataclass(frozen=True)
class Choice:
    id: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Parameter:
    name: str
    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Finding:
    id: str
    sentence: str


@dataclass(frozen=True)
class StepForm:
    id: str
    title: str
    question: str
    price_min: float
    stops_job: bool
    parameters: tuple[Parameter, ...]
    findings: tuple[Finding, ...]
    words: str
    times_run: int
    token: str
    open: bool
    error: str


@dataclass(frozen=True)
class Group:
    title: str
    steps: tuple[StepForm, ...]


@dataclass(frozen=True)
class Named:
    id: str
    title: str


@dataclass(frozen=True)
class Palette:
    groups: tuple[Group, ...]
    count: int
    hypotheses: tuple[Named, ...]
    open: bool
    full: bool
    locked: bool
    error: str
    live: bool = False


def palette(scenario: Scenario, progress: Progress, pending: int, typed: Typed, *, locked: bool, live: bool) -> Palette:
    """Every step offered, grouped, in palette order. `locked` while no step may be chosen at all."""
    typed = typed.of("step")
    offered = [step for step in STEPS if step in scenario.steps and step in PROBES]
    forms = [step_form(step, progress, typed) for step in offered]
    titles = list(dict.fromkeys(PROBES[step].group for step in offered))
    groups = tuple(Group(title, tuple(f for f in forms if PROBES[f.id].group == title)) for title in titles)
    full = pending >= MOST_PENDING
    named = any(form.open for form in forms)
    return Palette(
        groups,
        count=len(forms),
        hypotheses=tuple(Named(id, CAUSES[id].title) for id in progress.hypotheses if id not in progress.struck),
        open=bool(typed.kind) or not (progress.steps or pending),
        full=full,
        locked=locked or full,
        error="" if named else typed.error(),
        live=live,
    )


def step_form(step: str, progress: Progress, typed: Typed) -> StepForm:
    """One step's form, as it was sent where it was refused."""
    probe, about = PROBES[step], STEPS[step]
    sent = typed if typed.value("step") == step else Typed()
    runs = [line for line in progress.steps if line.body["step"] == step]
    return StepForm(
        id=step,
        title=probe.title,
        question=probe.question,
        price_min=about.price_min,
        stops_job=about.stops_job,
        parameters=parameters(probe, sent.post),
        findings=tuple(Finding(id, sentence) for id, sentence in probe.findings.items()),
        words=f"{probe.title} {probe.group} {probe.question} {step}".lower(),
        times_run=len(runs),
        token=fresh(),
        open=bool(sent.kind),
        error=" ".join(sent.slips.values()),
    )


def parameters(probe: Probe, post: Post) -> tuple[Parameter, ...]:
    """A probe's parameters in its own order; nothing is chosen beforehand: the choice is part of the answer."""
    return tuple(
        Parameter(
            name,
            words.parameter(name),
            tuple(Choice(id, words.choice(id), post.get(f"with-{name}", "") == id) for id in choices),
        )
        for name, choices in probe.parameters.items()
    )
