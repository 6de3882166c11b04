"""The hidden side of an attempt: the one module that reads `Draw`. Nothing of it goes to a page before the close."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from grader.knowledge import Knowledge
from practice.errors import ScenarioBroken
from practice.models import Attempt, Draw, Person
from scenarios import bank, evidence, fixes, instances, library
from scenarios.errors import BankIncomplete, ScenarioError
from scenarios.format import Scenario
from scenarios.knowledge import knowledge_for


def scenario_of(attempt: Attempt) -> Scenario:
    """The scenario revision of an attempt. Raises ScenarioBroken where it cannot be read."""
    try:
        return library.get(attempt.scenario, attempt.revision)
    except ScenarioError as error:
        raise ScenarioBroken(str(error)) from error


def knowledge_of(scenario: Scenario) -> Knowledge:
    """What the grader knows of a scenario. Raises ScenarioBroken where its calibration is missing."""
    try:
        return knowledge_for(scenario)
    except BankIncomplete as error:
        raise ScenarioBroken(str(error)) from error


def instance_of(attempt: Attempt) -> instances.Instance:
    """What the attempt drew: cause, place, magnitude, as it was then, whatever has become of the bank since.

    Raises ScenarioBroken for an attempt that kept no copy where the bank no longer holds it either.
    """
    if attempt.draw.kept:
        return instances.Instance.model_validate(attempt.draw.kept)
    try:
        return instances.as_in(scenario_of(attempt), instances.get(attempt.draw.table, attempt.draw.instance))
    except BankIncomplete as error:
        raise ScenarioBroken(str(error)) from error


def is_ready(scenario: Scenario) -> bool:
    """Whether an attempt can be opened: the bank has an instance, and the calibration is there."""
    try:
        knowledge_of(scenario)
    except ScenarioBroken:
        return False
    return any(instance.cause in scenario.prior for instance in bank.complete_instances(scenario))


@dataclass(frozen=True)
class Drawn:
    """A new attempt's draw with the symptom that its page prints."""

    instance: instances.Instance
    symptom: evidence.SymptomView


def draw(scenario: Scenario, person: Person | None = None) -> Drawn:
    """Draw an instance for a new attempt; one that the person has not met, while its cause has such.

    Raises ScenarioBroken where the bank has none.
    """
    try:
        met = set(Draw.objects.filter(attempt__person=person).values_list("instance", flat=True)) if person else set()
        instance = instances.draw(scenario, seed=secrets.token_hex(16), avoid=met)
        return Drawn(instance, evidence.symptom(scenario, instance))
    except BankIncomplete as error:
        raise ScenarioBroken(str(error)) from error


def keep(attempt: Attempt, drawn: Drawn, *, now: datetime) -> None:
    """Tie the draw to the attempt, and let the lab begin on what will likely be asked."""
    Draw.objects.create(
        attempt=attempt,
        table=drawn.instance.table,
        instance=drawn.instance.id,
        kept=drawn.instance.model_dump(mode="json"),
        symptom_finding=drawn.symptom.finding,
        fraction_of_floor=drawn.symptom.fraction_of_floor,
    )
    evidence.open_for(attempt.owner, drawn.instance, now=now)


@dataclass(frozen=True)
class AfterFixes:
    """What the lab is in after the fixes so far: what they left together, and an opaque name of that state."""

    effect: instances.State
    state: str


def after_fixes(attempt: Attempt) -> AfterFixes | None:
    """The state after every fix in the log; None before the first."""
    bodies = [event.body for event in attempt.events.filter(kind="fix")]
    if not bodies:
        return None
    scenario, instance = scenario_of(attempt), instance_of(attempt)
    left = fixes.left_behind(scenario, instance, [(body["fix"], body.get("where")) for body in bodies])
    return AfterFixes(left, evidence.state_after(left, len(bodies)))
