"""What a typed answer is worth at the edges: tolerance either way, the nearest slip, prefixes, whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from grader.drills import making
from grader.drills.base import LEVELS, Law, Sketch, Slip, Tidy, figures
from grader.drills.judging import judge
from grader.drills.making import drill
from grader.drills.picking import Pick
from grader.drills.slips import NAMED, bits_for_bytes, slip
from grader.quantities import QUANTITIES
from grader.units import QuantityError


@dataclass(frozen=True)
class Question:
    kind: str = "time"
    answer: float = 100.0
    tolerance: float = 0.03
    exact: bool = False
    slips: tuple[Slip, ...] = (slip("root", 200.0), slip("averaged", 206.0))


def found(typed, **question):
    judged = judge(Question(**question), typed)
    return judged.verdict, judged.slip.id if judged.slip else None


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [("100 s", "right"), ("102.99 s", "right"), ("103.01 s", "wrong"), ("97.1 s", "right"), ("97.08 s", "wrong")],
)
def test_an_answer_is_right_within_its_tolerance_either_way(typed, verdict):
    """As much too small as too large: 100 / 1.03 is 97.087."""
    assert found(typed) == (verdict, None)


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("196.1 s", "root"), ("196.0 s", None), ("200 s", "root"), ("202.9 s", "root"), ("203.1 s", "averaged"),
        ("206 s", "averaged"), ("210.1 s", "averaged"), ("210.2 s", None),
    ],
)  # fmt: skip
def test_a_slip_is_named_within_two_per_cent_and_the_nearest_of_two(typed, named):
    assert found(typed) == ("slip" if named else "wrong", named)


@pytest.mark.parametrize("typed", ["0.1 us", "0.1 ms", "0.1 s", "100000 s", "100 ms", "1e8 s", "1e11 s", "102.9 ms"])
def test_thousands_off_up_to_three_times_are_a_prefix(typed):
    assert found(typed, slips=()) == ("slip", "prefix")


@pytest.mark.parametrize("typed", ["103.1 ms", "1 s", "1e14 s", "0.1 ns", "12.5 s", "800 s"])
def test_other_factors_are_no_prefix_and_a_time_has_no_bits(typed):
    assert found(typed, slips=()) == ("wrong", None)


@pytest.mark.parametrize(("kind", "unit"), [("data", "B"), ("rate", "B/s")])
def test_eight_times_off_is_bits_for_bytes_where_there_are_bits(kind, unit):
    answer = 100.0 if kind == "data" else 800.0
    for typed, named in (("800", True), ("12.5", True), ("815", True), ("817", False), ("12.7", True), ("12.8", False)):
        expected = ("slip", "bits-for-bytes") if named else ("wrong", None)
        assert found(f"{typed} {unit}", kind=kind, answer=answer, slips=()) == expected, typed


def test_a_share_is_never_a_prefix_off():
    assert found("50 %", kind="ratio", answer=0.5, slips=()) == ("right", None)
    assert found("0.05 %", kind="ratio", answer=0.5, slips=()) == ("wrong", None)
    assert found("500", kind="factor", answer=0.5, slips=()) == ("slip", "prefix")


def test_just_on_the_tolerance_is_within_it():
    """Powers of two, so that nothing is rounded: a quarter more, and as much as a quarter less than it would be."""
    for typed, verdict in (("125 s", "right"), ("80 s", "right"), ("125.1 s", "wrong"), ("79.9 s", "wrong")):
        assert found(typed, tolerance=0.25, slips=()) == (verdict, None)


WHOLE = {"kind": "count", "answer": 12.0, "tolerance": 0.0, "exact": True, "slips": (slip("root", 16.0),)}


def test_a_whole_number_is_right_or_not():
    assert found("12", **WHOLE) == ("right", None)
    assert found("13", **WHOLE) == ("wrong", None)
    assert found("11", **WHOLE) == ("wrong", None)
    assert found("16", **WHOLE) == ("slip", "root")
    assert found("15", **WHOLE) == ("wrong", None)
    assert found("12000", **WHOLE) == ("wrong", None)
    assert found("96", **WHOLE) == ("wrong", None)
    assert found("12.0000000001", **WHOLE) == ("right", None)
    with pytest.raises(QuantityError, match=r"^A whole number is asked for, and 12\.25 is none\.$"):
        judge(Question(**WHOLE), "12.25")


def test_a_judgement_holds_the_value_and_how_far_off_it_is():
    judged = judge(Question(), "125 s")
    assert (judged.verdict, judged.value, judged.off, judged.slip) == ("wrong", 125.0, 0.25, None)
    assert judge(Question(), "80 s").off == pytest.approx(-0.2)
    assert judge(Question(), "200 s").slip == slip("root", 200.0)
    assert judge(Question(slips=()), "100 ms").slip == slip("prefix", 0.1)
    in_bits = judge(Question(kind="data", slips=()), "800 B")
    assert in_bits.slip == slip("bits-for-bytes", 800.0)
    right = judge(Question(), "101 s")
    assert (right.verdict, right.value, right.off, right.slip) == ("right", 101.0, pytest.approx(0.01), None)


def kept(*values, answer=100.0, exact=False, tolerance=0.03):
    sketch = Sketch("?", "count", answer, (), tuple(slip("root", value) for value in values), exact)
    return [one.value for one in making._told_apart(sketch, tolerance)]


def test_a_slip_is_offered_only_where_it_can_be_told_from_the_answer_and_the_others():
    """5 % from the answer (3 of tolerance, 2 of the slip), 4 % from each other."""
    assert kept(105.0, 105.01) == [105.01]
    assert kept(95.24, 95.23) == [95.23]
    assert kept(104.9, 110.0) == [110.0]
    assert kept(200.0, 208.0, 208.01) == [200.0, 208.01]
    assert kept(208.01, 200.0) == [208.01, 200.0]
    assert kept(200.0, 192.3) == [200.0, 192.3]
    assert kept(200.0, 192.4) == [200.0]
    assert kept(105.01, tolerance=0.05) == []


def test_what_cannot_be_typed_is_no_slip():
    assert kept(float("inf"), float("nan"), 0.0, -5.0, 0.5) == [0.5]
    assert kept(12.0, 12.5, 13.0, 13.0, 11.0, answer=12.0, exact=True) == [13.0, 11.0]


def test_how_long_a_drill_may_take_and_how_exact_it_is_goes_by_its_level():
    assert making.TOLERANCE == {1: 0.03, 2: 0.04, 3: 0.05}
    assert making.SLOW_AFTER_S == {1: 60, 2: 120, 3: 180}
    assert (LEVELS, making.LARGEST_SEED) == ((1, 2, 3), 2_147_483_647)
    assert [drill(f"ring-all-reduce/{level}", 1).tolerance for level in (1, 2, 3)] == [0.03, 0.04, 0.05]
    assert (drill("global-batch/1", 1).tolerance, drill("global-batch/1", 1).exact) == (0.0, True)


def test_a_drill_holds_its_quantity_its_topic_and_what_it_was_made_of():
    made, quantity = drill("fraction-of-floor/2", 3), QUANTITIES["fraction-of-floor"]
    assert (made.id, made.quantity, made.level, made.seed) == ("fraction-of-floor/2", "fraction-of-floor", 2, 3)
    assert (made.topic, made.title, made.formula, made.source) == (
        "collectives", quantity.title, quantity.formula, quantity.source,
    )  # fmt: skip
    assert set(made.args) == {"observed", "floor"}
    assert made.answer == figures(quantity, **made.args)["ratio"]
    assert made.answer_text == f"{made.answer * 100:.3g} %"
    assert [type(number) for number in made.given] == [Tidy] * 4
    with pytest.raises(KeyError):
        drill("fraction-of-floor/4", 3)


def test_a_stored_question_is_known_by_what_is_asked_and_not_by_what_is_told():
    made = drill("ring-all-reduce/1", 0)
    same = [replace(made, steps=()), replace(made, slips=()), replace(made, answer=made.answer * (1 + 1e-12))]
    other = [
        replace(made, text="?"), replace(made, kind="data"), replace(made, answer=made.answer * 1.0001),
        replace(made, tolerance=0.5),
    ]  # fmt: skip
    mark = making.fingerprint(made)
    assert {making.fingerprint(one) for one in same} == {mark}
    assert len({mark, *(making.fingerprint(one) for one in other)}) == 5
    assert len(mark) == 16


def test_every_mistake_has_a_name_and_says_what_to_do_instead():
    usual = "An all-reduce sends 2(n−1)/n of the array over each link, not the array once."
    assert slip("ring-factor", 2) == Slip("ring-factor", "2(n−1)/n forgotten", usual, 2.0)
    assert slip("ring-factor", 2, "Said otherwise.").told == "Said otherwise."
    assert bits_for_bytes(10.0) == slip("bits-for-bytes", 80.0)
    assert bits_for_bytes(10.0, 1 / 8) == slip("bits-for-bytes", 1.25)
    assert all(name and told.endswith(".") for name, told in NAMED.values())


def test_a_pick_is_the_same_for_ever_and_is_kept_in_order():
    pick = Pick("ring-all-reduce/1", 7)
    first, second = pick.count(*range(1, 1000)), pick.count(*range(1, 1000))
    again = Pick("ring-all-reduce/1", 7)
    assert (again.count(*range(1, 1000)), again.count(*range(1, 1000))) == (first, second)
    assert first != second
    others = {Pick(drill_, seed).count(*range(1, 1000)) for drill_, seed in (("ring-all-reduce/1", 8), ("x", 7))}
    assert float(first) not in {float(one) for one in others}
    assert pick.given == [first, second]


@pytest.mark.parametrize(
    ("way", "unit", "number", "text", "value", "kind"),
    [
        ("time", "ms", 250, "250 ms", 0.25, "time"), ("data", "MiB", 25, "25 MiB", 25 * 2**20, "data"),
        ("rate", "Gb/s", 400, "400 Gb/s", 400e9, "rate"), ("rate", "GB/s", 12.5, "12.5 GB/s", 100e9, "rate"),
        ("compute_rate", "TFLOP/s", 312, "312 TFLOP/s", 312e12, "compute-rate"),
        ("count", None, 1024, "1024", 1024.0, "count"), ("billions", None, 70, "70 billion", 70e9, "count"),
        ("millions", None, 0.5, "0.5 million", 5e5, "count"), ("percent", None, 25, "25 %", 0.25, "ratio"),
        ("factor", None, 1.5, "1.5", 1.5, "factor"), ("count", None, 0, "0", 0.0, "count"),
    ],
)  # fmt: skip
def test_a_number_is_drawn_as_the_question_writes_it(way, unit, number, text, value, kind):
    pick = Pick("x", 0)
    drawn = getattr(pick, way)(*([unit] if unit else []), number)
    assert (str(drawn), f"{drawn}", float(drawn), drawn.kind, drawn.text) == (text, text, value, kind, text)
    assert f"{drawn:.3e}" == f"{value:.3e}"
    assert pick.given == [drawn]
    assert pick.hide(drawn) is drawn
    assert pick.given == []


def test_what_is_told_is_rounded_as_a_person_would_say_it():
    pick = Pick("x", 0)
    assert str(pick.told("time", 5.594531)) == "5.59 s"
    assert float(pick.told("time", 5.594531)) == 5.59
    assert str(pick.told("factor", 1.23456)) == "1.235"
    assert str(pick.told("count", 619543)) == "619543"
    assert str(pick.about("count", 619543)) == "620000"
    assert len(pick.given) == 5
    assert {Pick("x", seed).word("even", "odd") for seed in range(20)} == {"even", "odd"}


def test_days_are_seconds_in_a_drill():
    found = figures(QUANTITIES["training-days"], params=1e9, tokens=86400e3, gpus=1, achieved=8e12)
    assert found == {"days": pytest.approx(86400.0)}


def test_a_law_remembers_what_the_drill_asked_and_not_what_its_slips_did():
    law = Law(QUANTITIES["fraction-of-floor"])
    assert law.args == {}
    assert law(observed=20.0, floor=8.0)["ratio"] == 0.4
    assert law(observed=20.0, floor=4.0)["ratio"] == 0.2
    assert law.args == {"observed": 20.0, "floor": 8.0}
