"""Claims about incidents of saving and resuming, in the place of those about stragglers and the fabric.

Whether recovery is audited before and apart from performance, whether it can be told of which generation everything is,
and whether a replay settles what came back: what the rubric of that track asks of a candidate.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.index import Index
from grader.inference import Belief, best_step, expected_gains
from grader.knowledge import INCONCLUSIVE
from grader.policy import ENOUGH_CERTAINTY
from scenarios.causes import HEALTHY
from scenarios.proof.base import Line, Subject, verdict
from scenarios.proof.search import CHANGE_LOG, after_symptom, ordered
from scenarios.symptom import kind_of

TRACK = "checkpoints"
AUDIT, GENERATION, REPLAY, STORAGE = "checkpoint", "generation", "replay", "storage"
MOST_BITS_OF_SPEED = 0.1
CLEARLY = 0.90  # of a cause's runs, as of healthy ones


def audits_first(subject: Subject) -> Line:
    """The best policy's first step reads what was saved or what came back, after each symptom that left a choice."""
    claim = "the best policy's first step reads what was saved or what came back"
    return ordered("audits-first", claim, (AUDIT,), list(left_open(subject.index)))


def audits_on(subject: Subject) -> Line:
    """Where the first step finds nothing wrong and causes are left, the next one reads recovery or the storage too."""
    claim = "where that finds nothing wrong, its next step reads recovery or the storage too, and not speed"
    asked = [
        (f"{symptom}, {finding}", after)
        for symptom, before in left_open(subject.index)
        for finding, after in [found_sound(subject.index, before)]
        if is_undecided(after)
    ]
    return ordered("audits-on", claim, (AUDIT, STORAGE), asked)


def left_open(index: Index) -> Iterator[tuple[str, Belief]]:
    """After each finding that the symptom may give under some cause: the belief, where more than one is left."""
    row = index.symptom_row
    for finding, belief in after_symptom(index):
        may_be = index.p[row, :-1, index.finding_of[row][finding]].max() >= 1 - CLEARLY
        if may_be and is_undecided(belief):
            yield finding, belief


def is_undecided(belief: Belief) -> bool:
    """Whether two causes or more are left and none of them is certain enough: else there is nothing to ask."""
    return int((~belief.out).sum()) > 1 and float(belief.posterior()[:-1].max()) < ENOUGH_CERTAINTY


def found_sound(index: Index, before: Belief) -> tuple[str, Belief]:
    """The best step's finding of a sound checkpoint, and the belief after it."""
    row, _ = best_step(before)
    sound = index.most_likely(row, HEALTHY)
    return sound, before.after(row, sound)


def speed_tells_nothing(subject: Subject) -> Line:
    """Expected bits of each reading of the job's speed, its network or its settings: recovery is apart from them."""
    claim = f"no reading of performance tells more than {MOST_BITS_OF_SPEED} bit of the cause"
    index = subject.index
    rows = [row for row, step in enumerate(index.steps[:-1]) if is_of_speed(step.tells) and step.step != CHANGE_LOG]
    if not rows:
        return Line("speed-apart", claim, "the scenario offers none", "no question")
    bits = {row: max(float(expected_gains(belief)[row]) for _, belief in after_symptom(index)) for row in rows}
    most = max(rows, key=lambda row: bits[row])
    figure = f"{bits[most]:.2f} bits at most ({index.variants[most]}), over {len(rows)} readings"
    wrong = tuple(f"{index.variants[row]}: {bits[row]:.2f} bits" for row in rows if bits[row] > MOST_BITS_OF_SPEED)
    return Line("speed-apart", claim, figure, verdict(not wrong), wrong)


def is_of_speed(roles: tuple[str, ...]) -> bool:
    return not {AUDIT, STORAGE} & set(roles)


def generation_is_told(subject: Subject) -> Line:
    """Under every cause the step that tells generations apart gives a settled finding."""
    claim = f"whether all is of one generation is settled in {CLEARLY:.0%} of the runs or more under every cause"
    index, row = subject.index, row_of(subject.index, GENERATION)
    if row is None:
        return Line("one-generation", claim, "no step offered tells generations apart", "fails")
    at = index.finding_of[row].get(INCONCLUSIVE)
    settled = {cause: 1 - (float(index.p[row, n, at]) if at is not None else 0.0) for n, cause in each(index)}
    least = min(settled, key=lambda cause: settled[cause])
    figure = f"{settled[least]:.2f} at least ({least}), by {index.variants[row]}"
    wrong = tuple(f"{cause}: {share:.2f}" for cause, share in settled.items() if share < CLEARLY)
    return Line("one-generation", claim, figure, verdict(not wrong), wrong)


def replay_tells(subject: Subject) -> Line:
    """A replay repeats the log in healthy runs; a cause that changes a restart shows in it or in another reading.

    An older generation that comes back whole replays as it was logged: which one came back is read beside it. Where the
    brief is not about a restart, only healthy runs are judged: what is repaired there is the saver.
    """
    claim = (
        f"a replay repeats the log in {CLEARLY:.0%} of healthy runs or more, "
        "and every cause that changes a restart shows in it or in another reading of the restart"
    )
    index, row = subject.index, row_of(subject.index, REPLAY)
    if row is None:
        return Line("replay-tells", claim, "no step offered replays", "fails")
    sound = index.most_likely(row, HEALTHY)
    healthy = index.steps[row].cells[HEALTHY].p[sound]
    about_a_restart = kind_of(subject.scenario).experiment == index.steps[row].experiment
    shown = {cause: shown_by(index, row, n) for n, cause in each(index)} if about_a_restart else {}
    wrong = tuple(f"{cause}: a restart reads as sound" for cause, by in shown.items() if by is None)
    figure = f"{sound} in {healthy:.2f} of healthy runs; {shown_words(index.variants[row], shown)}"
    return Line("replay-tells", claim, figure, verdict(healthy >= CLEARLY and not wrong), wrong)


def shown_by(index: Index, replay: int, cause: int) -> str | None:
    """The reading of the restart that is clearly another one under a cause than of a sound one: the replay if it is."""
    of_it = [r for r, step in enumerate(index.steps[:-1]) if step.experiment == index.steps[replay].experiment]
    for row in sorted(of_it, key=lambda one: one != replay):
        sound = index.finding_of[row][index.most_likely(row, HEALTHY)]
        if index.p[row, cause, sound] <= 1 - CLEARLY:
            return index.variants[row]
    return None


def shown_words(replay: str, shown: dict[str, str | None]) -> str:
    if not shown:
        return "the brief is not about a restart"
    elsewhere = [f", {cause} in {by}" for cause, by in shown.items() if by not in (replay, None)]
    return f"{sum(by == replay for by in shown.values())} of {len(shown)} causes show in it{''.join(elsewhere)}"


def row_of(index: Index, role: str) -> int | None:
    """The first variant offered that plays a role."""
    return next((row for row, step in enumerate(index.steps[:-1]) if role in step.tells), None)


def each(index: Index) -> Iterator[tuple[int, str]]:
    return enumerate(index.causes)
