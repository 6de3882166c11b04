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


def refusal(obj):
    with pytest.raises(TranscriptError) as refused:
        parse_transcript(obj)
    return str(refused.value), refused.value.event, refused.value.field


HEAD_FIELDS = "calibration, causes, conditions, events, places, revision, scenario, symptom, truths"


@pytest.mark.parametrize(
    ("obj", "said"),
    [
        ([], ("a transcript is an object with scenario, causes and events, not a list", None, "")),
        ("x", ("a transcript is an object with scenario, causes and events, not text", None, "")),
        (None, ("a transcript is an object with scenario, causes and events, not nothing", None, "")),
        (3, ("a transcript is an object with scenario, causes and events, not int", None, "")),
        ({"scenario": "x", "events": {}}, ("events: must be a list, not an object", None, "events")),
        ({"scenario": "x", "events": [{}] * 5001}, ("events: 5001 of them; at most 5000", None, "events")),
        ({"events": []}, ("transcript: field scenario: is missing", None, "scenario")),
        (
            {"scenario": "x", "evnets": []},
            (f"transcript: field evnets: is not a field here; the fields are {HEAD_FIELDS}", None, "evnets"),
        ),
        ({"scenario": 3}, ("transcript: field scenario: must be a valid string", None, "scenario")),
        (
            {"scenario": "x", "truths": {"fraction-of-floor": 0}},
            ("transcript: field truths: must be greater than 0", None, "truths"),
        ),
        ({"scenario": "x", "events": ["x"]}, ("event 0: must be an object with at_s and kind, not text", 0, "")),
        (
            {"scenario": "x", "events": [{"at_s": 0, "kind": 7}]},
            ('event 0: field kind: must be text, for example "step"', 0, "kind"),
        ),
        (
            transcript([{"kind": "close"}, {"kind": "note", "text": "x" * 20_001}]),
            ("event 1 (note): field text: must have at most 20000 characters", 1, "text"),
        ),
        (
            transcript([{"kind": "restore", "causes": []}]),
            ("event 0 (restore): field causes: must name at least one", 0, "causes"),
        ),
        (
            transcript([{"kind": "step", "step": "x", "colour": 1}]),
            (
                "event 0 (step): field colour: is not a field here; the fields are at_s, evidence, finding, kind, "
                "opened_at_s, step, with",
                0,
                "colour",
            ),
        ),
        (
            transcript([{"kind": "close", "opened-at_s": 1}]),
            ("event 0 (close): field opened-at_s: is not a field here; the fields are at_s, kind", 0, "opened-at_s"),
        ),
        (
            {"scenario": "x", "events": [{"at_s": "soon", "kind": "applause"}]},
            (
                "event 0 (applause): field at_s: must be a valid number, unable to parse string as a number",
                0,
                "at_s",
            ),
        ),
    ],
)
def test_a_refusal_is_one_whole_sentence_and_names_event_and_field(obj, said):
    assert refusal(obj) == said


def test_as_many_events_as_may_be_are_read():
    assert len(parse_transcript({"scenario": "x", "events": [{"at_s": 0, "kind": "pause"}] * 5000}).events) == 5000


def test_what_was_read_already_is_taken_as_it_is():
    read = parse_transcript(transcript([{"kind": "close"}]))
    assert parse_transcript(read) is read
    assert parse_event(read.events[0]) is read.events[0]
    again = parse_transcript({"scenario": "x", "events": read.events})
    assert again.events == read.events


def test_an_event_by_itself_is_the_first():
    with pytest.raises(TranscriptError, match=r"^event 0 \(close\): field at_s: is missing$"):
        parse_event({"kind": "close"})


def test_the_head_keeps_all_that_was_written():
    head = {"revision": 2, "places": {"degraded-link": ("link:a",)}, "truths": {"fraction-of-floor": 0.3},
            "symptom": "below", "conditions": {"mode": "exam"}, "calibration": "abc"}  # fmt: skip
    read = parse_transcript(transcript([], **head))
    assert {name: getattr(read, name) for name in head} == head
    assert (read.scenario, read.causes) == ("slow-all-reduce", ("degraded-link",))


def test_the_schema_says_what_it_is_of_and_writes_aliases():
    schema = transcript_schema()
    assert schema["title"] == "Rank 37 transcript"
    assert "with" in schema["$defs"]["Step"]["properties"]
    assert "with_" not in schema["$defs"]["Step"]["properties"]
