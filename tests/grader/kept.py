"""Whole scorecards of many attempts, as they were: `python -m tests.grader.kept` writes them anew.

Bands and single sentences are held elsewhere; here is every number and every word that an attempt is answered with, so
that a change to the grader shows as a change to scorecards, to be read in the difference of one file.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from grader import bots
from grader.knowledge import Knowledge, MetricKnowledge
from grader.rubric import Rubric
from grader.transcript import TranscriptError
from scenarios import rubrics
from tests.grader import fuzz, orderings, played, recovery, simulated, told
from tests.grader.histories import histories, known
from tests.grader.scoring import STANDARD, grade

FILE = Path(__file__).parent / "kept_scorecards.json"
DIGITS = 4
SEED = "kept"
MUTATED = {"simulated": 24, "recovery": 8}
# Of these every field is kept; of the others the marks, the reasons and what was claimed.
WHOLE = (
    "simulated/sound",
    "simulated/of-a-newer-version",
    "simulated/right-by-luck",
    "simulated/greedy-information/no-overlap",
    "alerted/two-alerts-and-a-measure",
    "recovery/sound",
)
SHORT = ("total", "before_hints", "cap", "label_reasons", "minutes_spent", "minutes_best")


@cache
def worlds() -> dict[str, tuple[Knowledge, Rubric]]:
    """What attempts are graded against, and by what: the two incidents of the tests, and what is made of the first."""
    first, recovering = simulated.knowledge(), rubrics.for_track("checkpoints")
    idle = MetricKnowledge(id="fan-speed", title="Fan speed", unit="1/s", worse="higher")
    alerted = known(first, *histories(noisy=1))
    of_no_role = tuple(step for step in first.steps if not {"library", "change"} & set(step.tells))
    return {
        "simulated": (first, STANDARD),
        "alerted": (first.model_copy(update={"metrics": (*alerted.metrics, idle)}), STANDARD),
        "short": (first.model_copy(update={"time_budget_min": 20.0, "stop_weight": 1.5}), STANDARD),
        "bare": (first.model_copy(update={"steps": of_no_role, "fixes": (), "measures": ()}), STANDARD),
        "elsewhere": (first, recovering),
        "recovery": (recovery.knowledge(), recovering),
    }


TOLD = {
    "simulated": told.SIMULATED,
    "alerted": told.ALERTED,
    "short": told.SHORT_OF_TIME,
    "bare": told.BARE,
    "elsewhere": told.ELSEWHERE,
    "recovery": told.RECOVERY,
}


@cache
def attempts() -> dict[str, Callable[[], dict[str, Any]]]:
    """By name: how each transcript is made, anew at each call, so that a player's slip shows too."""
    found: dict[str, Callable[[], dict[str, Any]]] = {
        "simulated/sound": lambda: played.transcript(played.SOUND),
        "recovery/sound": lambda: recovery.transcript(recovery.SOUND),
    }
    for world, written in TOLD.items():
        found |= {f"{world}/{name}": lambda made=made: made for name, made in written.items()}
    for name, way in orderings.WAYS.items():
        found[f"simulated/{name}"] = lambda way=way: played.transcript(way())
    for number, bot in enumerate(bots.BOTS):
        for cause in [*simulated.CAUSES][number % 3 :: 3]:
            found[f"simulated/{bot}/{cause}"] = lambda b=bot, c=cause: bots.play(b, simulated.knowledge(), c, 1)
    for world, count in MUTATED.items():
        for number in range(count):
            found[f"{world}/mutated-{number}"] = lambda w=world, n=number: mutated(w, n)
    return found


def mutated(world: str, number: int) -> dict[str, Any]:
    """One of the fuzzer's changes to a sound attempt."""
    knowledge, rubric = worlds()[world]
    ways = [played.transcript(way()) for way in orderings.WAYS.values()]
    seeds = ways if world == "simulated" else [recovery.transcript(recovery.SOUND)]
    draw = random.Random(f"{SEED}-{world}-{number}")
    of = fuzz.World(knowledge, rubric, tuple(seeds))
    return fuzz.mutate(draw.choice(seeds), of, draw)


def answered(name: str) -> Any:
    """The scorecard of an attempt, or the words by which it is refused; of a bot also what it played."""
    world, way = name.split("/")[:2]
    knowledge, rubric = worlds()[world]
    made = attempts()[name]()
    try:
        card = grade(made, knowledge, rubric)
    except TranscriptError as refused:
        return {"refused": str(refused), "event": refused.event, "field": refused.field}
    body = json.loads(json.dumps(card.model_dump(mode="json")))
    told = body if name in WHOLE else short(body)
    return rounded({**told, "played": made} if way in bots.BOTS else told)


def short(body: dict[str, Any]) -> dict[str, Any]:
    """What is said of an attempt, in fewer words."""
    return {
        **{name: body[name] for name in SHORT},
        "criteria": {
            name: [mark["score"], mark["events"], mark["why"]] if mark["applicable"] else mark["why"]
            for name, mark in body["criteria"].items()
        },
        "steps": [[s["step"], s["finding"], s["gain_bits"], s["best_step"], s["counted"]] for s in body["steps"]],
        "ruled_out": [
            " ".join([str(c["event"]), c["cause"], c["status"], *c["excluded_by"]]) for c in body["ruled_out"]
        ],
        "verifications": [[v["event"], v["finding"], v["held"]] for v in body["verifications"]],
        "alerts": [[*a.values()] for a in body["alerts"]],
        "predictions": [[p["event"], p["score"]] for p in body["predictions"]],
        "dimensions": {name: [one["score"], one["word"]] for name, one in body["dimensions"].items()},
    }


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def differences(found: Any, kept: Any, path: str = "") -> Iterator[str]:
    """Where two answers differ; numbers by more than their rounding."""
    if isinstance(found, dict) and isinstance(kept, dict):
        for name in sorted({*found, *kept}):
            yield from differences(found.get(name), kept.get(name), f"{path}.{name}")
    elif isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        for number, (one, other) in enumerate(zip(found, kept, strict=True)):
            yield from differences(one, other, f"{path}.{number}")
    elif isinstance(found, float) and isinstance(kept, float):
        if abs(found - kept) > 2 * 10**-DIGITS:
            yield f"{path}: {found}, was {kept}"
    elif found != kept:
        yield f"{path}: {found!r}, was {kept!r}"


@cache
def kept() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text()))


def main() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(answered(name), ensure_ascii=False)}" for name in attempts()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
