"""What a fix does to one cause and to two, at its place and elsewhere, and whether the search may go on after it."""

from __future__ import annotations

import pytest

from grader import fixes
from grader.knowledge import FixKnowledge
from grader.transcript import parse_transcript
from tests.grader.two_causes import knowledge

KNOWN = {
    "cure-host": {"host-fault": "cures"},
    "cure-both": {"host-fault": "cures", "bad-link": "cures"},
    "ease-host": {"host-fault": "mitigates", "bad-link": "cures"},
    "harm-link": {"host-fault": "cures", "bad-link": "harms"},
    "only-harm": {"bad-link": "harms"},
    "idle": {},
}
FIXES = (
    *(FixKnowledge(id=name, title=name, takes_place=False, effects=effects) for name, effects in KNOWN.items()),
    FixKnowledge(id="placed", title="placed", takes_place=True, effects={"host-fault": "cures"}),
    FixKnowledge(id="eased", title="eased", takes_place=True, effects={"host-fault": "mitigates"}),
    FixKnowledge(id="worse", title="worse", takes_place=True, effects={"host-fault": "harms"}),
    FixKnowledge(id="job", title="job", takes_place=False, effects={}, changes_job=True),
    FixKnowledge(id="optimiser", title="optimiser", takes_place=False, effects={}, changes_optimisation=True),
)
INCIDENT = knowledge(fixes=FIXES)


def attempt(fix, *causes, where=None, thrown=(), places=True):
    events = [{"at_s": 0, "kind": "fix", "fix": fix, "where": where}]
    events += [{"at_s": 1, "kind": "curveball", "cause": cause} for cause in thrown]
    made = parse_transcript(
        {
            "scenario": "two",
            "causes": list(causes),
            "places": {"host-fault": ["rank:1"]} if places else {},
            "events": events,
        }
    )
    return made, made.events[0]


def effect(*said, **more):
    return fixes.effect(INCIDENT, *attempt(*said, **more))


def changes(*said, **more):
    made, fix = attempt(*said, **more)
    return fixes.changes_the_lab(INCIDENT, made, 0, fix)


@pytest.mark.parametrize("name", KNOWN)
def test_a_fix_is_found_by_its_id(name):
    assert fixes.known(INCIDENT, attempt(name)[1]).id == name


def test_hidden_causes_are_the_named_and_those_thrown_before_an_event():
    made, _ = attempt("idle", "host-fault", thrown=("bad-link", "host-fault"))
    assert fixes.hidden_causes(made) == ("host-fault", "bad-link")
    assert fixes.hidden_causes(made, 1) == ("host-fault",)
    assert fixes.hidden_causes(made, 2) == ("host-fault", "bad-link")


def test_the_least_of_the_effects_on_two_causes_counts_in_either_order():
    for causes in (("host-fault", "bad-link"), ("bad-link", "host-fault")):
        assert effect("cure-both", *causes) == "cures"
        assert effect("ease-host", *causes) == "mitigates"
        assert effect("cure-host", *causes) == "nothing"
        assert effect("harm-link", *causes) == effect("only-harm", *causes) == "harms"
    assert effect("cure-host", "host-fault", thrown=("bad-link",)) == "nothing"


def test_where_no_cause_is_known_a_fix_does_nothing():
    assert effect("cure-both") == "nothing"
    assert effect("idle", "host-fault") == "nothing"


def test_a_fix_that_takes_a_place_does_good_only_there_and_harm_everywhere():
    for good, name in (("cures", "placed"), ("mitigates", "eased")):
        assert effect(name, "host-fault", where="rank:1") == good
        assert effect(name, "host-fault", where="rank:2") == "nothing"
        assert effect(name, "host-fault") == "nothing"
        assert effect(name, "host-fault", where="rank:2", places=False) == good
    assert effect("worse", "host-fault", where="rank:2") == "harms"
    assert effect("placed", "bad-link", where="rank:1") == "nothing"
    assert effect("cure-host", "host-fault", where="rank:2") == "cures"


@pytest.mark.parametrize(
    ("said", "more", "changed"),
    [
        (("cure-host", "host-fault"), {}, True),
        (("eased", "host-fault"), {"where": "rank:1"}, True),
        (("placed", "host-fault"), {"where": "rank:2"}, False),
        (("worse", "host-fault"), {"where": "rank:2"}, True),
        (("cure-host", "bad-link"), {}, False),
        (("idle", "host-fault"), {}, False),
        (("idle", "host-fault", "bad-link"), {}, False),
        (("cure-host", "bad-link", "host-fault"), {}, True),
        (("job", "host-fault"), {}, True),
        (("optimiser", "host-fault"), {}, True),
        (("idle",), {}, True),
        (("cure-host", "bad-link"), {"thrown": ("host-fault",)}, False),
        (("idle",), {"thrown": ("bad-link",)}, True),
    ],
)
def test_the_search_may_go_on_after_a_fix_that_did_nothing(said, more, changed):
    """A cause thrown later changes nothing about what the fix did then; without a cause nobody can tell."""
    assert changes(*said, **more) is changed
