"""The claim that every cause can be solved: the best search on stored instances, with everything else done well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_worker.symptoms.base import SymptomKind
from grader import bots
from grader.grade import grade
from grader.knowledge import Knowledge
from grader.transcript import variant_id
from scenarios import bank
from scenarios.grading import rubric_of
from scenarios.instances import NOTHING
from scenarios.proof.base import Line, Subject, verdict
from scenarios.symptom import kind_of, variant_of
from scenarios.tables_file import SYMPTOM_VARIANT

PASSES = 0.85
INSTANCES = 2

Findings = Mapping[str, str]  # by variant, the symptom among them


class Replayed(bots.Player):
    """A player who sees what the probes read of one stored instance, not draws from the tables."""

    def __init__(self, knowledge: Knowledge, cause: str, findings: Findings) -> None:
        self.findings = findings
        super().__init__(knowledge, cause, seed=0)

    def _finding(self, row: int) -> str:
        return self.findings[(*self.index.variants, SYMPTOM_VARIANT)[row]]


@dataclass(frozen=True)
class Path:
    """One golden path: on which instance, how many points, and whether it named the hidden cause."""

    cause: str
    total: float
    named: str

    @property
    def passed(self) -> bool:
        return self.total >= PASSES and self.named == self.cause


def paths_pass(subject: Subject) -> Line:
    """The greedy search with every other criterion done, on two stored instances of each cause."""
    claim = f"each cause's golden path scores {100 * PASSES:.0f} or more on {INSTANCES} stored instances"
    stored = stored_instances(subject)
    lacking = tuple(
        f"{cause}: {len(found)} whole instances" for cause, found in stored.items() if len(found) < INSTANCES
    )
    if lacking:
        ready = len(stored) - len(lacking)
        return Line("golden", claim, f"{ready} of {len(stored)} causes have {INSTANCES}", "unknown", lacking)
    walked = [walk(subject, cause, one) for cause, found in stored.items() for one in found[:INSTANCES]]
    least = min(walked, key=lambda path: path.total)
    figure = (
        f"{sum(path.passed for path in walked)} of {len(walked)} pass; lowest {100 * least.total:.0f} ({least.cause})"
    )
    wrong = tuple(f"{one.cause}: {100 * one.total:.0f}, named {one.named}" for one in walked if not one.passed)
    return Line("golden", claim, figure, verdict(not wrong), wrong)


def walk(subject: Subject, cause: str, findings: Findings) -> Path:
    player = Replayed(subject.knowledge, cause, findings)
    bots.BOTS["greedy-information"](player)
    named = next(event["causes"][0] for event in reversed(player.events) if event["kind"] == "diagnose")
    return Path(cause, grade(player.transcript(), subject.knowledge, rubric_of(subject.scenario)).total, named)


def stored_instances(subject: Subject) -> dict[str, list[Findings]]:
    """By cause: what every offered step reads of each instance, in order of ids; those that lack a step left out."""
    symptom = kind_of(subject.scenario)
    names = {variant_of(symptom): SYMPTOM_VARIANT}
    seen: dict[str, dict[str, str]] = {}
    for one in subject.calibration.observations:
        seen.setdefault(one.instance, {})[names.get(one.variant, one.variant)] = one.finding
    heads = sorted(bank.heads(subject.scenario.table), key=lambda head: head.instance.id)
    twins = {head.setting: seen.get(head.instance.id, {}) for head in heads if head.instance.is_healthy}
    found: dict[str, list[Findings]] = {cause: [] for cause in subject.scenario.prior}
    for head in heads:
        if head.instance.cause in found:
            findings = {
                **borrowed(subject.knowledge, symptom, head, twins.get(head.setting, {})),
                **seen.get(head.instance.id, {}),
            }
            if {*subject.index.variants, SYMPTOM_VARIANT} <= findings.keys():
                found[head.instance.cause].append(findings)
    return found


def borrowed(knowledge: Knowledge, symptom: SymptomKind, head: bank.Head, twin: Findings) -> Findings:
    """What the healthy twin's runs show of the experiments that the instance has no run of and cannot touch."""
    read = [(variant_id(step.step, step.with_), (NOTHING, step.experiment)) for step in knowledge.steps]
    read.append((SYMPTOM_VARIANT, (NOTHING, symptom.experiment)))
    names = {name for name, slot in read if slot not in head.held and head.borrows(slot)}
    return {name: finding for name, finding in twin.items() if name in names}
