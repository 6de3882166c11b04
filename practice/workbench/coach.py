"""The guide of a first incident: one move at a time, said when it pays, with the place on the page where it is made.

It reads which moves the candidate's own log holds, never the draw nor what a reading was taken to say: that stays
hidden until the debrief. It names a move and why it comes now, not what the move will show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpu_worker.probes import PROBES
from practice.progress import Line, Progress
from scenarios.format import Scenario

TEACHES_UP_TO = 3  # causes: an incident this small is there to teach the moves
STRAGGLER, BISECTION = "straggler", "bisect"


@dataclass(frozen=True)
class Move:
    """What to do now, why now, and where: `page` is `search` or `conclusion`."""

    name: str
    says: str
    why: str
    page: str
    anchor: str


@dataclass(frozen=True)
class Coach:
    """The `number`th of `of` moves; `here` where it is made on the page that shows it."""

    move: Move
    number: int
    of: int
    here: bool


Due = Callable[[Progress, Scenario], bool]


def coach(scenario: Scenario, progress: Progress, *, here: str, closed: bool) -> Coach | None:
    """The next move; None where the incident teaches nothing, or is over."""
    if closed or len(scenario.causes) > TEACHES_UP_TO:
        return None
    # Who has gone on to the conclusion is not called back.
    open_to = [one for one in enumerate(MOVES, 1) if here == "search" or one[1][0].page == here]
    number, move = next((number, move) for number, (move, is_due) in open_to if is_due(progress, scenario))
    return Coach(move, number, len(MOVES), move.page == here)


def _asked(progress: Progress, role: str) -> list[Line]:
    """The readings of steps that can tell this. What they say is not looked at: that is for the candidate to see."""
    return [line for line in progress.steps if role in _roles(line)]


def _roles(line: Line) -> tuple[str, ...]:
    probe = PROBES.get(line.body["step"])
    return probe.roles(line.body.get("with") or {}) if probe else ()


def _offers(scenario: Scenario, role: str) -> bool:
    return any(role in PROBES[step].tells for step in scenario.steps if step in PROBES)


def _unsaid(progress: Progress, scenario: Scenario, role: str) -> bool:
    """A reading of this kind came last, and nothing was ruled out since: who went on without has gone on."""
    asked = _asked(progress, role)
    if not asked or asked[-1] != progress.steps[-1] or _standing(progress, scenario) < 2:
        return False
    return not any(struck.by > asked[-1].index for struck in progress.struck.values())


def _asks_for_the_floor(scenario: Scenario) -> bool:
    return any(one.quantity == "collective-floor" for one in scenario.estimates)


def _floor_lacks(progress: Progress, scenario: Scenario) -> bool:
    noted = any(quantity == "collective-floor" for quantity, _ in progress.estimates)
    return _asks_for_the_floor(scenario) and not noted


def _to_bisect(progress: Progress, scenario: Scenario) -> bool:
    return _standing(progress, scenario) > 1 and _offers(scenario, BISECTION) and not _asked(progress, BISECTION)


def _to_narrow(progress: Progress, scenario: Scenario) -> bool:
    """More than one cause stands, and some step that could tell them apart was not taken yet."""
    taken = {line.body["step"] for line in progress.steps}
    return progress.diagnosis is None and _standing(progress, scenario) > 1 and bool(set(scenario.steps) - taken)


def _standing(progress: Progress, scenario: Scenario) -> int:
    return sum(cause.id not in progress.struck for cause in scenario.causes)


MOVES: tuple[tuple[Move, Due], ...] = (
    (
        Move(
            "Floor",
            "Work out what this all-reduce must cost, and note it.",
            "In a ring each rank sends 2·(n − 1)/n of the bytes over its link. Bytes, ranks and rate stand in the"
            " brief; if one of them is unclear, ask the team: that is free. Without the floor no number on the "
            "page is fast or slow.",
            "search",
            "estimates",
        ),
        _floor_lacks,
    ),
    (
        Move(
            "Verdict",
            "Hold the measured collective against your floor: at it, or below it?",
            "The symptom has both times on the scale model. At the floor nobody is to blame for the collective; "
            "below it, something takes time that the bytes do not explain.",
            "search",
            "verdict",
        ),
        lambda progress, scenario: progress.verdict is None and not progress.steps and _asks_for_the_floor(scenario),
    ),
    (
        Move(
            "Split",
            "Find out whether one rank is late, or all are alike.",
            "A collective waits for its last rank, so a straggler looks like a slow network. One cheap reading of"
            " every rank, by phase, tells the two apart: look under the steps for one that compares ranks.",
            "search",
            "palette",
        ),
        lambda progress, scenario: _offers(scenario, STRAGGLER) and not _asked(progress, STRAGGLER),
    ),
    (
        Move(
            "Rule out",
            "Say what that reading excludes, under its card.",
            "A fifth of the score is for this, and a reading that excludes nothing was not worth its minutes. "
            "Tick what can no longer be true, and keep the rest. What you strike can be taken back.",
            "search",
            "timeline",
        ),
        lambda progress, scenario: _unsaid(progress, scenario, STRAGGLER),
    ),
    (
        Move(
            "Bisect",
            "Are all ranks alike? Then cut in two: is it the fabric, or what the job does?",
            "A microbenchmark runs the collective without the job. It only answers the question at the job's own "
            "size and placement. Before it runs, tick a hypothesis and say what it would show: a prediction "
            "counts for you.",
            "search",
            "palette",
        ),
        _to_bisect,
    ),
    (
        Move(
            "Rule out",
            "And what does the microbenchmark exclude?",
            "At the floor, the fabric is out; below it, the job is.",
            "search",
            "timeline",
        ),
        lambda progress, scenario: _unsaid(progress, scenario, BISECTION),
    ),
    (
        Move(
            "Narrow down",
            "More than one cause stands: take the cheapest step that tells them apart.",
            "Ask of each step what it would show under either cause. If it is the same, it is not worth its "
            "minutes. Sure already? Then go on and name the cause.",
            "search",
            "palette",
        ),
        _to_narrow,
    ),
    (
        Move(
            "Name it",
            "Name the cause, where it is, and how sure your readings make you.",
            "Surer than the evidence costs as much as less sure. The place is what a technician would need to know.",
            "conclusion",
            "diagnosis",
        ),
        lambda progress, _: progress.diagnosis is None,
    ),
    (
        Move(
            "Success",
            "Before you touch anything, say what success is.",
            "A metric and a threshold that you could defend: the floor is the honest one.",
            "conclusion",
            "success",
        ),
        lambda progress, _: progress.success is None,
    ),
    (
        Move("Repair", "Apply one fix, and only one.", "Two changes at once prove nothing.", "conclusion", "fixes"),
        lambda progress, _: not progress.fixes,
    ),
    (
        Move(
            "Verify",
            "Measure again, against the floor and against the loss.",
            "A fix holds when the number is back and the job still trains on the same work.",
            "conclusion",
            "verify",
        ),
        lambda progress, _: not progress.verifications,
    ),
    (
        Move(
            "Prevent",
            "Say what would have caught it: one or two measures, and an alert if you like.",
            "An alert that rings while nothing is wrong will be ignored: try it on healthy runs first.",
            "conclusion",
            "prevention",
        ),
        lambda progress, _: progress.prevention is None,
    ),
    (
        Move(
            "Close",
            "Close, and read how the search was scored.",
            "The scorecard says what the best next step would have been at each moment.",
            "conclusion",
            "close",
        ),
        lambda progress, _: True,
    ),
)
