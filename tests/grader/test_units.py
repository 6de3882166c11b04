"""Quantities as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.units import QuantityError, format_quantity, parse_quantity

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
]


@pytest.mark.parametrize(("text", "kind", "value"), READ)
def test_a_quantity_is_read_in_si(text, kind, value):
    assert parse_quantity(text, kind) == pytest.approx(value)


@pytest.mark.parametrize(("text", "kind", "says"), REFUSED, ids=[text[:12] for text, _, _ in REFUSED])
def test_a_quantity_that_cannot_be_read_says_what_to_type(text, kind, says):
    with pytest.raises(QuantityError, match=says) as refused:
        parse_quantity(text, kind)
    assert len(str(refused.value)) < 200


@given(text=st.text(max_size=80), kind=st.sampled_from(["time", "data", "rate", "ratio", "count"]))
def test_any_text_is_either_read_or_refused_with_a_sentence(text, kind):
    try:
        assert parse_quantity(text, kind) > 0
    except QuantityError as refused:
        assert str(refused).endswith((".", "”."))


@given(
    value=st.floats(min_value=1e-8, max_value=1e16, allow_nan=False),
    kind=st.sampled_from(["time", "data", "rate", "ratio"]),
)
def test_what_is_written_is_read_back(value, kind):
    if kind in ("data", "rate") and (value < 1 or value > 1e14):
        return
    written = format_quantity(value, kind)
    if "," not in written:
        assert parse_quantity(written, kind) == pytest.approx(value, rel=0.006)
