"""Arguments checked at the door, so that formulas stay formulas.

A number comes out of a check as a plain `int` or `float`, everything else as a float64 array.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

# A number, or an array of the broadcast shape. NumPy's types cannot say "as the arguments were", and a union would
# make every caller with plain numbers prove that it got one back.
Values: TypeAlias = Any


def more_than_zero(name: str, values: ArrayLike) -> Values:
    """`values`, each more than zero and finite; else ValueError."""
    return _checked(name, values, lambda array: array > 0, "more than zero and finite")


def zero_or_more(name: str, values: ArrayLike) -> Values:
    """`values`, each zero or more and finite; else ValueError."""
    return _checked(name, values, lambda array: array >= 0, "zero or more and finite")


def at_least(name: str, values: ArrayLike, least: float) -> Values:
    """`values`, each finite and `least` or more; else ValueError."""
    return _checked(name, values, lambda array: array >= least, f"{least:g} or more and finite")


def share(name: str, values: ArrayLike) -> Values:
    """`values`, each from 0 to 1; else ValueError."""
    return _checked(name, values, lambda array: (array >= 0) & (array <= 1), "from 0 to 1")


def whole(name: str, values: ArrayLike, least: int = 1) -> Values:
    """`values`, each a whole number of at least `least`; else ValueError. A single one comes out as an int."""
    fits = _checked(
        name, values, lambda array: (array >= least) & (array % 1 == 0), f"a whole number of at least {least}"
    )
    return fits if isinstance(fits, np.ndarray) else int(fits)


def choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """`value` if it is one of `choices`; else ValueError with all of them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


def plain(values: Any) -> Values:
    """What NumPy returned for single numbers as a plain number or word; an array as it is."""
    if type(values) in (int, float):
        return values
    array = np.asarray(values)
    return array.item() if array.ndim == 0 else array


def _checked(name: str, values: ArrayLike, fits: Callable[[Any], Any], allowed: str) -> Values:
    checked: Any
    try:
        # Readings ask for thousands of single floors, and an array for each would take several times as long.
        if isinstance(values, int | float):
            wrong = [] if isfinite(values) and fits(values) else [values]
            checked = values if isinstance(values, int) else float(values)
        else:
            checked = np.asarray(values, dtype=np.float64)
            with np.errstate(invalid="ignore"):  # what is infinite is refused in words
                wrong = checked[~(np.isfinite(checked) & fits(checked))].tolist()
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {allowed}, not {str(values)[:40]}") from None
    if wrong:
        raise ValueError(f"{name} must be {allowed}, not {wrong[0]:g}")
    return plain(checked)
