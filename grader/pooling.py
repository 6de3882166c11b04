"""Which causes one probe cannot tell apart: those share their runs, so that most cells reach thirty cheaply."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb

import numpy as np
from scipy import stats

# Each pair is tested without a correction for the number of pairs: a correction would pool more, and to pool two
# causes that differ is the costlier mistake.
DIFFER_BELOW = 0.05
# The fewest runs that a test can tell anything of: three against eight can differ at p = 0.012, against three not.
MIN_RUNS_TO_POOL = 3


def pool_measured(data: Mapping[str, np.ndarray], findings: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Pools of causes by complete linkage: all pairs of a pool that can be tested are alike in place, spread, findings.

    Causes of many runs come first; one of few joins where it was tested against at least one of many.
    `data`: cause -> (runs, readings) on their scales. `findings`: cause -> one a run.
    """
    pools: list[list[str]] = []
    for cause in sorted(data, key=lambda one: -len(data[one])):
        home = next((p for p in pools if _belongs(data, findings, cause, p)), None)
        if home is None:
            pools.append([cause])
        else:
            home.append(cause)
    return [tuple(pool) for pool in pools]


def pool_deterministic(findings: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Causes whose every run gave the same one finding share a pool; a cause with several findings stays alone."""
    pools: dict[str, list[str]] = {}
    for cause, seen in findings.items():
        key = seen[0] if len(set(seen)) == 1 else f"{cause}: several"
        pools.setdefault(key, []).append(cause)
    return [tuple(pool) for pool in pools.values()]


def _belongs(
    data: Mapping[str, np.ndarray], findings: Mapping[str, Sequence[str]], cause: str, pool: Sequence[str]
) -> bool:
    tested = [member for member in pool if _testable(len(data[cause]), len(data[member]))]
    same = all(_mode(findings[cause]) == _mode(findings[member]) for member in pool)
    return bool(tested) and same and all(_alike(data, findings, cause, member) for member in tested)


def _testable(runs_a: int, runs_b: int) -> bool:
    """Whether runs that lie wholly apart would be told apart: the least p that Mann–Whitney can give."""
    least_p = 2 / comb(runs_a + runs_b, runs_a)
    return min(runs_a, runs_b) >= MIN_RUNS_TO_POOL and least_p < DIFFER_BELOW


def _alike(data: Mapping[str, np.ndarray], findings: Mapping[str, Sequence[str]], a: str, b: str) -> bool:
    if _mode(findings[a]) != _mode(findings[b]) or _differ_in_findings(findings[a], findings[b]):
        return False
    return not any(_differ(data[a][:, i], data[b][:, i]) for i in range(data[a].shape[1]))


def _differ(a: np.ndarray, b: np.ndarray) -> bool:
    """Place by Mann–Whitney, spread by Brown–Forsythe."""
    if np.ptp(np.concatenate([a, b])) == 0:
        return False
    if stats.mannwhitneyu(a, b).pvalue < DIFFER_BELOW:
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a constant sample: its spread test is undefined, its place test was not
        spread = stats.levene(a, b, center="median").pvalue
    return bool(spread < DIFFER_BELOW)


def _differ_in_findings(a: Sequence[str], b: Sequence[str]) -> bool:
    count_a, count_b = Counter(a), Counter(b)
    for finding in {*count_a, *count_b}:
        table = [[count_a[finding], len(a) - count_a[finding]], [count_b[finding], len(b) - count_b[finding]]]
        if stats.fisher_exact(table).pvalue < DIFFER_BELOW:
            return True
    return False


def _mode(seen: Sequence[str]) -> str:
    return Counter(seen).most_common(1)[0][0]
