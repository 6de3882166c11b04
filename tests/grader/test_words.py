"""How criteria put things into words, and what a rubric may change of the words."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from grader import criteria, quantities, rubric
from grader.criteria.base import Case, clamp, listed, placeholders, sentence
from grader.criteria.split import SplitSettings, SplitWords
from grader.grade import case_of
from grader.knowledge import CauseKnowledge
from grader.rubric import Rubric, refuse_unknown
from tests.grader.played import SPLIT, transcript
from tests.grader.scoring import STANDARD


@pytest.mark.parametrize(
    ("names", "said"), [([], "nothing"), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_names_are_listed_as_in_a_sentence(names, said):
    assert listed(names) == said


def test_a_sentence_begins_with_a_capital_and_keeps_the_rest():
    assert sentence("{cause} of rank {n}.", cause="slow Input", n=3) == "Slow Input of rank 3."


@pytest.mark.parametrize(("value", "clamped"), [(-0.1, 0.0), (0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.1, 1.0)])
def test_a_mark_stays_between_nothing_and_one(value, clamped):
    assert clamp(value) == clamped


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("no more", set()),
        ("{a} at {b}, {a}", {"a", "b"}),
        ("{{a}}", set()),
        ("{a!r} {b:>3} {c!s:x}", {"a!r", "b:>3", "c!s:x"}),
        ("{}", {""}),
    ],
)
def test_placeholders_are_what_stands_in_braces_as_written(template, found):
    assert placeholders(template) == found


def test_a_template_that_is_none_says_so():
    with pytest.raises(ValueError, match=r"^'at \{clock' is no template: expected '\}' before end of string$"):
        placeholders("at {clock")


def test_a_placeholder_that_a_sentence_lacks_is_refused_with_those_it_has():
    with pytest.raises(ValidationError) as refused:
        SplitWords(late="at {tme}")
    assert 'late: placeholder "{tme}" is unknown; there are {clock}, {other}, {other_clock}, {step}' in str(
        refused.value
    )
    with pytest.raises(ValidationError, match=r'never: placeholder "\{x\}" is unknown; there are none'):
        SplitWords(never="{x}")
    assert SplitWords(late="{step}, late").late == "{step}, late"


@pytest.fixture
def case(knowledge):
    causes = (
        CauseKnowledge(id="mtu", family="fabric", title="MTU too small", prior=1, place_kind="link"),
        CauseKnowledge(id="slow-link", family="fabric", title="Slow link", prior=1, place_kind="link"),
        CauseKnowledge(id="gpu", family="host", title="A GPU throttles", prior=1, place_kind="rank"),
    )
    events = [{**SPLIT, "at_s": at_s} for at_s in (0, 59.9, 61.0, 3605.0)]
    return case_of(transcript(events, causes=[]), knowledge.model_copy(update={"causes": causes}), STANDARD)


def test_a_cause_is_said_inside_a_sentence_and_an_abbreviation_stays_one(case):
    assert case.title("mtu") == "MTU too small"
    assert case.title("slow-link") == "slow link"
    assert case.title("gpu") == "a GPU throttles"
    assert case.title("loose-cable") == "loose cable"


def test_the_clock_counts_minutes_and_seconds(case):
    assert [case.clock(event) for event in range(4)] == ["00:00", "00:59", "01:01", "60:05"]


def test_settings_are_those_of_the_rubric_and_else_their_own_defaults(case, knowledge):
    assert case.its(SplitSettings) is STANDARD.settings["split"]
    own = Rubric(name="own", weights={"repair": 1.0}, criteria={"split": {"later": 0.1}})
    assert case_of(transcript([]), knowledge, own).its(SplitSettings).later == 0.1
    assert Case(case.timeline, {}, {}).its(SplitSettings) == SplitSettings()
    assert own.label == "own@1"
    assert set(own.settings) == set(criteria.CRITERIA)


def test_only_criteria_that_weigh_something_are_judged(knowledge):
    one = Rubric(name="x", weights={"split": 1.0, "bisect": 0.0})
    assert set(case_of(transcript([]), knowledge, one).criteria) == {"split"}


def test_a_name_that_is_no_criterion_is_refused_with_those_that_are():
    refuse_unknown(["split", "audit"])
    known = ", ".join(sorted(criteria.CRITERIA))
    with pytest.raises(ValueError, match=rf'^"splits" is no criterion; they are {known}$'):
        refuse_unknown(["split", "splits"])


def test_criteria_and_quantities_are_found_by_looking():
    assert criteria._discover() == criteria.CRITERIA
    assert list(criteria.CRITERIA) == sorted(criteria.CRITERIA)
    assert {one.id: name for name, one in criteria.CRITERIA.items()} == {name: name for name in criteria.CRITERIA}
    assert quantities._discover() == quantities.QUANTITIES
    assert list(quantities._discover()) == list(quantities.QUANTITIES)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"weights": {"split": 0.5}}, "they sum to 0.5, and must sum to 1"),
        ({"weights": {"split": 1.0}, "hint_costs": {1: 0.1, 3: 0.2}}, "hints have levels 1, 2 and 3; priced are 1, 3"),
        ({"weights": {"split": 1.0}, "dimensions": {"judgment": {"luck": 1.0}}}, '"luck" is no criterion; they are'),
        ({"weights": {"luck": 1.0}}, '"luck" is no criterion; they are'),
    ],
)
def test_a_rubric_that_does_not_add_up_says_what_would(fields, says):
    with pytest.raises(ValidationError) as refused:
        Rubric(name="x", **fields)
    assert says in str(refused.value)


def test_weights_may_be_off_by_what_rounding_makes():
    assert Rubric(name="x", weights={"split": 0.5000004, "bisect": 0.5}).weights["split"] == 0.5000004
    with pytest.raises(ValidationError):
        Rubric(name="x", weights={"split": 0.50001, "bisect": 0.5})


def test_thresholds_are_the_settings_of_every_criterion_under_its_id():
    made = rubric._thresholds()
    assert made.__name__ == "Thresholds"
    kinds = {field.alias: field.annotation for field in made.model_fields.values()}
    assert kinds == {name: one.settings for name, one in criteria.CRITERIA.items()}
    assert set(made.model_fields) == {name.replace("-", "_") for name in criteria.CRITERIA}
    assert {type(value) for _, value in made()} == {one.settings for one in criteria.CRITERIA.values()}
    with pytest.raises(ValidationError, match="Extra inputs"):
        made(gossip={})
    with pytest.raises(ValidationError, match="frozen"):
        made().split = SplitSettings()
