"""Quantities as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import units
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

TIME, DATA, COUNT = (
    "Write a time like 5.6 s.",
    "Write an amount of data like 280 GB.",
    "Write a number like 1024 or 70B.",
)
SENTENCES = [
    ("banana", "time", f"I cannot read “banana”. {TIME}"),
    ("  ", "time", f"Nothing was typed. {TIME}"),
    (5.6, "time", f"A quantity is text. {TIME}"),
    ("-3 s", "time", f"A time must be more than zero, and -3 is not. {TIME}"),
    ("0", "count", f"A number must be more than zero, and 0 is not. {COUNT}"),
    ("\u22123 s", "time", f"A time must be more than zero, and -3 is not. {TIME}"),
    ("X5.6 s", "time", f"I cannot read “X5.6 s”. {TIME}"),
    ("5.6", "time", "5.6 of what? Write the unit too, for example 5.6 s."),
    ("1e400 s", "time", f"1e400 is larger than any number I can hold. {TIME}"),
    ("1e308 GB", "data", f"“1e308 GB” is outside anything a cluster has. {DATA}"),
    ("1.1e30", "count", f"“1.1e30” is outside anything a cluster has. {COUNT}"),
    ("5" * 65, "time", f"That is 65 characters; a quantity has at most 64. {TIME}"),
    ("5,6 s", "time", "Write a decimal point and no thousands separator: 5.6 s, not “5,6 s”."),
    ("10^3", "count", f"Powers are not read; write the number out, or as 2.8e11. {COUNT}"),
    ("2**3", "count", f"Powers are not read; write the number out, or as 2.8e11. {COUNT}"),
    ("280 GB", "time", f"280 GB is an amount of data, and a time is asked for. {TIME}"),
    ("93 %", "data", f"93 % is a ratio, and an amount of data is asked for. {DATA}"),
    ("5.6 s", "factor", "5.6 s is a time, and a factor is asked for. Write a factor like 1.34."),
    ("280 gb", "data", "Is “gb” bits or bytes? Write Gb for bits, GB for bytes."),
    ("50 mb/s", "rate", "Is “mb/s” bits or bytes? Write Mb/s for bits, MB/s for bytes."),
    ("10.5", "ratio", "Is 10.5 a per cent? Write 10.5 %, or the plain ratio, for example 0.93."),
    (f"5 {'x' * 24}", "time", f"I do not know the unit “{'x' * 24}”. {TIME}"),
    (f"5 {'x' * 25}", "time", f"I do not know the unit “{'x' * 23}…”. {TIME}"),
]
EDGES = [
    ("10", "ratio", 10.0),
    ("1e30", "count", 1e30),
    ("1e-18 s", "time", 1e-18),
    (f"{'5.6 s':0>64}", "time", 5.6),
    ("≈ 5.6\u00a0s", "time", 5.6),
    ("\u00a05.6\u202fs\u00a0", "time", 5.6),
    ("1e\u22123 s", "time", 1e-3),
    ("3 Mbyte", "data", 3e6),
    ("12", "factor", 12.0),
    ("50 %", "factor", 0.5),
    ("5 K", "count", 5e3),
    ("8 Kib", "data", 1024.0),
    ("1 KB", "data", 1e3),
    ("8 kbits", "data", 1e3),
    ("1 MB/sec", "rate", 8e6),
    ("8 Mbps", "rate", 8e6),
    ("1 MB/second", "rate", 8e6),
    ("1 ZFLOPs", "compute", 1e21),
    ("2 Gflops/s", "compute-rate", 2e9),
]
LONG_AND_SHORT = [
    (999_999, "count", "999999"),
    (1e6, "count", "1 million"),
    (5e15, "count", "5,000 trillion"),
    (1e18, "data", "1,000 PB"),
    (1e19, "data", "10,000 PB"),
    (999_999e15, "data", "999,999 PB"),
    (1e21, "data", "1e+06 PB"),
    (1e24, "data", "1e+09 PB"),
    (1e-12, "time", "0.001 ns"),
    (0.0, "data", "0 B"),
    (999.0, "data", "999 B"),
    (1000.0, "rate", "1 kb/s"),
    (600.0, "time", "10 min"),
    (7200.0, "time", "2 h"),
    (2 * 86400.0, "time", "2 d"),
    (-5.0, "time", "-5 s"),
    (-1e6, "count", "-1 million"),
    (0.5, "ratio", "50 %"),
    (0.12345, "ratio", "12.3 %"),
    (1.23456, "factor", "1.235 ×"),
]


@pytest.mark.parametrize(("text", "kind", "sentence"), SENTENCES, ids=[str(text)[:12] for text, _, _ in SENTENCES])
def test_a_refusal_is_one_whole_sentence_with_the_repair(text, kind, sentence):
    with pytest.raises(QuantityError) as refused:
        parse_quantity(text, kind)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(("text", "kind", "value"), EDGES)
def test_what_lies_just_within_is_read(text, kind, value):
    assert parse_quantity(text, kind) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("value", "kind", "text"), LONG_AND_SHORT)
def test_the_unit_changes_where_a_person_would_change_it(value, kind, text):
    assert format_quantity(value, kind) == text


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
    with pytest.raises(QuantityError, match="outside"):
        parse_quantity("1e-300 s", "time", may_be_zero=True)


def test_the_registry_knows_what_was_put_into_it_and_no_stock_unit():
    known = units.registry()
    assert [name in known for name in ("second", "byte", "flop", "one")] == [True] * 4
    assert [name in known for name in ("meter", "gilbert", "barn", "kg")] == [False] * 4


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


def test_steps_of_a_unit_begin_with_the_largest_prefix():
    assert units._prefixed("B", {"": 1.0, "k": 1e3}) == (("kB", 1e3, 1e3), ("B", 1.0, 1.0))
    assert [name for name, _, _ in units.STEPS["compute"]][:3] == ["YFLOP", "ZFLOP", "EFLOP"]
    assert [name for name, _, _ in units.STEPS["count"]] == ["trillion", "billion", "million"]


def test_bits_and_bytes_have_every_prefix_in_both_cases():
    known = units._data_units()
    assert (known["Mb"], known["mb"], known["KB"], known["kbytes"]) == (
        ("bit", 1e6), ("bit", 1e6), ("byte", 1e3), ("byte", 1e3),
    )  # fmt: skip
    assert (known["Gibit"], known["KiB"], known["b"], known["bytes"]) == (
        ("bit", 2.0**30), ("byte", 2.0**10), ("bit", 1.0), ("byte", 1.0),
    )  # fmt: skip
    assert (known["Tb"], known["PB"], known["Tib"], known["TiB"]) == (
        ("bit", 1e12), ("byte", 1e15), ("bit", 2.0**40), ("byte", 2.0**40),
    )  # fmt: skip
    assert "kib" not in known and "GIB" not in known


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("time", "Write a time like 5.6 s."), ("data", "Write an amount of data like 280 GB."),
        ("rate", "Write a rate like 400 Gb/s."), ("ratio", "Write a ratio like 93 % or 0.93."),
        ("factor", "Write a factor like 1.34."), ("count", "Write a number like 1024 or 70B."),
        ("compute", "Write an amount of computing like 1.5 EFLOP."),
        ("compute-rate", "Write a speed of computing like 312 TFLOP/s."),
    ],
)  # fmt: skip
def test_every_kind_is_hinted_at_by_an_example_that_is_read(kind, hint):
    with pytest.raises(QuantityError) as refused:
        parse_quantity("banana", kind)
    assert str(refused.value) == f"I cannot read “banana”. {hint}"
    assert parse_quantity(units.EXAMPLE[kind].split(" or ")[0], kind) > 0


SPELLINGS = {
    ("time", 1.0): "s sec secs second seconds",
    ("time", 1e-3): "ms millisecond milliseconds",
    ("time", 1e-6): "us µs μs microsecond microseconds",
    ("time", 1e-9): "ns nanosecond nanoseconds",
    ("time", 60.0): "min mins minute minutes",
    ("time", 3600.0): "h hour hours",
    ("time", 86400.0): "d day days",
    ("ratio", 0.01): "% percent",
    ("factor", 1.0): "x ×",
    ("count", 1e3): "k K",
    ("count", 1e6): "M million",
    ("count", 1e9): "B billion",
    ("count", 1e12): "T trillion",
    ("rate", 8e9): "GB/s GB/sec GB/second GBps",
    ("rate", 1e9): "Gb/s Gbit/sec Gbits/second Gbps Gbit Gb",
    ("compute", 1e15): "PFLOP PFLOPs Pflop Pflops",
    ("compute-rate", 1e15): "PFLOP/s PFLOPs/s Pflop/s Pflops/s PFLOPS PFLOP PFLOPs",
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value", "unit"),
    [(kind, value, unit) for (kind, value), spelled in SPELLINGS.items() for unit in spelled.split()],
)
def test_every_spelling_of_a_unit_is_read(kind, value, unit):
    assert parse_quantity(f"3 {unit}", kind) == pytest.approx(3 * value, rel=1e-12)
    assert parse_quantity(f"3{unit}", kind) == pytest.approx(3 * value, rel=1e-12)
