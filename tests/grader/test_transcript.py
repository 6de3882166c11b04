"""The event log's format: what is read, kept, and refused by name."""

import json

import pytest

from grader.transcript import (
    KINDS,
    Transcript,
    TranscriptError,
    parse_event,
    parse_transcript,
    transcript_schema,
    variant_id,
)

EVERY_KIND = [
    {"kind": "ask", "fact": "sequence-length"},
    {"kind": "estimate", "quantity": "collective-floor", "scale": "production", "value": "5.6 s", "assuming": "flat"},
    {"kind": "verdict", "collective": "below-floor"},
    {"kind": "hypothesis", "causes": ["degraded-link"]},
    {"kind": "predict", "step": "link-rates", "with": {"scope": "all"},
     "expect": [{"causes": ["degraded-link"], "finding": "one-link-lower"}]},
    {"kind": "step", "step": "link-rates", "with": {"scope": "all"}, "finding": "nominal", "evidence": "e-1"},
    {"kind": "rule_out", "causes": ["degraded-link"], "families": ["job"],
     "because": ["link-rates", 5, {"ref": 5, "text": "all nominal"}]},
    {"kind": "restore", "causes": ["degraded-link"]},
    {"kind": "note", "text": "hm"},
    {"kind": "hint", "level": 1},
    {"kind": "diagnose", "causes": ["degraded-link"], "where": "link:host1-leaf0", "confidence": 0.8, "because": [5]},
    {"kind": "success", "metric": "fraction-of-floor", "threshold": "0.9"},
    {"kind": "fix", "fix": "replace-link", "where": "link:host1-leaf0"},
    {"kind": "verify", "step": "link-rates", "with": {"scope": "all"}, "against": ["floor", "loss"]},
    {"kind": "prevent", "measures": ["link-metrics"], "alerts": [{"metric": "busbw-over-floor", "threshold": 0.8}]},
    {"kind": "pause"},
    {"kind": "resume"},
    {"kind": "message", "text": "five minutes left"},
    {"kind": "curveball", "cause": "no-overlap"},
    {"kind": "reveal"},
    {"kind": "handover", "to": "ada"},
    {"kind": "close"},
]  # fmt: skip

REFUSED = [
    ({"kind": "step"}, "step", "at_s", "is missing"),
    ({"at_s": 1, "kind": "step"}, "step", "step", "is missing"),
    ({"at_s": "1", "kind": "close"}, "close", "at_s", "number"),
    ({"at_s": -1, "kind": "close"}, "close", "at_s", "greater"),
    ({"at_s": float("nan"), "kind": "close"}, "close", "at_s", "finite"),
    ({"at_s": 1, "kind": "step", "step": 7}, "step", "step", "string"),
    ({"at_s": 1, "kind": "hint", "level": 4}, "hint", "level", "1, 2 or 3"),
    ({"at_s": 1, "kind": "diagnose", "causes": []}, "diagnose", "causes", "at least one"),
    ({"at_s": 1, "kind": "diagnose", "causes": ["x"], "confidence": 80}, "diagnose", "confidence", "less than"),
    ({"at_s": 1, "kind": "verdict", "collective": "fine"}, "verdict", "collective", "at-floor"),
    (
        {"at_s": 1, "kind": "predict", "step": "x", "expect": [{"causes": ["a"]}]},
        "predict",
        "expect.0.finding",
        "missing",
    ),
    ({"at_s": 1, "kind": "close", "colour": "red"}, "close", "colour", "the fields are at_s, kind"),
]


def transcript(events, **head):
    timed = [{"at_s": 10.0 * number, **event} for number, event in enumerate(events)]
    return {"scenario": "slow-all-reduce", "revision": 1, "causes": ["degraded-link"], "events": timed, **head}


def test_every_kind_of_event_is_read_and_written_back():
    assert {event["kind"] for event in EVERY_KIND} == set(KINDS)
    read = parse_transcript(transcript(EVERY_KIND))
    assert parse_transcript(json.loads(read.model_dump_json(by_alias=True))) == read


def test_an_unknown_kind_is_kept_as_it_is():
    read = parse_transcript(transcript([{"kind": "applause", "loud": True}]))
    assert read.events[0].kind == "applause"
    assert read.events[0].loud is True


@pytest.mark.parametrize(("event", "kind", "field", "says"), REFUSED, ids=[f"{k}-{f}" for _, k, f, _ in REFUSED])
def test_a_malformed_event_is_refused_by_name_and_field(event, kind, field, says):
    with pytest.raises(TranscriptError, match=rf"event 3 \({kind}\): field {field}: .*{says}") as refused:
        parse_event(event, 3)
    assert (refused.value.event, refused.value.field) == (3, field)


@pytest.mark.parametrize(
    ("obj", "says"),
    [
        ([], "is an object with scenario"),
        ({"events": []}, "field scenario: is missing"),
        ({"scenario": "x", "revision": "one"}, "field revision"),
        ({"scenario": "x", "events": {}}, "events: must be a list"),
        ({"scenario": "x", "evnets": []}, "field evnets: is not a field here"),
        ({"scenario": "x", "events": [3]}, "event 0: must be an object"),
        ({"scenario": "x", "events": [{"at_s": 0}]}, "event 0: field kind"),
    ],
)
def test_a_malformed_head_is_refused_by_field(obj, says):
    with pytest.raises(TranscriptError, match=says):
        parse_transcript(obj)


def test_the_schema_names_every_kind():
    text = json.dumps(transcript_schema())
    assert all(f'"{kind}"' in text for kind in KINDS)


def test_a_variant_is_written_one_way():
    assert (
        variant_id("microbenchmark", {"size": "job", "placement": "as-job"})
        == "microbenchmark[placement=as-job,size=job]"
    )
    assert variant_id("change-log", {}) == variant_id("change-log") == "change-log"


def test_an_empty_transcript_is_read():
    assert parse_transcript({"scenario": "x"}) == Transcript(scenario="x")
