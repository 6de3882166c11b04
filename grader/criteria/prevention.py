"""What would show it next time: measures by precision, alerts by back-test on recorded histories."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from grader.alerts import Alert, BackTest, Outcome, back_test
from grader.criteria.base import (
    Case,
    Criterion,
    Mark,
    Settings,
    Share,
    Words,
    clamp,
    inside,
    listed,
    not_applicable,
    nothing,
)
from grader.criteria.diagnosis import support
from grader.knowledge import MetricKnowledge
from grader.transcript import AlertSaid, Prevent

PER_POINTS = 1000


class PreventionWords(Words):
    not_offered: str = "This scenario offers no measure."
    never: str = "Nothing was said about catching it next time."
    none_shows: str = "Of your measures, {measures} would not have shown this cause."
    shows: str = "Of your measures, {measures} would have shown it."
    some_show: str = "Of your measures, {measures} would have shown it; {idle} would not."
    caught: str = "On recorded runs your {alerts} caught it {detected} of {tried} times, {delay}, with {false}."
    missed: str = "On recorded runs your {alerts} missed it all {tried} times, with {false}."
    no_history: str = "No recorded run could try your {alerts}."
    alert: str = "alert on {metric}"
    after: str = "after {points} points"
    one_point: str = "at the first faulty point"
    false_alarms: str = "{rate} false alarms in 1,000 healthy points"
    quiet: str = "no false alarm"


class PreventionSettings(Settings):
    """`alerts`: their share where both were said. An alert earns what it detects, times how soon, times how quietly."""

    title: str = "Next time"
    alerts: Share = 0.5
    delay_free_points: float = Field(default=4, ge=0, le=1000)
    delay_lost_points: float = Field(default=12, gt=0, le=1000)
    delay_cost: Share = 0.5
    false_alarms_free: float = Field(default=3, ge=0, le=1000, description="in 1,000 healthy points")
    false_alarms_lost: float = Field(default=60, gt=0, le=1000, description="from here on an alert is noise")
    words: PreventionWords = PreventionWords()


@dataclass(frozen=True)
class Tried:
    """Alerts on the histories of one cause: one of them, or all as one (then an alarm of any counts)."""

    event: int
    alerts: tuple[Alert, ...]
    cause: str
    detected: int
    tried: int
    delay_points: float | None
    delay_s: float | None
    false_alarms: int
    healthy_points: int

    @property
    def false_alarms_per_1000(self) -> float:
        return PER_POINTS * self.false_alarms / self.healthy_points if self.healthy_points else 0.0


def mark(case: Case) -> Mark:
    """Share of the chosen measures that would have caught the cause, or the cause that the evidence supported; the
    back-test of the alerts written; where there are both, half and half."""
    its, made = case.its(PreventionSettings), _last(case)
    if not case.index.knowledge.measures and not case.index.knowledge.metrics:
        return not_applicable(its.words.not_offered)
    parts = [part for part in (_measures(case, made), _alerts(case)) if part is not None]
    if not parts:
        return nothing(its.words.never)
    shares = [1 - its.alerts, its.alerts] if len(parts) == 2 else [1.0]
    score = sum(share * part for share, (part, _) in zip(shares, parts, strict=True))
    return Mark(clamp(score), " ".join(said for _, said in parts), tuple(number for number, _ in made))


def tried_alerts(case: Case) -> list[Tried]:
    """Every alert said last, each by itself, on the cause that it shows best."""
    return [one for said, metric in _said(case) if (one := _best(case, [(said, metric)])) is not None]


def _last(case: Case) -> list[tuple[int, Prevent]]:
    """What was said last counts: who says it again has changed it."""
    return case.timeline.events(Prevent)[-1:]


def _measures(case: Case, made: list[tuple[int, Prevent]]) -> tuple[float, str] | None:
    words = case.its(PreventionSettings).words
    known = {measure.id: measure for measure in case.index.knowledge.measures}
    chosen = list(dict.fromkeys(measure for _, event in made for measure in event.measures))
    if not chosen:
        return None
    wanted = _wanted(case)
    caught = [m for m in chosen if set(known[m].catches) & wanted]
    quoted = {m: f"“{known[m].title}”" for m in chosen}
    if not caught:
        return 0.0, words.none_shows.format(measures=listed(list(quoted.values())))
    shown, idle = listed([quoted[m] for m in caught]), [quoted[m] for m in chosen if m not in caught]
    said = words.some_show.format(measures=shown, idle=listed(idle)) if idle else words.shows.format(measures=shown)
    return len(caught) / len(chosen), said


def _wanted(case: Case) -> set[str]:
    held = support(case)
    supported = held is not None and held.steps > 0 and 2 * held.mass >= held.top
    return {*case.truths, *(held.named if supported and held else ())}


Said = tuple[tuple[int, AlertSaid], MetricKnowledge]


def _said(case: Case) -> list[Said]:
    """Every alert said last, each once, with its metric. Without histories there is nothing to try it on."""
    metrics = {metric.id: metric for metric in case.index.knowledge.metrics}
    found: dict[AlertSaid, int] = {}
    for number, event in _last(case):
        for alert in event.alerts:
            found.setdefault(alert, number)
    return [((number, alert), metrics[alert.metric]) for alert, number in found.items() if alert.metric in metrics]


def _alerts(case: Case) -> tuple[float, str] | None:
    said = _said(case)
    if not said:
        return None
    tried = _best(case, said)
    words = case.its(PreventionSettings).words
    named = listed([words.alert.format(metric=inside(metric.title)) for _, metric in said])
    if tried is None:
        return 0.0, words.no_history.format(alerts=named)
    return _earned(case, tried), _tried_words(case, tried, named)


def _best(case: Case, said: list[Said]) -> Tried | None:
    """The alerts as one, on that of the wanted causes which they show best. None where no history tried them."""
    tests = [back_test(_alert(alert, metric), metric.trials) for (_, alert), metric in said]
    tried = [_on_cause(said[0][0][0], tests, cause) for cause in sorted(_wanted(case))]
    return max((one for one in tried if one.tried), key=lambda one: _earned(case, one), default=None)


def _alert(said: AlertSaid, metric: MetricKnowledge) -> Alert:
    direction = said.direction or ("above" if metric.worse == "higher" else "below")
    return Alert(
        metric=said.metric, threshold=said.threshold, direction=direction, window=said.window, share=said.share
    )


def _on_cause(event: int, tests: list[BackTest], cause: str) -> Tried:
    """An alarm of any alert detects; false alarms of all add up, over the healthy points of all histories."""
    by_trial: dict[str, list[Outcome]] = {}
    for test in tests:
        for outcome in test.outcomes:
            if outcome.recorded:
                by_trial.setdefault(outcome.trial, []).append(outcome)
    faulty = [outcomes for outcomes in by_trial.values() if outcomes[0].fault == cause]
    firsts = [min(hits, key=lambda o: o.delay_s or 0.0) for of in faulty if (hits := [o for o in of if not o.missed])]
    return Tried(
        event, tuple(test.alert for test in tests), cause, len(firsts), len(faulty),
        _median([o.delay_points for o in firsts]), _median([o.delay_s for o in firsts]),
        sum(o.false_alarms for outcomes in by_trial.values() for o in outcomes),
        sum(max(o.healthy_points for o in outcomes) for outcomes in by_trial.values()),
    )  # fmt: skip


def _median(values: list[int | None] | list[float | None]) -> float | None:
    known = sorted(float(value) for value in values if value is not None)
    return known[len(known) // 2] if known else None


def _earned(case: Case, tried: Tried) -> float:
    its = case.its(PreventionSettings)
    slow = _beyond(tried.delay_points or 0.0, its.delay_free_points, its.delay_lost_points)
    noisy = _beyond(tried.false_alarms_per_1000, its.false_alarms_free, its.false_alarms_lost)
    return tried.detected / tried.tried * (1 - its.delay_cost * slow) * (1 - noisy)


def _beyond(value: float, free: float, lost: float) -> float:
    return clamp((value - free) / max(lost - free, 1e-9))


def _tried_words(case: Case, tried: Tried, named: str) -> str:
    words = case.its(PreventionSettings).words
    rate = tried.false_alarms_per_1000
    false = words.false_alarms.format(rate=f"{rate:.0f}" if rate >= 1 else f"{rate:.1f}") if rate else words.quiet
    if not tried.detected:
        return words.missed.format(alerts=named, tried=tried.tried, false=false)
    points = tried.delay_points or 1
    delay = words.one_point if points <= 1 else words.after.format(points=f"{points:.0f}")
    return words.caught.format(
        alerts=named, detected=tried.detected, tried=tried.tried, delay=delay, false=false
    )  # fmt: skip


CRITERION = Criterion(
    "prevention",
    PreventionSettings,
    mark,
    "Turns the incident into a default: few measures that would have shown it, and an alert tried on recorded runs.",
)
