"""Ways to play an attempt, good and bad: what a fair score must tell apart. Pure, given a seed.

Every bot but random, same-answer and box-ticker does the other criteria as well as it can from what it knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.index import Index, index_of
from grader.inference import Belief, best_step, expected_gains, no_evidence
from grader.knowledge import Knowledge
from grader.physics import PAYLOAD_SHARE
from grader.units import format_quantity

SECONDS_A_MOVE = 20.0
SURE = 0.95
RECOVERY = "checkpoints"  # the track
# What the sequence of a track asks for, by the roles of steps: of speed, of recovery.
BY_HEART = ("straggler", "bisect", "link", "library", "change")
AUDIT_BY_HEART = ("checkpoint", "generation", "replay", "library", "change")
AT_THE_FLOOR = {"metric": "fraction-of-floor", "threshold": "0.9"}
REPLAYED = {"metric": "loss-difference", "threshold": "0.001 %"}
PLACES = {"rank": "rank:1", "host": "host:1", "link": "link:host1-leaf0"}


class Player:
    """One attempt being played: draws findings under the hidden cause, keeps the belief, writes events."""

    def __init__(self, knowledge: Knowledge, cause: str, seed: int) -> None:
        self.knowledge, self.cause = knowledge, cause
        self.index: Index = index_of(knowledge)
        self.draw = np.random.default_rng(seed)
        self.events: list[dict[str, Any]] = []
        self.readings: list[tuple[int, int, str]] = []  # event, row, finding
        self.struck: set[str] = set()
        self.symptom = self._finding(self.index.symptom_row)
        self.belief: Belief = no_evidence(self.index).after(self.index.symptom_row, self.symptom)

    def say(self, kind: str, **fields: Any) -> int:
        self.events.append({"at_s": SECONDS_A_MOVE * len(self.events), "kind": kind, **fields})
        return len(self.events) - 1

    def step(self, row: int) -> None:
        known = self.index.steps[row]
        finding = self._finding(row)
        event = self.say("step", step=known.step, **{"with": dict(known.with_)}, finding=finding)
        self.readings.append((event, row, finding))
        self.belief = self.belief.after(row, finding)

    def rule_out_entailed(self) -> None:
        """Say every elimination that the readings in hand entail and that was not said yet, with its readings."""
        for cause in self.belief.entailed():
            if cause not in self.struck:
                self.struck.add(cause)
                self.say("rule_out", causes=[cause], because=self._excluding(cause))

    def transcript(self) -> dict[str, Any]:
        places = {c.id: [PLACES[c.place_kind]] for c in self.knowledge.causes if c.place_kind in PLACES}
        return {
            "scenario": self.knowledge.scenario, "revision": self.knowledge.revision, "causes": [self.cause],
            "places": places, "truths": {"fraction-of-floor": self.fraction}, "symptom": self.symptom,
            "events": [*self.events, {"at_s": SECONDS_A_MOVE * len(self.events), "kind": "close"}],
        }  # fmt: skip

    @property
    def fraction(self) -> float:
        return PAYLOAD_SHARE if self.symptom.endswith("at-floor") else 0.3

    @property
    def recovers(self) -> bool:
        """Whether the incident is about saves and restarts: then a repair is held against a replay, not a floor."""
        return self.knowledge.track == RECOVERY

    @property
    def certainty(self) -> float:
        return float(self.belief.posterior()[:-1].max())

    def role(self, role: str) -> int | None:
        """The first variant offered that plays a role; for bisect the one that repeats the job."""
        rows = [r for r, s in enumerate(self.index.steps[:-1]) if role in s.tells]
        return rows[0] if rows else None

    def _finding(self, row: int) -> str:
        findings = self.index.steps[row].findings
        chances = self.index.p[row, self.index.causes.index(self.cause), : len(findings)]
        return str(self.draw.choice(findings, p=chances / chances.sum()))

    def _excluding(self, cause: str) -> list[int | str]:
        column = self.index.causes.index(cause)
        rows: list[tuple[int, str, int | str]] = [(self.index.symptom_row, self.symptom, "symptom")]
        rows += [(row, finding, event) for event, row, finding in self.readings]
        return [ref for r, f, ref in rows if self.index.excluded[r, self.index.finding_of[r][f], column]]


def quantify(player: Player, *, guess: bool = False) -> None:
    """Every number asked for and the verdict, all right: what a candidate who knows the arithmetic says. `guess`: the
    verdict. Of recovery no verdict on a collective is asked."""
    for known in player.knowledge.estimates:
        value = known.accepted[0].value if known.accepted else player.fraction
        player.say("estimate", quantity=known.quantity, scale=known.scale, value=format_quantity(value, known.kind))
    if player.recovers:
        return
    at_floor = player.fraction >= player.knowledge.at_floor_from if not guess else player.draw.random() < 0.5
    player.say("verdict", collective="at-floor" if at_floor else "below-floor")


def conclude(player: Player) -> None:
    """Diagnosis by the evidence, with its posterior as confidence; a fix that fits it; verification; measures."""
    posterior = player.belief.posterior()[:-1]
    cause = player.index.causes[int(posterior.argmax())]
    kind = next(c.place_kind for c in player.knowledge.causes if c.id == cause)
    place = {"where": PLACES[kind]} if kind in PLACES else {}
    because = [event for event, _, _ in player.readings]
    player.say("diagnose", causes=[cause], **place, confidence=float(posterior.max()), because=because)
    player.say("success", **(REPLAYED if player.recovers else AT_THE_FLOOR))
    repair(player, cause, place)
    measures = [m.id for m in player.knowledge.measures if cause in m.catches]
    player.say("prevent", measures=measures)


def repair(player: Player, cause: str, place: dict[str, str]) -> None:
    fixes = player.knowledge.fixes
    cure = next((f for f in fixes if f.effects.get(cause) == "cures"), fixes[0])
    player.say("fix", fix=cure.id, **(place if cure.takes_place else {}))
    row = player.role("replay" if player.recovers else "bisect") or 0
    known = player.index.steps[row]
    finding = player.index.most_likely(row, "healthy" if cure.effects.get(player.cause) == "cures" else player.cause)
    player.say("verify", step=known.step, **{"with": dict(known.with_)}, against=["floor", "loss"], finding=finding)


def search(player: Player, *, stop_at: float = SURE) -> None:
    """Greedy by bits a minute until sure, striking out what each reading entails."""
    for _ in range(12):
        if player.certainty >= stop_at:
            return
        row, bits = best_step(player.belief)
        if bits < 0.01:
            return
        player.step(row)
        player.rule_out_entailed()


def confirm(player: Player) -> None:
    for role in ("library", "change", *(("generation",) if player.recovers else ())):
        row = player.role(role)
        if row is not None and row not in player.belief.settled:
            player.step(row)
            player.rule_out_entailed()


def oracle(player: Player) -> None:
    """Knows the narrowing sequence and where the answer is, and still proves it."""
    quantify(player)
    player.rule_out_entailed()
    _narrow(player)
    while player.certainty < SURE:
        gains = expected_gains(player.belief)
        column = player.index.causes.index(player.cause)
        shown = [_support(player, row, column) if gains[row] > 0.01 else 0.0 for row in range(len(gains))]
        if max(shown) <= 0:
            break
        player.step(int(np.argmax(shown)))
        player.rule_out_entailed()
    confirm(player)
    conclude(player)


def greedy(player: Player) -> None:
    """Buys the most information a minute, and says what it rules out."""
    quantify(player)
    player.rule_out_entailed()
    search(player)
    confirm(player)
    conclude(player)


def random(player: Player) -> None:
    """Anything, in any order."""
    causes, steps = player.index.causes, len(player.index.variants)
    for _ in range(int(player.draw.integers(3, 9))):
        player.step(int(player.draw.integers(steps)))
        if player.draw.random() < 0.5:
            player.say("rule_out", causes=[str(player.draw.choice(causes))], because=[])
    _guess(player)


def run_everything(player: Player) -> None:
    """No estimate; every step that the palette has, dearest experiment and all; then says what it rules out."""
    for row in range(len(player.index.variants)):
        player.step(row)
    player.rule_out_entailed()
    conclude(player)


def same_answer(player: Player) -> None:
    """Has heard that it is always a link."""
    links = [c.id for c in player.knowledge.causes if c.place_kind == "link"]
    cause = (links or list(player.index.causes))[0]
    player.say("diagnose", causes=[cause], confidence=0.9, because=[])
    repair(player, cause, {})


def box_ticker(player: Player) -> None:
    """The right order by heart, and every judgement at random."""
    quantify(player, guess=True)
    for role in AUDIT_BY_HEART if player.recovers else BY_HEART:
        row = player.role(role)
        if row is not None:
            player.step(row)
            player.say(
                "rule_out", causes=[str(player.draw.choice(player.index.causes))], because=[len(player.events) - 1]
            )
    _guess(player)


def hint_harvester(player: Player) -> None:
    """Asks before each move, and again until told."""
    player.say("hint", level=1)
    quantify(player)
    for _ in range(3):
        player.say("hint", level=2)
        player.say("hint", level=3)
        row, bits = best_step(player.belief)
        if player.certainty >= SURE or bits < 0.01:
            break
        player.step(row)
        player.rule_out_entailed()
    conclude(player)


def _narrow(player: Player) -> None:
    """Straggler first; where ranks are even, bisect. Of recovery: what was saved, and whether it is of one step."""
    row = player.role("generation" if player.recovers else "straggler")
    if row is not None:
        player.step(row)
        player.rule_out_entailed()
    row = player.role("bisect")
    if row is not None and player.certainty < SURE and expected_gains(player.belief)[row] > 0.1:
        player.step(row)
        player.rule_out_entailed()


def _support(player: Player, row: int, column: int) -> float:
    """How far the finding expected under the truth would raise it, a minute."""
    finding = player.index.most_likely(row, player.index.causes[column])
    after = float(player.belief.after(row, finding).posterior()[column])
    return (after - float(player.belief.posterior()[column])) / max(float(player.index.minutes[row]), 0.5)


def _guess(player: Player) -> None:
    draw = player.draw
    player.say("diagnose", causes=[str(draw.choice(player.index.causes))], confidence=float(draw.random()), because=[])
    player.say("fix", fix=str(draw.choice([f.id for f in player.knowledge.fixes])))
    measures = [m.id for m in player.knowledge.measures]
    player.say("prevent", measures=[str(m) for m in draw.choice(measures, size=min(2, len(measures)), replace=False)])


BOTS: dict[str, Callable[[Player], None]] = {
    "oracle": oracle,
    "greedy-information": greedy,
    "random": random,
    "run-everything": run_everything,
    "same-answer": same_answer,
    "box-ticker": box_ticker,
    "hint-harvester": hint_harvester,
}


def play(bot: str, knowledge: Knowledge, cause: str, seed: int) -> dict[str, Any]:
    """One transcript of a bot under a hidden cause, as a dict that `grade` reads. KeyError for an unknown bot."""
    player = Player(knowledge, cause, seed)
    BOTS[bot](player)
    return player.transcript()
