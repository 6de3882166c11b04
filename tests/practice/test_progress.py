"""The fold over events, and what the board makes of it."""

from __future__ import annotations

from types import SimpleNamespace

from practice.progress import fold

FAMILIES = {"host": ("throttled-rank",), "fabric": ("degraded-link", "lossy-link")}


def event(index: int, kind: str, at_s: float | None = None, **body: object) -> SimpleNamespace:
    return SimpleNamespace(index=index, at_s=float(index if at_s is None else at_s), kind=kind, body=body)


def test_the_first_value_of_an_estimate_stands():
    log = [
        event(i, "estimate", quantity="collective-floor", scale="lab", value=v) for i, v in enumerate(("1 s", "2 s"))
    ]
    assert fold(log, FAMILIES).estimates["collective-floor", "lab"].body["value"] == "1 s"


def test_a_family_strikes_all_its_causes_and_each_can_be_taken_back():
    log = [event(0, "rule_out", families=["fabric"], because=[]), event(1, "restore", causes=["lossy-link"])]
    assert list(fold(log, FAMILIES).struck) == ["degraded-link"]


def test_a_cause_struck_twice_rests_on_the_first_evidence():
    log = [
        event(0, "rule_out", causes=["throttled-rank"], because=[7]),
        event(1, "rule_out", causes=["throttled-rank"], because=[8]),
    ]
    assert fold(log, FAMILIES).struck["throttled-rank"].because == (7,)


def test_the_last_hypotheses_and_the_last_diagnosis_stand():
    log = [
        event(0, "hypothesis", causes=["a"]),
        event(1, "hypothesis", causes=["b"]),
        event(2, "diagnose", causes=["a"]),
        event(3, "diagnose", causes=["b"]),
    ]
    progress = fold(log, FAMILIES)
    assert progress.hypotheses == ("b",)
    assert progress.diagnosis is not None and progress.diagnosis.body["causes"] == ["b"]


def test_a_night_away_does_not_count_as_time_at_work():
    log = [event(0, "note", at_s=60.0, text="evening"), event(1, "note", at_s=40_000.0, text="morning")]
    assert fold(log, FAMILIES).active_s(40_030.0) == 90.0


def test_an_event_of_a_kind_that_pages_do_not_know_is_kept_and_passed_over():
    progress = fold([event(0, "telepathy", strength=3)], FAMILIES)
    assert [line.kind for line in progress.lines] == ["telepathy"]
