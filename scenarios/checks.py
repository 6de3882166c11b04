"""What must hold of a scenario beyond its form: every reference exists, every cause can be measured and fixed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gpu_worker.errors import BadSpec
from gpu_worker.lab.plan import plan_run
from gpu_worker.specs import PLACE
from gpu_worker.symptoms import SYMPTOMS
from grader.units import QuantityError, parse_quantity
from scenarios import brief, palette, scale, texts, yamlfile
from scenarios.causes import CAUSES, Cause
from scenarios.draws import draw_instance, draw_pair
from scenarios.errors import BankIncomplete, ScenarioError, ScenarioErrors, did_you_mean
from scenarios.format import CauseBinding, Collective, Scenario
from scenarios.instances import NOTHING, Instance, State, spec_for
from scenarios.offered import JOB

if TYPE_CHECKING:
    from scenarios.proof.apart import Apart

RUBRICS = Path(__file__).with_name("rubrics")

Finding = tuple[yamlfile.Loc, str]


def refuse_broken(path: Path, tree: Any, scenario: Scenario) -> None:
    """Raises ScenarioErrors with every fault found, in the order of the file."""
    once = dict.fromkeys((tuple(loc), message) for loc, message in faults(path, scenario))
    found = [ScenarioError(path, yamlfile.line_of(tree, loc), message) for loc, message in once]
    if found:
        raise ScenarioErrors(sorted(found, key=lambda error: error.line or 0))


def faults(path: Path, scenario: Scenario) -> Iterator[Finding]:
    """Everything wrong with a scenario of good form, as (where, what and how to repair it)."""
    yield from key_faults(path, scenario)
    yield from step_faults(scenario)
    yield from cause_faults(scenario)
    yield from fix_faults(scenario)
    yield from setting_faults(scenario)
    yield from measure_faults(scenario)
    yield from estimate_faults(scenario)
    yield from brief_faults(scenario)
    yield from hint_faults(scenario)
    yield from pair_faults(scenario)
    yield from decoy_faults(scenario)
    yield from source_faults(scenario)
    yield from rubric_faults(scenario)
    yield from texts.faults(scenario)


def key_faults(path: Path, scenario: Scenario) -> Iterator[Finding]:
    stem = path.stem.partition("@")[0]
    if scenario.key != stem:
        yield ("key",), f'key "{scenario.key}" and the file\'s name differ; call the file {scenario.key}.yaml'


def step_faults(scenario: Scenario) -> Iterator[Finding]:
    for index, step in enumerate(scenario.steps):
        if step not in palette.STEPS:
            yield ("steps", index), f'step "{step}" is not in the palette{did_you_mean(step, palette.STEPS)}'
        elif step not in palette.PROBES:
            yield ("steps", index), f'step "{step}" cannot be measured yet; leave it out until it has a probe'
        elif scenario.steps.index(step) != index:
            yield ("steps", index), f'step "{step}" stands twice; leave one out'


def cause_faults(scenario: Scenario) -> Iterator[Finding]:
    known_faults = fault_ids()
    for index, bound in enumerate(scenario.causes):
        at = ("causes", index, "id")
        if bound.id not in CAUSES:
            yield at, f'cause "{bound.id}" is not in the list of causes{did_you_mean(bound.id, CAUSES)}'
            continue
        if bound.id not in known_faults:
            yield at, f'the lab cannot inject cause "{bound.id}"; choose another, and have this one as a decoy'
        if not any(fix.effects.get(bound.id) == "cures" for fix in scenario.fixes):
            yield at, f'no fix cures cause "{bound.id}"; give one fix `effects: {{{bound.id}: cures}}`'
        yield from place_faults(scenario, index)


def place_faults(scenario: Scenario, index: int) -> Iterator[Finding]:
    bound = scenario.causes[index]
    kind = CAUSES[bound.id].place_kind
    if kind == "none" and bound.places:
        yield ("causes", index, "places"), f'cause "{bound.id}" has no place; leave `places` out'
    if kind != "none" and not bound.places:
        yield ("causes", index), f'cause "{bound.id}" needs `places`, each like {kind}:…'
    for position, place in enumerate(bound.places):
        if not PLACE.match(place) or not place.startswith(f"{kind}:"):
            at = ("causes", index, "places", position)
            yield at, f'place "{place}" is no {kind}; write it like {EXAMPLES[kind]}'


def setting_faults(scenario: Scenario) -> Iterator[Finding]:
    """The lab must be able to run every cause at each of its places and at both ends of its ranges, and every fix."""
    try:
        healthy = draw_instance(scenario, None, 0, "check")
    except ValidationError as refused:
        yield ("setting",), f"the lab has no such setting: {first_of(refused)}"
        return
    about = SYMPTOMS[scenario.symptom].experiment
    for index, fix in enumerate(scenario.fixes):
        yield from refused_by_the_lab(("fixes", index), healthy, JOB, fix.id)
    for index, bound in enumerate(scenario.causes):
        if bound.id in fault_ids():
            drawn = draw_instance(scenario, bound, 0, "check")
            for one in extremes(drawn, bound):
                yield from refused_by_the_lab(("causes", index), one, about, NOTHING)


def extremes(drawn: Instance, bound: CauseBinding) -> Iterator[Instance]:
    """The cause at each of its places, all its parameters at their lower ends and then at their upper ones."""
    for place in bound.places or (None,):
        for end in (min, max):
            params = {name: float(end(ends)) for name, ends in bound.params.items()}
            yield drawn.model_copy(update={"place": place, "params": params})


def refused_by_the_lab(at: yamlfile.Loc, instance: Instance, experiment: str, state: State) -> Iterator[Finding]:
    try:
        plan_run(spec_for(instance, experiment, state))
    except BadSpec as refused:
        yield at, f"the lab cannot run it: {refused.reason}"
    except ValidationError as refused:
        yield at, f"the lab cannot run it: {first_of(refused)}"


def first_of(refused: ValidationError) -> str:
    first = refused.errors()[0]
    return f"{'.'.join(map(str, first['loc']))} is {first['input']!r}; {first['msg']}"


EXAMPLES = {"rank": "rank:2", "host": "host:1", "link": "link:host1-leaf0", "none": "nothing"}


def fix_faults(scenario: Scenario) -> Iterator[Finding]:
    locs = (("fixes", i, "effects") for i in range(len(scenario.fixes)))
    yield from unknown_causes(scenario, locs, "effects of a fix")


def unknown_causes(scenario: Scenario, locs: Iterable[tuple[Any, ...]], what: str) -> Iterator[Finding]:
    ids = [bound.id for bound in scenario.causes]
    for loc in locs:
        named: Any = getattr(getattr(scenario, loc[0])[loc[1]], loc[2])
        for position, cause in enumerate(named):
            if cause not in ids:
                part = cause if isinstance(named, dict) else position
                yield (*loc, part), f'{what} name cause "{cause}", which the scenario has not{did_you_mean(cause, ids)}'


def measure_faults(scenario: Scenario) -> Iterator[Finding]:
    locs = (("measures", i, "catches") for i in range(len(scenario.measures)))
    yield from unknown_causes(scenario, locs, "catches of a measure")


BY_ATTEMPT = "fraction-of-floor"  # its right value is measured in each attempt
SAVING_QUANTITIES = ("checkpoint-bytes", "save-time", "save-interval", "lost-work", "samples-by-step")


def estimate_faults(scenario: Scenario) -> Iterator[Finding]:
    """Estimates must parse, and one accepted value a floor must be the one that the stated collective gives."""
    for index, estimate in enumerate(scenario.estimates):
        values: list[float] = []
        for position, accepted in enumerate(estimate.accepted):
            try:
                values.append(parse_quantity(accepted.value, estimate.kind))
            except QuantityError as unreadable:
                yield ("estimates", index, "accepted", position, "value"), str(unreadable)
        computed = computed_value(scenario, index)
        if computed is None and estimate.quantity != BY_ATTEMPT:
            needs = "saves" if estimate.quantity in SAVING_QUANTITIES else f"{estimate.scale}, the collective"
            yield ("estimates", index), f'nothing gives "{estimate.quantity}"; state `scale.{needs}`'
        if computed is not None and not any(abs(value / computed - 1) < 0.02 for value in values):
            yield ("estimates", index), f"no accepted value is the one that the scale gives, {computed:.4g} in SI units"


def computed_value(scenario: Scenario, index: int) -> float | None:
    """What the scale gives for an estimate; None where it does not say, or the value depends on the attempt."""
    estimate = scenario.estimates[index]
    return values_at(scenario, estimate.scale).get(estimate.quantity)


def values_at(scenario: Scenario, which: str) -> dict[str, float]:
    """What the stated collective and the stated saving give at one scale, SI, as far as they are stated."""
    values: dict[str, float] = {}
    collective: Collective | None = getattr(scenario.scale, which)
    if collective is not None:
        floor = scale.floor_of(collective)
        values |= {"collective-floor": floor.seconds, "bytes-on-the-wire": floor.bytes_per_rank}
    if scenario.scale.saves is not None:
        values |= scale.saving_values(getattr(scenario.scale.saves, which))
    return values


def brief_faults(scenario: Scenario) -> Iterator[Finding]:
    for name in brief.placeholders_in(scenario.brief):
        known = SYMPTOMS[scenario.symptom].shown
        if name not in known:
            yield ("brief",), f'placeholder "{{{name}}}" is unknown{did_you_mean(name, known)}'
    for where, text in open_texts(scenario):
        for cause in scenario.causes:
            if cause.id in CAUSES and says_cause(text, CAUSES[cause.id]):
                yield where, f'the text names "{cause.id}", one of the causes; say only what was seen'


def open_texts(scenario: Scenario) -> Iterator[tuple[tuple[Any, ...], str]]:
    """What a candidate may read before the first step."""
    yield ("title",), scenario.title
    yield ("brief",), scenario.brief
    for index, fact in enumerate(scenario.facts):
        yield ("facts", index), f"{fact.question} {fact.answer}"
    for index, hint in enumerate(scenario.hints):
        yield ("hints", index), hint.text


def says_cause(text: str, cause: Cause) -> bool:
    low = text.lower()
    return any(name in low for name in (cause.id, cause.id.replace("-", " "), cause.title.lower()))


def hint_faults(scenario: Scenario) -> Iterator[Finding]:
    levels = [hint.level for hint in scenario.hints]
    if levels != sorted(set(levels)):
        yield ("hints",), "hints climb from level 1; give each level once, in order"


def pair_faults(scenario: Scenario) -> Iterator[Finding]:
    """A curveball's two causes must be the scenario's, differ, and be such as the lab can hold at once."""
    ids = [bound.id for bound in scenario.causes]
    for index, pair in enumerate(scenario.pairs):
        at = ("pairs", index, "causes")
        unknown = [cause for cause in pair.causes if cause not in ids]
        for cause in unknown:
            said = f'pair names cause "{cause}", which the scenario has not{did_you_mean(cause, ids)}'
            yield (*at, pair.causes.index(cause)), said
        if pair.causes[0] == pair.causes[1]:
            yield at, f'pair names "{pair.causes[0]}" twice; name two causes'
        elif not unknown and all(cause in fault_ids() for cause in pair.causes):
            yield from refused_by_the_lab(at, draw_pair(scenario, pair, 0, "check"), JOB, NOTHING)


def decoy_faults(scenario: Scenario) -> Iterator[Finding]:
    for index, decoy in enumerate(scenario.decoys):
        if decoy.cause not in CAUSES:
            said = f'decoy "{decoy.cause}" is not in the list of causes{did_you_mean(decoy.cause, CAUSES)}'
            yield ("decoys", index, "cause"), said
        if decoy.cause in scenario.prior:
            yield ("decoys", index, "cause"), f'"{decoy.cause}" is one of the causes, so it is no decoy; leave it out'
        for position, step in enumerate(decoy.settled_by):
            if step not in scenario.steps:
                said = f'step "{step}" is not offered{did_you_mean(step, scenario.steps)}'
                yield ("decoys", index, "settled_by", position), said


def source_faults(scenario: Scenario) -> Iterator[Finding]:
    known = [reference.id for reference in scenario.references]
    for name in ("facts", "decoys"):
        for index, part in enumerate(getattr(scenario, name)):
            if part.source is not None and part.source not in known:
                near = did_you_mean(part.source, known) or "; add it to `references`"
                yield (name, index, "source"), f'source "{part.source}" is no reference{near}'


def rubric_faults(scenario: Scenario) -> Iterator[Finding]:
    known = [path.stem for path in RUBRICS.glob("*.yaml") if "@" not in path.stem]
    if scenario.rubric is not None and scenario.rubric not in known:
        near = did_you_mean(scenario.rubric, known) or "; leave it out for the track's"
        yield ("rubric",), f'there is no rubric "{scenario.rubric}"{near}'
    if scenario.track in scenario.tracks:
        yield ("tracks",), f'"{scenario.track}" is its own track already; leave it out'
    low, high = scenario.headline or (0.5, 1.0)
    if not 0 <= low < high <= 1:
        yield ("headline",), "headline is a range of shares, the lower first, like [0.45, 0.70]"
    if scenario.headline is not None and SYMPTOMS[scenario.symptom].left is None:
        yield ("headline",), f'symptom "{scenario.symptom}" measures nothing that is left; write `headline: null`'


def fault_ids() -> set[str]:
    """Ids of the faults that the lab can inject."""
    faults: Any = importlib.import_module("gpu_worker.faults")
    return set(faults.FAULTS)


def tables_problems(path: Path, scenario: Scenario) -> list[str]:
    """What a sound file still lacks to be offered: tables for its causes, and that they tell any two of these apart.

    Empty where there is no calibration yet, or one of the table's other scenarios alone and this one is not offered.
    """
    from scenarios import library, tables_file
    from scenarios.proof import apart
    from scenarios.proof.base import subject_of

    if not tables_file.path_of(scenario.table).is_file():
        return []
    try:
        subject = subject_of(scenario)
    except BankIncomplete as lacking:
        return [] if library.is_coming(scenario) else [f"{path.name}: {lacking}"]
    return [same_to_every_step(path, scenario, pair) for pair in apart.every_pair(subject) if not pair.told]


def same_to_every_step(path: Path, scenario: Scenario, pair: Apart) -> str:
    line = yamlfile.line_of(yamlfile.read(path), ["causes", list(scenario.prior).index(pair.second)])
    what = f'causes "{pair.first}" and "{pair.second}" cannot be told apart within {scenario.time_budget_min:g} minutes'
    return f"{path.name}:{line}: {what} ({pair.error:.0%} error); offer a step that tells them apart, or leave one out"
