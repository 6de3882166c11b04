"""Claims about the best policy: its order, its minutes, and that asking around settles nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.index import FABRIC_FAMILIES, Index
from grader.inference import LEAST_MINUTES, Belief, best_step, expected_gains, no_evidence
from grader.policy import ENOUGH_CERTAINTY, RAREST_BRANCH, WORTHLESS_BITS, expected_minutes
from scenarios.causes import HEALTHY
from scenarios.proof.base import Line, Subject, verdict

# Where the sequence is split, then bisect. Napkin math needs few steps; for recovery see scenarios.proof.recovery.
NARROWED = ("stragglers", "fabric")
PLAUSIBLE = 0.10
CHANGE_LOG, MOST_CHANGE_LOG_BITS = "change-log", 0.5


def splits_first(subject: Subject) -> Line:
    """The first step of the best policy tells a straggler from the network, where the symptom left both open."""
    claim = "the best policy's first step tells a straggler from the network"
    asked = [(finding, belief) for finding, belief in questions(subject) if late_rank_or_fabric_is_open(belief)]
    return ordered("splits-first", claim, ("straggler",), asked)


def bisects(subject: Subject) -> Line:
    """Where the splitting step finds ranks even and both fabric and job are open, the next step bisects them."""
    claim = "where ranks are even, the best policy's next step bisects fabric and job"
    asked = [
        (f"{symptom}, {finding}", belief)
        for symptom, before in questions(subject)
        if late_rank_or_fabric_is_open(before)
        for finding, belief in [found_even(subject, before)]
        if fabric_or_job_is_open(belief)
    ]
    return ordered("bisects", claim, ("bisect",), asked)


def ordered(id: str, claim: str, roles: tuple[str, ...], asked: list[tuple[str, Belief]]) -> Line:
    """Whether the best next step plays one of the roles after each of the findings named."""
    if not asked:
        return Line(id, claim, "there is nothing left to tell", "no question")
    told = [chosen(after, belief, frozenset(roles)) for after, belief in asked]
    figure = "; ".join(text for text, _ in told)
    return Line(id, claim, figure, verdict(all(right for _, right in told)))


def chosen(after: str, belief: Belief, roles: frozenset[str]) -> tuple[str, bool]:
    """`after collective-below-floor: per-rank-step-times, 0.415 bits a minute (next without that role: …)`."""
    index, gains = belief.index, expected_gains(belief)
    worth = gains / np.maximum(index.minutes[:-1], LEAST_MINUTES)
    row, _ = best_step(belief, gains)
    others = [r for r in np.argsort(-worth) if roles.isdisjoint(index.steps[r].tells)]
    rival = f", best without that role {index.variants[others[0]]} {worth[others[0]]:.3f}" if others else ""
    right = not roles.isdisjoint(index.steps[row].tells) and bool(gains[row] > WORTHLESS_BITS)
    return f"after {after}: {index.variants[row]}, {worth[row]:.3f} bits a minute{rival}", right


def questions(subject: Subject) -> Iterator[tuple[str, Belief]]:
    """What the symptom may have shown, where the order of the search is asked for at all."""
    return after_symptom(subject.index) if subject.scenario.track in NARROWED else iter(())


def after_symptom(index: Index) -> Iterator[tuple[str, Belief]]:
    start, row = no_evidence(index), index.symptom_row
    return ((finding, start.after(row, finding)) for finding in index.finding_of[row])


def found_even(subject: Subject, before: Belief) -> tuple[str, Belief]:
    """The best next step's finding when no rank is at fault, and the belief after it."""
    row, _ = best_step(before)
    even = subject.index.most_likely(row, HEALTHY)
    return even, before.after(row, even)


def late_rank_or_fabric_is_open(belief: Belief) -> bool:
    """Whether somebody late and a slow network could both be it: else there is nothing to split."""
    return is_open(belief, belief.index.late_ranks) and is_open(belief, belief.index.of_families(FABRIC_FAMILIES))


def fabric_or_job_is_open(belief: Belief) -> bool:
    fabric = belief.index.of_families(FABRIC_FAMILIES)
    return is_open(belief, fabric) and is_open(belief, ~fabric)


def is_open(belief: Belief, chosen: np.ndarray) -> bool:
    """Whether some of the causes chosen, (causes,) bool, are not excluded, and together likely enough to ask for."""
    open_ = chosen & ~belief.out
    return bool(belief.posterior()[:-1][open_].sum() >= PLAUSIBLE)


def ends_in_time(subject: Subject) -> Line:
    """Expected priced minutes of the best policy to enough certainty, the slowest cause against the budget."""
    budget = subject.scenario.time_budget_min
    minutes = {cause: policy_minutes(subject.index, cause) for cause in subject.index.causes}
    slowest = max(minutes, key=lambda cause: minutes[cause])
    figure = (
        f"{minutes[slowest]:.0f} of {budget:g} priced minutes ({slowest}; the others from {min(minutes.values()):.0f})"
    )
    claim = f"the best policy reaches {ENOUGH_CERTAINTY:.0%} within the time budget under every cause"
    over = tuple(f"{cause}: {spent:.0f} minutes" for cause, spent in minutes.items() if spent > budget)
    return Line("ends-in-time", claim, figure, verdict(not over), over)


def policy_minutes(index: Index, cause: str) -> float:
    """Over the findings that the symptom likely gives under the cause, as often as it gives each."""
    row, column = index.symptom_row, index.causes.index(cause)
    chances = {finding: float(index.p[row, column, at]) for finding, at in index.finding_of[row].items()}
    likely = {finding: p for finding, p in chances.items() if p >= RAREST_BRANCH}
    spent = sum(p * expected_minutes(index, finding, cause, ENOUGH_CERTAINTY) for finding, p in likely.items())
    return spent / sum(likely.values())


def change_log_suggests(subject: Subject) -> Line:
    """Expected bits of asking around, before and after each symptom: true but harmless changes must hide the cause."""
    claim = f"{CHANGE_LOG} tells at most {MOST_CHANGE_LOG_BITS} bit of the cause"
    index = subject.index
    if CHANGE_LOG not in index.row_of:
        return Line("change-log", claim, "the scenario does not offer it", "no question")
    row = index.row_of[CHANGE_LOG]
    beliefs = [("nothing known", no_evidence(index)), *after_symptom(index)]
    bits = {after: float(expected_gains(belief)[row]) for after, belief in beliefs}
    most = max(bits, key=lambda after: bits[after])
    return Line("change-log", claim, f"{bits[most]:.2f} bits", verdict(bits[most] <= MOST_CHANGE_LOG_BITS))
