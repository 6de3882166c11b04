"""Transcripts for the tests: a sound search under one cause, and small changes to it."""

from __future__ import annotations

from typing import Any

JOB = {"size": "job", "placement": "as-job"}
LINK = "link:host1-leaf0"

FLOOR = {"kind": "estimate", "quantity": "collective-floor", "scale": "production", "value": "5.6 s"}
FRACTION = {"kind": "estimate", "quantity": "fraction-of-floor", "scale": "production", "value": "30 %"}
VERDICT = {"kind": "verdict", "collective": "below-floor"}
SPLIT = {"kind": "step", "step": "per-rank-step-times", "finding": "even"}
NO_STRAGGLER = {"kind": "rule_out", "causes": ["throttled-rank", "slow-input-rank"], "because": ["per-rank-step-times"]}
BISECT = {"kind": "step", "step": "microbenchmark", "with": JOB, "finding": "below-floor"}
NOT_THE_JOB = {"kind": "rule_out", "causes": ["no-overlap", "comparison-changed"], "because": ["microbenchmark"]}
RATES = {"kind": "step", "step": "link-rates", "with": {"scope": "all"}, "finding": "one-link-lower"}
A_LINK = {"kind": "rule_out", "causes": ["worse-placement", "fallback-transport"], "because": ["link-rates"]}
LIBRARY = {"kind": "step", "step": "library-choices", "finding": "fabric-interface"}
CHANGES = {"kind": "step", "step": "change-log", "finding": "changes"}
DIAGNOSE = {"kind": "diagnose", "causes": ["degraded-link"], "where": LINK, "confidence": 0.95,
            "because": ["microbenchmark", "link-rates"]}  # fmt: skip
SUCCESS = {"kind": "success", "metric": "fraction-of-floor", "threshold": "0.9"}
FIX = {"kind": "fix", "fix": "replace-link", "where": LINK}
VERIFY = {"kind": "verify", "step": "microbenchmark", "with": JOB, "against": ["floor", "loss"], "finding": "at-floor"}
PREVENT = {"kind": "prevent", "measures": ["link-metrics", "busbw-floor-alert"]}
CLOSE = {"kind": "close"}

SOUND = [FLOOR, FRACTION, VERDICT, SPLIT, NO_STRAGGLER, BISECT, NOT_THE_JOB, RATES, A_LINK, LIBRARY, CHANGES,
         DIAGNOSE, SUCCESS, FIX, VERIFY, PREVENT, CLOSE]  # fmt: skip


def transcript(events: list[dict[str, Any]], *, cause: str = "degraded-link", **head: Any) -> dict[str, Any]:
    """A transcript of these events, ten seconds apart, with a degraded link as the truth."""
    return {
        "scenario": "slow-all-reduce", "revision": 1, "causes": [cause], "places": {"degraded-link": [LINK]},
        "truths": {"fraction-of-floor": 0.3}, "symptom": "collective-below-floor",
        "events": [{"at_s": 10.0 * number, **event} for number, event in enumerate(events)], **head,
    }  # fmt: skip


def without(*dropped: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in SOUND if event not in dropped]


def moved(event: dict[str, Any], *, after: dict[str, Any]) -> list[dict[str, Any]]:
    rest = without(event)
    place = rest.index(after) + 1
    return [*rest[:place], event, *rest[place:]]


def swapped(
    old: dict[str, Any], *new: dict[str, Any], events: list[dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for event in events or SOUND:
        found += list(new) if event == old else [event]
    return found
