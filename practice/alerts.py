"""Alerts that a candidate writes: read from a form, and said in a sentence. Pure; raises Slip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gpu_worker.metrics import METRICS
from gpu_worker.readable import say
from grader.alerts import Alert
from grader.transcript import AlertSaid
from grader.units import LARGEST, SMALLEST, Kind, QuantityError, parse_quantity
from practice.errors import Slip
from scenarios.errors import did_you_mean

LONGEST_WINDOW = 50
MOST = 20  # as many as a transcript holds; a test keeps the two together
KINDS: Mapping[str, Kind] = {"s": "time", "share": "ratio", "ratio": "ratio", "B": "data"}
USUAL_WINDOW = 2
UNREADABLE = "That alert cannot be read. Load the page again."
NO_THRESHOLD = "Write a threshold first, with its unit."


class Post(Protocol):
    """What `request.POST` and `request.GET` give."""

    def get(self, name: str, default: str, /) -> Any: ...

    def getlist(self, name: str, /) -> Any: ...


@dataclass(frozen=True)
class Written:
    """One alert: beyond the threshold, in the metric's own unit, in `hits` of the last `window` points."""

    metric: str
    threshold: float
    window: int
    hits: int

    @property
    def key(self) -> str:
        """As a form carries it; `from_key` reads it."""
        return f"{self.metric}:{self.threshold!r}:{self.window}:{self.hits}"

    @property
    def direction(self) -> str:
        return "above" if METRICS[self.metric].worse == "higher" else "below"

    @property
    def sentence(self) -> str:
        """`Step time above 900 ms in 2 of 3 points in a row`."""
        metric = METRICS[self.metric]
        beyond = f"{metric.title} {self.direction} {say(self.threshold, metric.unit)}"
        if self.window == 1:
            return f"{beyond} at any point"
        if self.hits == self.window:
            return f"{beyond} at {self.window} points in a row"
        return f"{beyond} in {self.hits} of the last {self.window} points"

    def said(self) -> dict[str, Any]:
        """As an event's body holds it."""
        return {
            "metric": self.metric,
            "threshold": self.threshold,
            "window": self.window,
            "share": self.hits / self.window,
        }

    def alert(self) -> Alert:
        """For a back-test."""
        return Alert.model_validate({**self.said(), "direction": self.direction})


def of_event(body: Mapping[str, Any]) -> Written | None:
    """One alert of a `prevent` event; None for a metric that the lab no longer records."""
    said = AlertSaid.model_validate(body)
    hits = max(1, round(said.share * said.window))
    return Written(said.metric, said.threshold, said.window, hits) if said.metric in METRICS else None


def kept(post: Post, offered: tuple[str, ...]) -> list[Written]:
    """The alerts that a form carries along, and the one being written where there is one."""
    found = [from_key(str(key)) for key in post.getlist("alert")]
    if any(one.metric not in offered for one in found):
        raise Slip(UNREADABLE, "alert")
    new = being_written(post, offered)
    listed = list(dict.fromkeys([*found, *([new] if new else [])]))
    if len(listed) > MOST:
        raise Slip(f"{MOST} alerts are enough for anybody on call. Untick one first.", "alert")
    return listed


def being_written(post: Post, offered: tuple[str, ...]) -> Written | None:
    """The alert in the fields `alert-…`; None where no threshold was typed. Raises Slip beside the field."""
    typed = str(post.get("alert-threshold", "")).strip()
    if not typed:
        return None
    metric = str(post.get("alert-metric", ""))
    if metric not in offered:
        raise Slip(f"There is no metric “{metric[:40]}” to watch{did_you_mean(metric, offered)}.", "alert-metric")
    slips: dict[str, str] = {}
    threshold = _threshold(typed, METRICS[metric].unit, slips)
    window = _whole(post, "alert-window", LONGEST_WINDOW, USUAL_WINDOW, slips)
    hits = _whole(post, "alert-hits", window or LONGEST_WINDOW, window, slips)
    if slips:
        raise Slip("", fields=slips)
    return Written(metric, threshold, window, hits)


def from_key(key: str) -> Written:
    """Raises Slip for what no form of ours carries."""
    try:
        metric, threshold, window, hits = key.split(":")
        written = Written(metric, float(threshold), int(window), int(hits))
    except ValueError:
        raise Slip(UNREADABLE, "alert") from None
    sound = written.threshold == 0 or SMALLEST <= written.threshold <= LARGEST
    if not (metric in METRICS and sound and 1 <= written.hits <= written.window <= LONGEST_WINDOW):
        raise Slip(UNREADABLE, "alert")
    return written


def _threshold(typed: str, unit: str, slips: dict[str, str]) -> float:
    """With its unit; a rate of samples or a count is a plain number."""
    bare = typed.removesuffix(unit).strip() if unit not in KINDS else typed
    try:
        return parse_quantity(bare, KINDS.get(unit, "count"), may_be_zero=True)
    except QuantityError as error:
        slips["alert-threshold"] = str(error)
        return 0.0


def _whole(post: Post, field: str, most: int, usual: int, slips: dict[str, str]) -> int:
    """A number of points; left blank it is the usual one. 0 where it was refused."""
    typed = str(post.get(field, "")).strip() or str(usual)
    if not typed.isdecimal() or len(typed) > 4 or not 1 <= int(typed) <= most:
        slips[field] = f"A whole number from 1 to {most}."
        return 0
    return int(typed)
