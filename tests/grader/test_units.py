"""Quantities as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.units import BASE_UNIT, QuantityError, format_quantity, parse_quantity

READ = [
    ("5.6 s", "time", 5.6),
    ("0.42s", "time", 0.42),
    ("420 ms", "time", 0.42),
    ("~5.6 seconds", "time", 5.6),
    ("2 min", "time", 120.0),
    ("280 GB", "data", 280e9),
    ("14MB", "data", 14e6),
    ("14 MiB", "data", 14 * 2**20),
    ("2240 Gbit", "data", 280e9),
    ("400Gb/s", "rate", 400e9),
    ("400 Gbit/s", "rate", 400e9),
    ("400 Gbps", "rate", 400e9),
    ("400Mbit", "rate", 400e6),
    ("50 GB/s", "rate", 400e9),
    ("93 %", "ratio", 0.93),
    ("93%", "ratio", 0.93),
    ("0.93", "ratio", 0.93),
    ("1024", "count", 1024.0),
    ("70B", "count", 70e9),
    ("1.5 trillion", "count", 1.5e12),
    ("238.3k", "count", 238_300.0),
    ("1.34", "factor", 1.34),
    ("12 x", "factor", 12.0),
    ("312 TFLOP/s", "compute-rate", 312e12),
    ("1 PFLOPS", "compute-rate", 1e15),
    ("275 TFLOPs", "compute-rate", 275e12),
    ("4.5 EFLOP", "compute", 4.5e18),
]

WRITTEN = [
    (5.59, "time", "5.59 s"),
    (0.0, "time", "0 s"),
    (508.0, "time", "508 s"),
    (1508.0, "time", "25.1 min"),
    (1777.5, "time", "29.6 min"),
    (7.9 * 3600, "time", "7.9 h"),
    (54 * 86400, "time", "54 d"),
    (999.7e6, "data", "1 GB"),
    (279.7e9, "data", "280 GB"),
    (1.998, "factor", "1.998 ×"),
    (1024, "count", "1024"),
    (174.6e9, "count", "175 billion"),
    (4.51e18, "compute", "4.51 EFLOP"),
    (140e12, "compute-rate", "140 TFLOP/s"),
]

REFUSED = [
    ("banana", "time", "5.6 s"),
    ("", "time", "Nothing was typed"),
    ("-3 s", "time", "more than zero"),
    ("0 s", "time", "more than zero"),
    ("5.6", "time", "Write the unit too"),
    ("1e400 s", "time", "larger than any number"),
    ("1e308 GB", "data", "outside"),
    ("1e-300 s", "time", "outside"),
    ("x" * 10_000_000, "time", "at most 64"),
    ("5,6 s", "time", "decimal point"),
    ("1,400 s", "time", "decimal point"),
    ("9**9**9", "count", "Powers"),
    ("10^3 s", "time", "Powers"),
    ("280 GB", "time", "is an amount of data"),
    ("400 Gb/s", "data", "is a rate"),
    ("280 gb", "data", "bits or bytes"),
    ("93", "ratio", "93 %"),
    ("nan s", "time", "cannot read"),
    ("140MB / 400Mbit/s", "time", "do not know the unit"),
    ("280 GB", "count", "is an amount of data"),
    ("312 TFLOP/s", "compute", "is a speed of computing"),
    ("312", "compute-rate", "Write the unit too"),
]


@pytest.mark.parametrize(("text", "kind", "value"), READ)
def test_a_quantity_is_read_in_si(text, kind, value):
    assert parse_quantity(text, kind) == pytest.approx(value)


@pytest.mark.parametrize(("value", "kind", "text"), WRITTEN)
def test_a_value_is_written_as_a_person_would(value, kind, text):
    assert format_quantity(value, kind) == text


def test_zero_is_read_only_where_it_may_be():
    assert parse_quantity("0 s", "time", may_be_zero=True) == 0
    with pytest.raises(QuantityError, match="zero or more"):
        parse_quantity("-1 s", "time", may_be_zero=True)


@pytest.mark.parametrize(("text", "kind", "says"), REFUSED, ids=[text[:12] for text, _, _ in REFUSED])
def test_a_quantity_that_cannot_be_read_says_what_to_type(text, kind, says):
    with pytest.raises(QuantityError, match=says) as refused:
        parse_quantity(text, kind)
    assert len(str(refused.value)) < 200


@given(text=st.text(max_size=80), kind=st.sampled_from(sorted(BASE_UNIT)))
def test_any_text_is_either_read_or_refused_with_a_sentence(text, kind):
    try:
        assert parse_quantity(text, kind) > 0
    except QuantityError as refused:
        assert str(refused).endswith((".", "”."))


@given(
    value=st.floats(min_value=1e-8, max_value=1e16, allow_nan=False),
    kind=st.sampled_from(["time", "data", "rate", "ratio", "factor", "compute", "compute-rate"]),
)
def test_what_is_written_is_read_back(value, kind):
    if kind not in ("time", "ratio", "factor") and (value < 1 or value > 1e14):
        return
    written = format_quantity(value, kind)
    if "," not in written:
        assert parse_quantity(written, kind) == pytest.approx(value, rel=0.006)
