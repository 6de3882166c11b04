"""Forms into event bodies: what a candidate may send, checked against the scenario. Pure; raises Slip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from grader.transcript import variant_id
from grader.units import Kind, QuantityError, parse_quantity
from practice import alerts, places
from practice.errors import NotNow, Slip
from practice.progress import Progress
from scenarios import alert_trials
from scenarios.causes import CAUSES
from scenarios.errors import did_you_mean
from scenarios.format import Scenario

LONGEST_NOTE = 4000
LONGEST_LINE = 400
SCALES = ("production", "lab")
FAMILIES = ("host", "input", "fabric", "job", "checkpoint", "comparison")


class Post(Protocol):
    """What `request.POST` gives."""

    def get(self, name: str, default: str, /) -> Any: ...

    def getlist(self, name: str, /) -> Sequence[Any]: ...


@dataclass(frozen=True)
class Draft:
    """One event about to be appended; `key` keeps the tokens of one form's events apart."""

    kind: str
    body: Mapping[str, Any]
    key: str = ""


Reader = Callable[[Post, Scenario, Progress], list[Draft]]


def families(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """The scenario's causes by family: families in a fixed order, causes in the file's."""
    listed = {family: tuple(c.id for c in scenario.causes if CAUSES[c.id].family == family) for family in FAMILIES}
    return {family: causes for family, causes in listed.items() if causes}


def ask(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    fact = _one_of(post.get("fact", ""), [fact.id for fact in scenario.facts], "fact")
    return [] if fact in progress.asked else [Draft("ask", {"fact": fact})]


def estimate(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    """Every value that was filled in; all are read before any is kept, so that a slip in one loses none."""
    assuming = _line(post.get("assuming", ""), "assuming", "assumption", 200)
    drafts, slips = [], {}
    for wanted in scenario.estimates:
        name = estimate_field(wanted.quantity, wanted.scale)
        typed = post.get(name, "")
        if not typed.strip() or (wanted.quantity, wanted.scale) in progress.estimates:
            continue
        try:
            parse_quantity(typed, wanted.kind)
        except QuantityError as error:
            slips[name] = str(error)
            continue
        body = {"quantity": wanted.quantity, "scale": wanted.scale, "value": typed.strip()}
        drafts.append(Draft("estimate", {**body, "assuming": assuming} if assuming else body, key=name))
    if slips:
        raise EstimateSlip(slips, drafts)
    if not drafts:
        raise Slip(
            noted_before(post, scenario, progress) or "Type at least one value with its unit, for example 5.6 s."
        )
    return drafts


def noted_before(post: Post, scenario: Scenario, progress: Progress) -> str:
    """What to say of values sent for what another page has noted already."""
    noted = [
        str(progress.estimates[e.quantity, e.scale].body["value"])
        for e in scenario.estimates
        if (e.quantity, e.scale) in progress.estimates and post.get(estimate_field(e.quantity, e.scale), "").strip()
    ]
    return f"The first value counts, and it is noted already: {', '.join(noted)}." if noted else ""


class EstimateSlip(Slip):
    """Some values could not be read; `good` are those that could, and are kept."""

    def __init__(self, fields: Mapping[str, str], good: list[Draft]) -> None:
        super().__init__("", fields=fields)
        self.good = good


def estimate_field(quantity: str, scale: str) -> str:
    return f"{quantity}-{scale}"


def verdict(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    return [
        Draft("verdict", {"collective": _one_of(post.get("collective", ""), ("at-floor", "below-floor"), "collective")})
    ]


def hypothesis(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    return [Draft("hypothesis", {"causes": _causes(post, scenario)})]


def rule_out(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    """The ticked causes and families, with the steps cited. What is out already is left out."""
    causes = [cause for cause in _causes(post, scenario) if cause not in progress.struck]
    named = _some_of(post.getlist("families"), families(scenario), "families")
    if not causes and not named:
        raise Slip("Tick at least one cause that this reading rules out.")
    body: dict[str, Any] = {"causes": causes, "families": named, "because": _cited(post, progress)}
    if text := _line(post.get("text", ""), "text", "reason"):
        body["text"] = text
    return [Draft("rule_out", body)]


def restore(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    causes = [cause for cause in _causes(post, scenario) if cause in progress.struck]
    return [Draft("restore", {"causes": causes})] if causes else []


def note(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    text = plain(post.get("text", ""))
    if not text:
        raise Slip("The note is empty.", "text")
    if len(text) > LONGEST_NOTE:
        raise Slip(
            f"A note holds {LONGEST_NOTE:,} characters; this has {len(text):,}. Shorten it, or keep it as two.", "text"
        )
    return [Draft("note", {"text": text})]


def hint(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    level = _one_of(post.get("level", ""), [str(hint.level) for hint in scenario.hints], "level")
    return [Draft("hint", {"level": int(level)})]


def diagnose(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    slips: dict[str, str] = {}
    causes = _causes(post, scenario)
    if not causes:
        slips["causes"] = "Name at least one cause."
    confidence = _confidence(post.get("confidence", ""), slips)
    where = _place(post.get("where", ""), scenario)
    text = _line(post.get("text", ""), "text", "reason")
    if slips:
        raise Slip("", fields=slips)
    body: dict[str, Any] = {"causes": causes, "confidence": confidence, "because": _cited(post, progress)}
    return [Draft("diagnose", body | ({"where": where} if where else {}) | ({"text": text} if text else {}))]


def _confidence(typed: str, slips: dict[str, str]) -> float | None:
    """Per cent as typed, into a share."""
    try:
        value = float(typed.strip().removesuffix("%").strip())
    except ValueError:
        slips["confidence"] = "Write your confidence as a number from 0 to 100."
        return None
    if not 0 <= value <= 100:
        slips["confidence"] = f"Confidence goes from 0 to 100 %; {typed.strip()[:12]} does not fit."
        return None
    return value / 100


def success(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    metric = _one_of(post.get("metric", ""), METRICS, "metric")
    typed = post.get("threshold", "").strip()
    try:
        parse_quantity(typed, METRICS[metric].kind)
    except QuantityError as error:
        raise Slip(str(error), "threshold") from None
    return [Draft("success", {"metric": metric, "threshold": typed})]


@dataclass(frozen=True)
class Metric:
    """What success may be declared in, and the kind of its threshold."""

    title: str
    kind: Kind
    example: str
    sense: str


METRICS: dict[str, Metric] = {
    "fraction-of-floor": Metric("fraction of the floor, by microbenchmark", "ratio", "90 %", "at least"),
    "step-time": Metric("step time", "time", "700 ms", "at most"),
    "collective-time": Metric("time inside the collective", "time", "500 ms", "at most"),
    "useful-work": Metric("useful work a second, against before", "ratio", "95 %", "at least"),
    "loss-difference": Metric("relative difference of replayed losses", "ratio", "0.001 %", "at most"),
    "samples-as-logged": Metric("samples after a restart that are as logged", "ratio", "100 %", "at least"),
    "save-pause": Metric("pause of a save", "time", "300 ms", "at most"),
}


def fix(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    """One fix. What success would be is declared before the first."""
    chosen = _one_of(post.get("fix", ""), [fix.id for fix in scenario.fixes], "fix")
    if progress.success is None:
        raise NotNow("Declare first what success would be: a metric and its threshold.", "fix")
    takes = scenario.fix(chosen).takes_place
    where = _place(post.get(f"where-{chosen}", "") or post.get("where", ""), scenario)
    if takes and not where:
        raise Slip(f"This fix needs its {takes}: choose where.", f"where-{chosen}")
    if takes and not where.startswith(f"{takes}:"):
        raise Slip(f"This fix takes a {takes}, and {places.say(where)} is none.", f"where-{chosen}")
    return [Draft("fix", {"fix": chosen, "where": where} if takes else {"fix": chosen})]


def prevent(post: Post, scenario: Scenario, progress: Progress) -> list[Draft]:
    measures = _some_of(post.getlist("measures"), [measure.id for measure in scenario.measures], "measures")
    written = alerts.kept(post, alert_trials.recorded(scenario.table))
    body: dict[str, Any] = {"measures": measures}
    return [Draft("prevent", body | ({"alerts": [one.said() for one in written]} if written else {}))]


READERS: dict[str, Reader] = {
    "ask": ask, "estimate": estimate, "verdict": verdict, "hypothesis": hypothesis, "rule_out": rule_out,
    "restore": restore, "note": note, "hint": hint, "diagnose": diagnose, "success": success, "fix": fix,
    "prevent": prevent,
}  # fmt: skip


def parameters(post: Post, step: str) -> dict[str, str]:
    """A step's parameters from `with-<name>` fields. Raises Slip where one is missing or is no choice of it."""
    chosen: dict[str, str] = {}
    for name, choices in PROBES[step].parameters.items():
        given = post.get(f"with-{name}", "")
        if given not in choices:
            raise Slip(f"Choose the {name} first: {' or '.join(choices)}.")
        chosen[name] = given
    return chosen


def predictions(post: Post, step: str, scenario: Scenario) -> tuple[dict[str, Any], ...]:
    """`predict-<cause>` fields, gathered by finding: [{causes, finding}]."""
    by_finding: dict[str, list[str]] = {}
    for cause in scenario.causes:
        if finding := post.get(f"predict-{cause.id}", ""):
            _one_of(finding, PROBES[step].findings, f"predict-{cause.id}")
            by_finding.setdefault(finding, []).append(cause.id)
    return tuple({"causes": causes, "finding": finding} for finding, causes in by_finding.items())


def variant(post: Post, scenario: Scenario) -> tuple[str, dict[str, str]]:
    """The step and parameters that one field `variant` names. Raises Slip for one that the scenario does not offer."""
    for step in scenario.steps:
        for with_ in variants(PROBES[step]):
            if post.get("variant", "") == variant_id(step, with_):
                return step, with_
    raise Slip("Choose what to measure again.", "variant")


def against(post: Post) -> str | list[str]:
    """What a verification is held against: `floor`, `loss`, or both."""
    chosen = _some_of(post.getlist("against"), AGAINST, "against")
    if not chosen:
        raise Slip("Say what the reading is held against: the floor, the loss, or both.", "against")
    return chosen[0] if len(chosen) == 1 else chosen


AGAINST = ("floor", "loss")


def known_step(post: Post, scenario: Scenario) -> str:
    """The step that a form names. Raises Slip for one that the scenario does not offer."""
    step = str(post.get("step", ""))[:80]
    if step not in scenario.steps or step not in PROBES:
        raise Slip(f"There is no step “{step}” here{did_you_mean(step, scenario.steps)}.")
    return step


def _causes(post: Post, scenario: Scenario) -> list[str]:
    return _some_of(post.getlist("causes"), [cause.id for cause in scenario.causes], "causes")


def _cited(post: Post, progress: Progress) -> list[int]:
    """The step events that a claim rests on, by their number in the log, each once, in order."""
    known = {line.index for line in [*progress.steps, *progress.verifications]}
    given = {int(index) for index in post.getlist("because") if str(index).isdecimal() and len(str(index)) < 6}
    if given - known:
        raise Slip("That evidence is not in this attempt. Load the page again.", "because")
    return sorted(given)


def _place(given: str, scenario: Scenario) -> str:
    if given and given not in places.known(scenario):
        raise Slip(f"There is no place “{given[:40]}” in this lab. Choose one of the list.", "where")
    return given


def _one_of(given: Any, known: Iterable[str], field: str) -> str:
    choices = list(known)
    if given not in choices:
        shown = str(given or "")[:40]
        raise Slip(
            f"There is no {field} “{shown}” here{did_you_mean(shown, choices)}."
            if shown
            else f"Choose a {field} first.",
            field,
        )
    return str(given)


def _some_of(given: Iterable[Any], known: Iterable[str], field: str) -> list[str]:
    """The given ids, in the scenario's order, each once. Raises Slip for one that it does not know."""
    asked = {str(item)[:80] for item in given}
    choices = list(known)
    for stranger in sorted(asked - set(choices)):
        raise Slip(f"“{stranger}” is none of the {field} here{did_you_mean(stranger, choices)}.", field)
    return [choice for choice in choices if choice in asked]


def plain(given: Any) -> str:
    """Text as it may be stored: PostgreSQL holds no NUL, and nobody types one."""
    return str(given or "").replace("\x00", "").strip()


def _line(given: Any, field: str, word: str, longest: int = LONGEST_LINE) -> str:
    text = plain(given)
    if len(text) > longest:
        raise Slip(f"That {word} has {len(text):,} characters; {longest} are enough.", field)
    return text
