"""A step answered from the bank while a hundred candidates practise, each with a second of thought between requests."""

from __future__ import annotations

import asyncio
import random
import re
import time
from dataclasses import dataclass, field

from bench.figure import Figure, quantile
from bench.http import Client

CANDIDATES = 100
STEPS_EACH = 8
ARRIVING_S = 5.0
THOUGHT_S = 1.0
LONGEST_S = 120.0
# The flagship: figures stay comparable whatever else is offered, and it has every step below.
START = re.compile(r'action="(/incidents/slow-all-reduce/start)"')
TOKEN = re.compile(r'name="token" value="([^"]+)"')
CARD = re.compile(r'id="evidence-([0-9a-f-]{36})"')
STEPS = (
    {"step": "per-rank-step-times"},
    {"step": "collective-arrivals"},
    {"step": "host-telemetry"},
    {"step": "input-timings"},
    {"step": "link-rates", "with-scope": "all"},
    {"step": "overlap-trace"},
    {"step": "microbenchmark", "with-size": "job", "with-placement": "as-job"},
    {"step": "placement-map"},
)


@dataclass
class Seen:
    """Seconds of each answer, and what went wrong."""

    answers: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def timed(seen: Seen, kept: list[float], asking):
    began = time.perf_counter()
    answer = await asking
    kept.append(time.perf_counter() - began)
    if answer.status >= 400:
        seen.errors.append(f"{answer.status}")
    return answer


async def practise(port: int, number: int, seen: Seen) -> None:
    """Opens an attempt, then chooses steps and reads their cards."""
    rng, client = random.Random(number), Client(port)
    try:
        await asyncio.sleep(rng.random() * ARRIVING_S)
        home = await timed(seen, seen.pages, client.get("/"))
        start, token = START.search(home.text), TOKEN.search(home.text)
        if not (start and token):
            seen.errors.append("no incident can be started")
            return
        await think(rng)
        opened = await timed(seen, seen.pages, client.post(start[1], {"token": token[1]}))
        attempt = opened.headers["location"]
        await think(rng)
        await timed(seen, seen.pages, client.get(attempt))
        for place, form in enumerate(rng.sample(STEPS, STEPS_EACH)):
            await think(rng)
            await choose(client, attempt, {**form, "token": f"bench-{number}-{place}"}, seen)
    except Exception as error:
        seen.errors.append(repr(error))
    finally:
        client.close()


async def think(rng: random.Random) -> None:
    await asyncio.sleep(THOUGHT_S * (0.5 + rng.random()))


async def choose(client: Client, attempt: str, form: dict[str, str], seen: Seen) -> None:
    """The answer counts from the choice to the reading: as in the browser, the card asks again until it holds it."""
    began = time.perf_counter()
    chosen = await client.post(f"{attempt}do/step", form, HX_Request="true")
    card, text = CARD.search(chosen.text), chosen.text
    asks = 0
    while card and " pending" in text and asks < 20:
        answer = await client.get(f"{attempt}evidence/{card[1]}/", HX_Request="true")
        text, asks = answer.text, asks + 1
    seen.answers.append(time.perf_counter() - began)
    if chosen.status >= 400 or not card or " pending" in text:
        seen.errors.append(f"{chosen.status} for {form['step']}")


async def everyone(port: int) -> Seen:
    seen = Seen()
    async with asyncio.timeout(LONGEST_S):
        await asyncio.gather(*(practise(port, number, seen) for number in range(CANDIDATES)))
    return seen


def measure(port: int) -> list[Figure]:
    seen = asyncio.run(everyone(port))
    group = f"{CANDIDATES} candidates"
    if not seen.answers:
        return [Figure(group, "a step answered from the bank, p95", None, "ms", 100.0, note="; ".join(seen.errors[:3]))]
    return [
        Figure(group, "a step answered from the bank, p50", 1000 * quantile(seen.answers, 0.5), "ms"),
        Figure(group, "a step answered from the bank, p95", 1000 * quantile(seen.answers, 0.95), "ms", mark=100.0),
        Figure(group, "pages, p95", 1000 * quantile(seen.pages, 0.95), "ms"),
        Figure(group, "errors", float(len(seen.errors)), "", mark=0.0, note="; ".join(sorted(set(seen.errors))[:3])),
    ]
