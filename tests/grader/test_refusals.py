"""What does not fit the knowledge is refused in one whole sentence, by event and field."""

from __future__ import annotations

import pytest

from grader.transcript import TranscriptError
from tests.grader import histories, simulated
from tests.grader.played import DIAGNOSE, FLOOR, RATES, SPLIT, VERIFY, transcript
from tests.grader.scoring import grade

CAUSES = ", ".join(simulated.CAUSES)
STEPS = (
    "per-rank-step-times, collective-arrivals, host-telemetry, input-timings, overlap-trace, link-error-counters, "
    "library-choices, placement-map, link-rates, change-log, microbenchmark"
)
FIXES = (
    "drain-host, move-input, replace-link, restore-placement, restore-transport, restore-overlap, accept-physics, "
    "reboot-switches, add-gpus"
)
ESTIMATES = (
    "collective-floor (production), bytes-on-the-wire (production), fraction-of-floor (production), "
    "collective-floor (lab)"
)
MISSING = "is missing, and the transcript names no cause to infer it from"


def bare(event):
    return {name: value for name, value in event.items() if name != "finding"}


EVENTS = [
    ({**SPLIT, "step": "link-rate"}, "step", "step",
     '"link-rate" is not known in this scenario; did you mean "link-rates"?'),
    ({**SPLIT, "step": "zzz"}, "step", "step", f'"zzz" is not known in this scenario; known are {STEPS}'),
    ({**RATES, "with": {"scope": "some"}}, "step", "with",
     "link-rates[scope=some] is not offered; it is link-rates[scope=suspects] or link-rates[scope=all]"),
    ({**SPLIT, "finding": "zzz"}, "step", "finding",
     '"zzz" is not known in this scenario; known are even, one-rank-slow-compute, one-rank-slow-input, inconclusive'),
    ({**VERIFY, "finding": "zzz"}, "verify", "finding",
     '"zzz" is not known in this scenario; known are at-floor, below-floor, inconclusive'),
    ({**VERIFY, "step": "zzz"}, "verify", "step", f'"zzz" is not known in this scenario; known are {STEPS}'),
    ({"kind": "predict", "step": "zzz", "expect": []}, "predict", "step",
     f'"zzz" is not known in this scenario; known are {STEPS}'),
    ({"kind": "fix", "fix": "replace-lnk"}, "fix", "fix",
     '"replace-lnk" is not known in this scenario; did you mean "replace-link"?'),
    ({"kind": "fix", "fix": "zzz"}, "fix", "fix", f'"zzz" is not known in this scenario; known are {FIXES}'),
    ({"kind": "curveball", "cause": "zzz"}, "curveball", "cause",
     f'"zzz" is not known in this scenario; known are {CAUSES}'),
    ({"kind": "prevent", "measures": ["link-metrics", "link-metric"]}, "prevent", "measures",
     '"link-metric" is not known in this scenario; did you mean "link-metrics"?'),
    ({"kind": "prevent", "measures": [], "alerts": [{"metric": "zzz", "threshold": 1}]}, "prevent", "alerts",
     '"zzz" is not known in this scenario; known are busbw'),
    ({**FLOOR, "value": "banana"}, "estimate", "value", "I cannot read “banana”. Write a time like 5.6 s."),
    ({**FLOOR, "quantity": "weight"}, "estimate", "quantity",
     f"weight (production) is not asked for; known are {ESTIMATES}"),
]  # fmt: skip


def refusal(events, knowledge, **head):
    with pytest.raises(TranscriptError) as refused:
        grade(transcript(events, **head), knowledge)
    return str(refused.value), refused.value.event, refused.value.field


@pytest.mark.parametrize(("event", "kind", "field", "sentence"), EVENTS, ids=[f"{e[1]}-{e[2]}" for e in EVENTS])
def test_an_event_that_does_not_fit_is_refused_by_name_and_field(event, kind, field, sentence, knowledge):
    alerted = histories.known(knowledge, *histories.histories())
    note = {"kind": "note", "text": "first"}
    assert refusal([note, event], alerted) == (f"event 1 ({kind}): field {field}: {sentence}", 1, field)


@pytest.mark.parametrize(
    ("head", "field", "sentence"),
    [
        ({"scenario": "other"}, "scenario", "'other', but the knowledge is of 'slow-all-reduce'"),
        ({"causes": ["degraded-link", "zzz"]}, "causes", f'"zzz" is not known in slow-all-reduce; known are {CAUSES}'),
        ({"causes": ["degraded-lnk"]}, "causes",
         '"degraded-lnk" is not known in slow-all-reduce; did you mean "degraded-link"?'),
        ({"symptom": "odd"}, "symptom",
         "'odd' is not one of collective-at-floor, collective-below-floor, inconclusive"),
    ],
)  # fmt: skip
def test_a_head_that_does_not_fit_is_refused_by_field(head, field, sentence, knowledge):
    assert refusal([], knowledge, **head) == (f"transcript: field {field}: {sentence}", None, field)


@pytest.mark.parametrize("event", [SPLIT, VERIFY], ids=["step", "verify"])
def test_without_a_cause_a_finding_has_to_be_written(event, knowledge):
    said = refusal([bare(event)], knowledge, causes=[])
    assert said == (f"event 0 ({event['kind']}): field finding: {MISSING}", 0, "finding")


def test_a_prediction_names_a_finding_of_its_step(knowledge):
    wrong = {"kind": "predict", "step": "link-rates", "with": {"scope": "all"},
             "expect": [{"causes": ["degraded-link"], "finding": "zzz"}]}  # fmt: skip
    sentence = "'zzz' is not a finding of link-rates[scope=all]; they are nominal, one-link-lower, inconclusive"
    assert refusal([wrong, RATES], knowledge) == (f"event 0 (predict): field expect: {sentence}", 0, "expect")
    assert grade(transcript([wrong]), knowledge).predictions == ()  # nobody looked, so nothing is judged


def test_where_nothing_is_estimated_it_says_so(knowledge):
    silent = knowledge.model_copy(update={"estimates": ()})
    assert refusal([FLOOR], silent)[0].endswith("collective-floor (production) is not asked for; known are none")


def test_a_measure_needs_no_alert_and_a_diagnosis_no_known_cause(knowledge):
    assert grade(transcript([{**DIAGNOSE, "causes": ["gremlins"]}]), knowledge).total == 0
