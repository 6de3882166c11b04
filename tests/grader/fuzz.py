"""Mutated transcripts without end: `python -m tests.grader.fuzz N SEED` grades N of them and checks each.

A transcript is scored, or refused by TranscriptError; a score lies between nothing and one and can be written as JSON;
and an event that says nothing about the search moves the total by no more than is stated for it in NEUTRAL.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from grader import bots
from grader.knowledge import Knowledge
from grader.rubric import Rubric
from grader.transcript import KINDS, TranscriptError
from scenarios import rubrics
from tests.grader import large, orderings, pinned, played, recovery, simulated
from tests.grader.scoring import STANDARD, grade

Json = dict[str, Any]
FLOAT_SLACK = 1e-9
MOST_MUTATIONS = 6
JUNK: list[Any] = [None, True, -1, 0, 1, 3.5, 10**30, 1e308, float("nan"), float("inf"), "", "x" * 300, "0 s", "5.6 s",
                   "1e-30 s", "-5 s", "floor", "healthy", "symptom", "other", "inconclusive", [], ["x"], [[]], [None],
                   {}, {"ref": 0}, {"size": "job"}, [{"ref": 2, "text": "so"}], [0, 1, 2, 99], "4"]  # fmt: skip


@dataclass(frozen=True)
class World:
    """What a transcript is graded against, and what may be said in one."""

    knowledge: Knowledge
    rubric: Rubric
    seeds: tuple[Json, ...]

    def ids(self) -> list[str]:
        known = self.knowledge
        parts = (known.causes, known.fixes, known.measures, known.metrics)
        findings = {finding for step in known.steps for finding in step.findings}
        return [*(one.id for part in parts for one in part), *(step.step for step in known.steps), *sorted(findings)]


@dataclass(frozen=True)
class Neutral:
    """An event that is no part of the search, and how far it may move the total."""

    event: Json
    most: float


NEUTRAL = (
    Neutral({"kind": "note", "text": "hm"}, 0.0),
    Neutral({"kind": "ask", "fact": "topology"}, 0.0),
    Neutral({"kind": "hypothesis", "causes": ["degraded-link"]}, 0.0),
    Neutral({"kind": "message", "text": "five minutes left"}, 0.0),
    Neutral({"kind": "pause"}, 0.0),
    Neutral({"kind": "resume"}, 0.0),
    Neutral({"kind": "handover", "to": "ivan"}, 0.0),
    Neutral({"kind": "restore", "causes": ["never-struck"]}, 0.0),
    Neutral({"kind": "of-a-newer-version", "causes": 7}, 0.0),
    *(Neutral({"kind": "hint", "level": level}, cost) for level, cost in STANDARD.hint_costs.items()),
)


@cache
def worlds() -> tuple[World, ...]:
    ways = [played.transcript(way()) for way in orderings.WAYS.values()]
    sound = [played.transcript(played.SOUND), *ways]
    first = simulated.knowledge()
    return (
        World(first, STANDARD, (*sound, *_played(first))),
        World(pinned.knowledge(), STANDARD, (*sound, *_played(pinned.knowledge()))),
        World(recovery.knowledge(), rubrics.for_track("checkpoints"), (recovery.transcript(recovery.SOUND),)),
        World(large.knowledge(6, 12), STANDARD, (large.transcript(16),)),
    )


def _played(knowledge: Knowledge) -> list[Json]:
    return [bots.play(bot, knowledge, cause.id, 1) for bot in bots.BOTS for cause in knowledge.causes]


def mutate(base: Json, world: World, draw: random.Random) -> Json:
    """A copy with up to six changes, each of a kind drawn anew."""
    made = copy.deepcopy(base)
    for _ in range(draw.randint(1, MOST_MUTATIONS)):
        draw.choice(MUTATIONS)(made, world, draw)
        if not isinstance(made["events"], list):
            break  # junk in place of the events: there is nothing more to change
    return made


def drop(made: Json, world: World, draw: random.Random) -> None:
    if made["events"]:
        made["events"].pop(draw.randrange(len(made["events"])))


def double(made: Json, world: World, draw: random.Random) -> None:
    if made["events"]:
        made["events"].insert(draw.randint(0, len(made["events"])), copy.deepcopy(draw.choice(made["events"])))


def shuffle(made: Json, world: World, draw: random.Random) -> None:
    draw.shuffle(made["events"])


def move(made: Json, world: World, draw: random.Random) -> None:
    if made["events"]:
        event = made["events"].pop(draw.randrange(len(made["events"])))
        made["events"].insert(draw.randint(0, len(made["events"])), event)


def cross(made: Json, world: World, draw: random.Random) -> None:
    """Events of another transcript come after these."""
    made["events"] += copy.deepcopy(draw.choice(world.seeds)["events"])[: draw.randint(0, 12)]


def another_id(made: Json, world: World, draw: random.Random) -> None:
    """A field of an event names something else of its kind."""
    known = world.knowledge
    ids = {
        "causes": [cause.id for cause in known.causes], "fix": [fix.id for fix in known.fixes],
        "measures": [measure.id for measure in known.measures], "families": [cause.family for cause in known.causes],
    }  # fmt: skip
    event = draw.choice(made["events"]) if made["events"] else {}
    for field in [field for field in event if field in ids]:
        new = draw.choice(ids[field])
        event[field] = [new, *event[field][1:]] if isinstance(event[field], list) else new


def another_finding(made: Json, world: World, draw: random.Random) -> None:
    """A step shows something else that it can show, or what it most likely would."""
    steps = [event for event in made["events"] if event.get("kind") in ("step", "verify") and "finding" in event]
    if steps:
        event = draw.choice(steps)
        of = [known for known in world.knowledge.steps if known.step == event.get("step")]
        event["finding"] = draw.choice([None, *(finding for known in of[:1] for finding in known.findings)])


def any_id(made: Json, world: World, draw: random.Random) -> None:
    """A field of an event, or a list in it, names anything that the incident knows."""
    event = draw.choice(made["events"]) if made["events"] else {}
    fields = [name for name in event if name not in ("at_s", "kind")]
    if fields:
        name = draw.choice(fields)
        event[name] = [draw.choice(world.ids())] if isinstance(event[name], list) else draw.choice(world.ids())


def junk(made: Json, world: World, draw: random.Random) -> None:
    event = draw.choice(made["events"]) if made["events"] else made
    event[draw.choice([*event])] = copy.deepcopy(draw.choice(JUNK))


def lose_field(made: Json, world: World, draw: random.Random) -> None:
    event = draw.choice(made["events"]) if made["events"] else {}
    if event:
        event.pop(draw.choice([*event]))


def new_field(made: Json, world: World, draw: random.Random) -> None:
    if made["events"]:
        draw.choice(made["events"])[draw.choice(["finding", "with", "where", "because", "colour"])] = draw.choice(JUNK)


def other_kind(made: Json, world: World, draw: random.Random) -> None:
    if made["events"]:
        draw.choice(made["events"])["kind"] = draw.choice([*KINDS, "of-a-newer-version", 7])


def a_curveball(made: Json, world: World, draw: random.Random) -> None:
    cause = draw.choice(world.knowledge.causes).id
    made["events"].insert(draw.randint(0, len(made["events"])), {"at_s": 1.0, "kind": "curveball", "cause": cause})


def head(made: Json, world: World, draw: random.Random) -> None:
    name = draw.choice(["causes", "places", "truths", "symptom", "revision", "conditions", "calibration", "events"])
    value = {"truths": {"fraction-of-floor": draw.choice(JUNK)}, "places": {draw.choice(world.ids()): ["link:1"]},
             "causes": [draw.choice(world.ids())]}.get(name)  # fmt: skip
    made[name] = copy.deepcopy(draw.choice([value, draw.choice(JUNK)]) if name != "events" else draw.choice([[], {}]))


SANE = [drop, double, shuffle, move, cross, another_id, another_finding, a_curveball]
INSANE = [any_id, junk, lose_field, new_field, other_kind, head]
# Most of what is mutated should still be scored: a refusal tries nothing but the refusal.
MUTATIONS: list[Callable[[Json, World, random.Random], None]] = [*SANE * 6, *INSANE]


def with_one_more(made: Json, event: Json, place: int) -> Json:
    """The transcript with an event put in at `place`; what cited later events by index still cites the same ones."""
    more = copy.deepcopy(made)
    for one in more["events"]:
        if isinstance(one, dict) and isinstance(one.get("because"), list):
            one["because"] = [_moved(ref, place) for ref in one["because"]]
    more["events"].insert(place, {"at_s": 0.0, **event})
    return more


def _moved(ref: Any, place: int) -> Any:
    if isinstance(ref, dict):
        return {**ref, "ref": _moved(ref.get("ref"), place)}
    if isinstance(ref, bool):
        return ref
    if isinstance(ref, int):
        return ref + (ref >= place)
    return str(int(ref) + (int(ref) >= place)) if isinstance(ref, str) and ref.isdecimal() and len(ref) < 9 else ref


class Broken(AssertionError):
    """A case that does not hold; the message holds the whole transcript."""


def check(made: Json, world: World, draw: random.Random) -> str:
    """`refused` or `scored`. Raises Broken."""
    try:
        card = grade(made, world.knowledge, world.rubric)
    except TranscriptError as refused:
        if not str(refused):
            raise Broken("a refusal without a word") from refused
        return "refused"
    if not 0 <= card.total <= 1 or any(not 0 <= mark.score <= 1 for mark in card.criteria.values()):
        raise Broken(f"out of bounds: {card.total}")
    json.dumps(card.model_dump(mode="json"), allow_nan=False)
    _check_neutral(made, world, draw, card.total)
    return "scored"


def _check_neutral(made: Json, world: World, draw: random.Random, total: float) -> None:
    neutral, place = draw.choice(NEUTRAL), draw.randint(0, len(made["events"]))
    more = grade(with_one_more(made, neutral.event, place), world.knowledge, world.rubric).total
    if abs(more - total) > neutral.most + FLOAT_SLACK:
        raise Broken(f"{neutral.event} at {place} moved {total} to {more}; at most {neutral.most}")


def cases(count: int, seed: int) -> Iterator[tuple[int, str]]:
    """(number, outcome) of each case. Raises Broken naming the case: its number and seed give it again."""
    for number in range(count):
        draw = random.Random(f"{seed}-{number}")
        world = draw.choice(worlds())
        made = mutate(draw.choice(world.seeds), world, draw)
        try:
            yield number, check(made, world, draw)
        except Exception as wrong:
            raise Broken(f"case {number} of seed {seed}: {type(wrong).__name__}: {wrong}\n{made!r}") from wrong


def main(arguments: list[str]) -> int:
    try:
        count, seed = (int(argument) for argument in arguments)
    except ValueError:
        print("python -m tests.grader.fuzz N SEED: two whole numbers")
        return 2
    outcomes = Counter(outcome for _, outcome in cases(count, seed))
    print(f"{count} transcripts of seed {seed}: {outcomes['scored']} scored, {outcomes['refused']} refused by name")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
