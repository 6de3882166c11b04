"""Every drill of every quantity and level is well posed, whatever the seed."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.drills.base import LEVELS, Drill, figures
from grader.drills.judging import judge
from grader.drills.making import LARGEST_SEED, SLOW_AFTER_S, TEMPLATES, TOPICS, drill, fingerprint
from grader.drills.slips import NAMED
from grader.quantities import QUANTITIES
from grader.units import BASE_UNIT, DECIMAL, QuantityError, format_quantity, parse_quantity

SEEDS = range(40)
IDS = sorted(TEMPLATES)
PINNED = Path(__file__).with_name("pinned.json")
# These ask for what follows from the quantity's result, not for an argument of it.
FURTHER_ON = {"iteration-flops/3"}
PLACE = re.compile(r"\{[a-z_]+")

any_drill = st.builds(drill, st.sampled_from(IDS), st.integers(0, LARGEST_SEED))


def spellings(made: Drill) -> list[str]:
    """The right answer as people may write it."""
    value = made.answer
    if made.kind == "time":
        return [f"{value:.4g} s", f"{value * 1e3:.4g} ms", f"{value / 60:.4g}min", f"~{value / 3600:.4g} h"]
    if made.kind == "data":
        return [f"{value:.4g} B", f"{value / 1e9:.4g} GB", f"{value / 2**30:.4g}GiB", f"{value * 8 / 1e6:.4g} Mbit"]
    if made.kind == "rate":
        return [
            f"{value / 1e9:.4g} Gb/s",
            f"{value / 1e9:.4g}Gbit/s",
            f"{value / 8e9:.4g} GB/s",
            f"{value / 1e6:.4g}Mbps",
        ]
    if made.kind == "ratio":
        return [f"{value:.4g}", f"{value * 100:.4g} %", f"{value * 100:.4g}%"]
    if made.kind == "factor":
        return [f"{value:.4g}", f"{value:.4g} x"]
    if made.kind == "count":
        return [f"{value:.12g}", f"{value:.12g}."] if made.exact else [f"{value:.4g}", f"{value / 1e9:.4g}B"]
    unit = BASE_UNIT[made.kind]
    ending = "FLOP" if unit == "flop" else "FLOP/s"
    return [f"{value / factor:.4g} {prefix}{ending}" for prefix, factor in DECIMAL.items() if prefix in ("G", "T", "P")]


def without_commas(text: str) -> str:
    """7,523 d is written so to be read; typed, it is refused with a hint."""
    return text.replace(",", "")


def test_every_quantity_has_drills_of_every_level_and_a_topic():
    assert set(TEMPLATES) == {f"{quantity}/{level}" for quantity in QUANTITIES for level in LEVELS}
    assert sorted(quantity for topic in TOPICS.values() for quantity in topic.quantities) == sorted(QUANTITIES)
    assert set(SLOW_AFTER_S) == set(LEVELS)


@pytest.mark.parametrize("id", IDS)
def test_a_drill_is_well_posed(id: str):
    for seed in range(300):
        made = drill(id, seed)
        assert math.isfinite(made.answer) and made.answer > 0
        assert made.text.rstrip().endswith("?") and not PLACE.search(made.text)
        assert len(made.steps) >= 1 and made.formula and made.source
        assert all(slip.id in NAMED and slip.told for slip in made.slips)
        if made.exact:
            assert made.answer == round(made.answer)


@pytest.mark.parametrize("id", IDS)
def test_numbers_are_tidy_and_stand_in_the_question(id: str):
    for seed in SEEDS:
        made = drill(id, seed)
        assert made.given
        for number in made.given:
            assert parse_quantity(number.text, number.kind, may_be_zero=True) == float(number)
            assert number.text in made.text, (made.text, number.text)
            digits = number.text.split()[0].replace(".", "").strip("0")
            assert len(digits) <= 4 or (number.kind == "count" and float(number) % 1 == 0), number.text


@pytest.mark.parametrize("id", IDS)
def test_the_answer_is_that_of_the_quantity_itself(id: str):
    """What is asked for, or told in its stead, is what `napkin` says of the same arguments."""
    for seed in SEEDS:
        made = drill(id, seed)
        results = figures(QUANTITIES[made.quantity], **made.args)
        numbers = [v for v in results.values() if isinstance(v, int | float) and not isinstance(v, bool)]
        lists = [v for v in results.values() if isinstance(v, list) and v]
        assert numbers or lists
        among_args = [float(v) for v in made.args.values() if isinstance(v, int | float)]
        if made.level == 3 and id not in FURTHER_ON and not any(_same(made.answer, value) for value in among_args):
            assert any(_same(made.answer, value) for value in numbers), made.text


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9)


@given(any_drill)
@settings(max_examples=300, deadline=None)
def test_the_right_answer_passes_in_every_spelling(made: Drill):
    for typed in [*spellings(made), without_commas(format_quantity(made.answer, made.kind))]:
        assert judge(made, typed).verdict == "right", (made.text, typed, made.answer)


@given(any_drill)
@settings(max_examples=200, deadline=None)
def test_an_answer_in_a_wrong_unit_is_told_so(made: Drill):
    wrong = "3 GB" if made.kind in ("time", "rate", "ratio", "factor", "compute", "compute-rate") else "3 s"
    with pytest.raises(QuantityError, match="is asked for"):
        judge(made, wrong)


@given(any_drill.filter(lambda made: made.kind not in ("ratio", "factor", "count")))
@settings(max_examples=100, deadline=None)
def test_a_number_without_a_unit_is_asked_for_its_unit(made: Drill):
    with pytest.raises(QuantityError, match="Write the unit too"):
        judge(made, "5.6")


@given(any_drill)
@settings(max_examples=400, deadline=None)
def test_each_slip_is_recognised_and_never_accepted(made: Drill):
    for slip in made.slips:
        judged = judge(made, without_commas(format_quantity(slip.value, made.kind)))
        assert judged.verdict == "slip" and judged.slip == slip, (made.text, slip, judged)


@given(any_drill, st.floats(1.25, 6.5), st.booleans())
@settings(max_examples=200, deadline=None)
def test_what_is_neither_right_nor_a_slip_is_wrong(made: Drill, by: float, less: bool):
    value = made.answer / by if less else made.answer * by
    if made.exact:
        value = float(round(value))
    judged = judge(made, f"{value:.9g} {_plain_unit(made)}") if value > 0 else None
    assert judged is None or judged.verdict != "right" or abs(value - made.answer) < 0.5


def _plain_unit(made: Drill) -> str:
    return {"time": "s", "data": "B", "rate": "b/s", "compute": "FLOP", "compute-rate": "FLOP/s"}.get(made.kind, "")


def test_the_slips_that_everyone_makes_are_known_in_many_drills():
    wanted = {
        "bits-for-bytes", "ring-factor", "gib-for-gb", "per-rank-for-total", "total-for-per-rank", "one-way-for-both",
        "upside-down", "step-left-out",
    }  # fmt: skip
    seen = {slip.id for id in IDS for seed in SEEDS for slip in drill(id, seed).slips}
    assert wanted <= seen
    assert seen <= set(NAMED)


@pytest.mark.parametrize("id", IDS)
def test_each_template_gives_many_questions_and_knows_a_slip(id: str):
    made = [drill(id, seed) for seed in range(60)]
    # A level-1 law of one argument has as many questions as that argument has tidy values.
    assert len({one.text for one in made}) >= 6
    assert sum(bool(one.slips) for one in made) > 50


def test_a_thousand_times_off_is_a_prefix():
    made = drill("ring-all-reduce/1", 3)
    assert judge(made, f"{made.answer / 1000:.4g} s").slip.id == "prefix"


def test_bits_typed_for_bytes_is_told_even_where_no_template_says_so():
    made = drill("checkpoint-size/1", 1)
    assert judge(made, f"{made.answer / 1e9:.4g} Gb").slip.id == "bits-for-bytes"


def test_a_seed_gives_the_same_drill_for_ever():
    """A changed template changes what people were asked: pin it anew by hand, and only on purpose."""
    now = {id: [fingerprint(drill(id, seed)) for seed in (0, 1, 2**31 - 1)] for id in IDS}
    assert now == json.loads(PINNED.read_text()), "run `python -m tests.grader.drills.pin` if that was meant"


def test_arguments_are_plain_numbers_and_words():
    for id in IDS:
        for value in drill(id, 5).args.values():
            items = value if isinstance(value, list) else [value]
            assert all(
                isinstance(item, int | float | str | bool) and not isinstance(item, np.generic) for item in items
            )


def test_of_communication_more_than_a_fifth_is_always_left_to_wait_for():
    """What hides nearly whole would ask for next to nothing."""
    for seed in range(1000):
        made = drill("exposed-communication/2", seed)
        assert made.answer > 0.2 * made.args["communication"] * (1 + 1e-6), seed
