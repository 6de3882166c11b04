"""Numbers as people read them."""

import math

import pytest

from gpu_worker.readable import say


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (5.6, "s", "5.60 s"),
        (0.4123, "s", "412 ms"),
        (0.0000042, "s", "4.20 µs"),
        (0, "s", "0 s"),
        (-0.012, "s", "-12 ms"),
        (400e6, "bit/s", "400 Mb/s"),
        (14_772_000, "B", "14.8 MB"),
        (0.123, "share", "12.3 %"),
        (0.9551, "ratio", "0.955"),
        (1234567, "count", "1,234,567"),
        ("rank 2", "text", "rank 2"),
        (None, "s", "–"),
        (math.nan, "s", "–"),
    ],
)
def test_a_value_is_said_with_three_digits_and_a_fitting_unit(value, unit, text):
    assert say(value, unit) == text
