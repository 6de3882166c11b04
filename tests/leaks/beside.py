"""Everything of an attempt but its readings, as numbers: what a patient candidate could collect and learn from."""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any
from uuid import UUID

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from gpu_worker.models import Evidence, Run
from practice.models import Attempt
from scenarios import evidence as service
from scenarios import instances
from tests.leaks.scenes import KEY, STEPS

TOKEN = re.compile(r'name="token" value="([^"]+)"')
# What holds readings: charts, tables, and the list of a card. A number in prose (the brief's symptom) is one too.
READING_TAGS = {"script", "table", "figure"}
NUMBER = re.compile(r"[-+−]?\d[\d.,]*\s*(?:%|[a-zA-Zµ]+(?:/[a-zA-Z]+)?)?")


class Skeleton(HTMLParser):
    """The page without its readings: tags, attributes and text outside of what holds them."""

    def __init__(self) -> None:
        super().__init__()
        self.skipping, self.depth = "", 0
        self.tags = self.text_bytes = self.attribute_bytes = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.skipping:
            self.depth += tag == self.skipping
        elif tag in READING_TAGS or (tag == "dl" and "readings" in (dict(attrs).get("class") or "")):
            self.skipping, self.depth = tag, 1
        else:
            self.tags += 1
            self.attribute_bytes += sum(len(name) + len(value or "") for name, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == self.skipping
        if self.skipping and not self.depth:
            self.skipping = ""

    def handle_data(self, data: str) -> None:
        if not self.skipping:
            self.text_bytes += len(NUMBER.sub("#", data.strip()))


def number_of(value: Any) -> float:
    """A number for anything: itself, or one that its text determines."""
    if isinstance(value, bool | int | float):
        return float(value)
    return int(hashlib.sha256(str(value).encode()).hexdigest()[:6], 16) / 0xFFFFFF


def sizes(answer) -> dict[str, float]:
    """Of a page or fragment: status, headers, tags and text outside the readings."""
    skeleton = Skeleton()
    skeleton.feed(answer.content.decode())
    headers = {f"header {name}": number_of(value) for name, value in answer.items() if name not in IGNORED_HEADERS}
    return {
        "status": float(answer.status_code),
        "tags": float(skeleton.tags),
        "text": float(skeleton.text_bytes),
        "attributes": float(skeleton.attribute_bytes),
        **headers,
    }


# The length of a whole answer holds the digits of its readings.
IGNORED_HEADERS = {"Content-Length"}


class Collector:
    """Plays one attempt in an order that the seed alone decides, and notes all that is no reading."""

    def __init__(self, seed: int, at_most: int, steps: Sequence[tuple[str, dict]] = STEPS) -> None:
        self.rng = random.Random(seed)
        self.steps = self.rng.sample(steps, at_most)
        self.client = Client()
        self.found: dict[str, float] = {}
        self.opened = time.perf_counter()

    def note(self, where: str, named: dict[str, float]) -> None:
        self.found.update({f"{where} {name}": value for name, value in named.items()})

    def timed(self, where: str, method: str, address: str, data: dict | None = None, **headers: str):
        began = time.perf_counter()
        answer = getattr(self.client, method)(address, data or {}, **headers)
        self.note(where, {"seconds": time.perf_counter() - began, **sizes(answer)})
        return answer

    def play(self) -> tuple[dict[str, float], str]:
        """The features of the attempt, and its hidden cause."""
        home = self.timed("home", "get", reverse("practice:home"))
        form = {"token": TOKEN.search(home.content.decode())[1]}
        opened = self.timed("open", "post", reverse("practice:start", args=[KEY]), form)
        attempt = Attempt.objects.get(pk=UUID(opened["Location"].split("/")[2]))
        self.note("attempt", ids(attempt.pk))
        self.timed("page", "get", reverse("practice:attempt", args=[attempt.pk]))
        for step, with_ in self.steps:
            self.choose(attempt, step, with_)
        self.timed("conclusion", "get", reverse("practice:conclusion", args=[attempt.pk]))
        self.note("queue", {"runs": float(Run.objects.filter(owner=attempt.owner).count())})
        return self.found, instances.get(attempt.draw.table, attempt.draw.instance).cause

    def choose(self, attempt: Attempt, step: str, with_: dict[str, str]) -> None:
        where = f"{step} {sorted(with_.items())}"
        act = reverse("practice:act", args=[attempt.pk, "step"])
        form = {"token": f"form-{self.rng.getrandbits(60)}", "step": step}
        form |= {f"with-{name}": value for name, value in with_.items()}
        self.timed(f"{where} chosen", "post", act, form, HTTP_HX_REQUEST="true")
        row = Evidence.objects.of(attempt.owner).filter(step=step).order_by("-requested_at").first()
        told = service.progress(row, now=timezone.now())
        self.note(where, {name: number_of(value) for name, value in told.items()})
        self.note(where, {"wait": (row.ready_at - row.requested_at).total_seconds(), "slot": float(row.slot)})
        its = [attempt.pk, row.pk]
        self.after_choice(where, reverse("practice:evidence", args=its))
        row.refresh_from_db()
        self.timed(f"{where} card", "get", reverse("practice:evidence", args=its), HTTP_HX_REQUEST="true")
        got = self.client.get(reverse("practice:evidence_json", args=its)).json()
        self.note(where, {"order": float(attempt.events.count()), **ids(row.pk), **beside(got)})

    def after_choice(self, where: str, address: str) -> None:
        """The bank answers at once; there is nothing to wait for."""


def ids(value: UUID) -> dict[str, float]:
    return {f"id {place}": float(digit) for place, digit in enumerate(value.bytes[:8])}


def beside(got: dict[str, Any]) -> dict[str, float]:
    """Of a reading's JSON: every key, unit and label, and the provenance; no value, series or chart."""
    labels = [(r.get("name"), r.get("label"), r.get("unit")) for r in got["readings"]]
    heads = [(name, s["columns"], s["units"], s.get("caption")) for name, s in got["series"].items()]
    told = {f"provenance {name}": number_of(value) for name, value in got["provenance"].items()}
    return {
        "labels": number_of(labels),
        "heads": number_of(heads),
        "keys": number_of(sorted(got)),
        "live": float(got["live"]),
        "note": number_of([got["title"], got["on_nccl"]]),
        **told,
    }
