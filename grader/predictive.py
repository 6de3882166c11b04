"""Predictive distributions of continuous readings from few runs, and the check that they fit.

Model: on its stated scale a reading is normal within a cause. Prior on the mean: flat. Prior on the variance: worth
two runs, centred on the covariance within causes (normal-inverse-gamma; with correlated readings jointly
normal-inverse-Wishart). Predictive: Student t. Source of the formulas: Gelman et al., Bayesian Data Analysis, 3rd
edition, sections 3.3 and 3.6. All draws are quasi-random with fixed seeds: the same runs give the same table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from scipy import stats
from scipy.stats import qmc

Scale = Literal["linear", "log", "logit"]
EDGE = 1e-4  # a share cannot be told from its bound closer than this
POINTS = 2048
POSTERIOR_DRAWS = 256
CORRELATED_BELOW = 0.05
NO_TWO_ARE_ONE = 1e-9
FITS_FROM = 0.05
MIN_RUNS_TO_FIT = 8


def to_scale(value: float, scale: str) -> float:
    """A reading on its fitting scale; values past what the scale can hold move to its edge (1e-4)."""
    if scale == "log":
        return math.log(max(value, EDGE))
    if scale == "logit":
        inside = min(max(value, EDGE), 1 - EDGE)
        return math.log(inside / (1 - inside))
    return value


def from_scale(scaled: np.ndarray, scale: str) -> np.ndarray:
    """The inverse of `to_scale`, for arrays of draws."""
    if scale == "log":
        return np.asarray(np.exp(np.minimum(scaled, 700.0)))
    if scale == "logit":
        return np.asarray(1 / (1 + np.exp(-np.clip(scaled, -700.0, 700.0))))
    return scaled


@dataclass(frozen=True)
class Block:
    """Posterior of one group of readings: xbar (d,), n, nu and psi (d, d) of the inverse Wishart."""

    columns: tuple[int, ...]
    mean: np.ndarray
    runs: int
    nu: float
    psi: np.ndarray

    @property
    def df(self) -> float:
        return self.nu - len(self.columns) + 1

    @property
    def shape(self) -> np.ndarray:
        """Scale matrix of the predictive t."""
        return self.psi * (self.runs + 1) / (self.runs * self.df)


@dataclass(frozen=True)
class FitCheck:
    """`p` is the smaller of two tests over readings, Bonferroni: uniform leave-one-out PIT (KS), and no outlier.

    A predictive that is too wide for its runs passes the first: it errs on the side of excluding less.
    """

    fits: bool
    p: float | None
    reason: str = ""


@dataclass(frozen=True)
class Predicted:
    """P(finding) by the predictive, its one-sided upper 95 % bound, and leave-one-out P (runs, findings)."""

    p: np.ndarray
    upper: np.ndarray
    held_out: np.ndarray


def fit_blocks(data: np.ndarray, prior_covariance: np.ndarray) -> list[Block]:
    """One block a reading, or one block of all where two readings are correlated (Pearson, p < 0.05). data: (n, d)."""
    columns = range(data.shape[1])
    groups = [tuple(columns)] if _correlated(data) else [(column,) for column in columns]
    return [_fit(data, group, prior_covariance) for group in groups]


def check_fit(data: np.ndarray, prior_covariance: np.ndarray) -> FitCheck:
    """Whether the normal model on this scale predicts each run from the others. data: (n, d)."""
    if len(data) < MIN_RUNS_TO_FIT:
        return FitCheck(False, None, f"{len(data)} runs; a fit needs {MIN_RUNS_TO_FIT}")
    if not np.isfinite(data).all() or (data.std(axis=0) < 1e-9).any():
        return FitCheck(False, None, "a reading does not vary")
    worst = 1.0
    for column in range(data.shape[1]):
        pit = _leave_one_out_pit(data[:, column], float(prior_covariance[column, column]))
        uniform = 1.0 if _is_too_wide(pit) else stats.kstest(pit, "uniform").pvalue
        outlier = min(1.0, len(pit) * 2 * float(np.minimum(pit, 1 - pit).min()))
        worst = min(worst, 2 * float(uniform), 2 * outlier)
    p = min(1.0, worst * data.shape[1])
    return FitCheck(p >= FITS_FROM, p, "" if p >= FITS_FROM else "the runs do not follow the fit")


def predict(
    data: np.ndarray,
    scales: Sequence[str],
    names: Sequence[str],
    prior_covariance: np.ndarray,
    classify: Callable[[Mapping[str, float]], str],
    findings: Sequence[str],
) -> Predicted:
    """Push the predictive through `classify`. data: (n, d) on scale; returns arrays over `findings`.

    Points are drawn once from the predictive t and classified once; posterior draws of (mean, variance) and the
    leave-one-out predictives reweigh the same points.
    """
    blocks = fit_blocks(data, prior_covariance)
    points, log_density = _points(blocks, data.shape[1])
    hits = _classified(points, scales, names, classify, findings)
    by_draw = _weighted(_draw_log_densities(blocks, points) - log_density, hits)
    densities = [
        _predictive_log_density(_without(data, row, blocks, prior_covariance), points) for row in range(len(data))
    ]
    held_out = _weighted(np.array(densities) - log_density, hits)
    return Predicted(hits.mean(axis=0), np.quantile(by_draw, 0.95, axis=0), held_out)


def _correlated(data: np.ndarray) -> bool:
    width = data.shape[1]
    pairs = [(a, b) for a in range(width) for b in range(a)]
    return any(stats.pearsonr(data[:, a], data[:, b]).pvalue < CORRELATED_BELOW for a, b in pairs)


def _fit(data: np.ndarray, columns: tuple[int, ...], prior_covariance: np.ndarray) -> Block:
    part, width = data[:, columns], len(columns)
    centred = part - part.mean(axis=0)
    nu0 = width + 1  # worth two runs in one dimension
    psi = nu0 * prior_covariance[np.ix_(columns, columns)] + centred.T @ centred
    # Two readings that always move together leave no room between them, and a matrix without an inverse.
    psi += NO_TWO_ARE_ONE * np.diag(np.diagonal(psi))
    return Block(columns, part.mean(axis=0), len(part), nu0 + len(part) - 1, psi)


def _without(data: np.ndarray, row: int, blocks: list[Block], prior_covariance: np.ndarray) -> list[Block]:
    rest = np.delete(data, row, axis=0)
    return [_fit(rest, block.columns, prior_covariance) for block in blocks]


def _is_too_wide(pit: np.ndarray) -> bool:
    """Whether the runs lie closer together than predicted: the shared prior on the variance outweighs a small spread.

    Such a fit claims less than the runs would allow, so it excludes nothing that they would not.
    """
    return bool(stats.kstest(np.abs(2 * pit - 1), "uniform", alternative="greater").pvalue < FITS_FROM)


def _leave_one_out_pit(values: np.ndarray, prior_variance: float) -> np.ndarray:
    n = len(values) - 1
    means = (values.sum() - values) / n
    squares = ((values**2).sum() - values**2) - n * means**2
    df = 2 + n - 1
    scale = np.sqrt((2 * prior_variance + np.maximum(squares, 0)) * (n + 1) / (n * df))
    return np.asarray(stats.t.cdf((values - means) / scale, df))


@cache
def _sobol(dimensions: int, count: int, seed: int) -> np.ndarray:
    draws = qmc.Sobol(dimensions, scramble=True, seed=seed).random(count)
    return np.asarray(np.clip(draws, 1e-9, 1 - 1e-9))


def _points(blocks: list[Block], width: int) -> tuple[np.ndarray, np.ndarray]:
    """POINTS quasi-random draws from the predictive, (points, width), and their log density under it."""
    uniform = (np.arange(POINTS)[:, None] + 0.5) / POINTS if width == 1 else _sobol(width + len(blocks), POINTS, 37)
    points = np.empty((POINTS, width))
    for number, block in enumerate(blocks):
        own = uniform[:, list(block.columns)]
        if len(block.columns) == 1:
            standard = stats.t.ppf(own, block.df)
        else:
            mixing = stats.chi2.ppf(uniform[:, width + number], block.df) / block.df
            standard = stats.norm.ppf(own) / np.sqrt(mixing)[:, None]
        points[:, list(block.columns)] = block.mean + standard @ np.linalg.cholesky(block.shape).T
    return points, _predictive_log_density(blocks, points)


def _predictive_log_density(blocks: list[Block], points: np.ndarray) -> np.ndarray:
    total = np.zeros(len(points))
    for block in blocks:
        own = points[:, list(block.columns)]
        units = _units(block.shape)
        shape = block.shape / np.outer(units, units)
        total += stats.multivariate_t.logpdf((own - block.mean) / units, shape=shape, df=block.df) - np.log(units).sum()
    return total


def _draw_log_densities(blocks: list[Block], points: np.ndarray) -> np.ndarray:
    """Log density of every point under every posterior draw of (mean, variance): (draws, points)."""
    total = np.zeros((POSTERIOR_DRAWS, len(points)))
    for number, block in enumerate(blocks):
        total += _normal_log_density(*_posterior_draws(block, seed=101 + number), points[:, list(block.columns)])
    return total


def _posterior_draws(block: Block, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means (draws, d) and Cholesky factors of the precision (draws, d, d), by Bartlett's decomposition."""
    width = len(block.columns)
    lower = [(row, column) for row in range(width) for column in range(row)]
    uniform = _sobol(2 * width + len(lower), POSTERIOR_DRAWS, seed)
    bartlett = np.zeros((POSTERIOR_DRAWS, width, width))
    for i in range(width):
        bartlett[:, i, i] = np.sqrt(stats.chi2.ppf(uniform[:, i], block.nu - i))
    for number, (row, column) in enumerate(lower):
        bartlett[:, row, column] = stats.norm.ppf(uniform[:, 2 * width + number])
    units = _units(block.psi)
    correlation = block.psi / np.outer(units, units)
    precision_root = np.linalg.cholesky(np.linalg.inv(correlation)) / units[:, None] @ bartlett
    # Solving with the root's transpose turns standard normals into draws of variance precision⁻¹.
    standard = stats.norm.ppf(uniform[:, width : 2 * width])[:, :, None]
    spread = np.linalg.solve(np.swapaxes(precision_root, 1, 2), standard)[:, :, 0]
    return block.mean + spread / math.sqrt(block.runs), precision_root


def _units(covariance: np.ndarray) -> np.ndarray:
    """Standard deviations (d,): where spreads differ much, the small are lost in the units of the large."""
    return np.asarray(np.sqrt(np.diagonal(covariance)))


def _normal_log_density(means: np.ndarray, precision_root: np.ndarray, points: np.ndarray) -> np.ndarray:
    width = points.shape[1]
    offsets = points[None] - means[:, None, :]
    distances = ((offsets @ precision_root) ** 2).sum(axis=2)
    log_root_det = np.log(np.abs(np.diagonal(precision_root, axis1=1, axis2=2))).sum(axis=1)
    return np.asarray(log_root_det[:, None] - 0.5 * distances - 0.5 * width * math.log(2 * math.pi))


def _classified(
    points: np.ndarray,
    scales: Sequence[str],
    names: Sequence[str],
    classify: Callable[[Mapping[str, float]], str],
    findings: Sequence[str],
) -> np.ndarray:
    values = np.column_stack([from_scale(points[:, i], scale) for i, scale in enumerate(scales)])
    hits = np.zeros((len(points), len(findings)))
    for row, value in enumerate(values.tolist()):
        hits[row, findings.index(classify(dict(zip(names, value, strict=True))))] = 1
    return hits


def _weighted(log_weights: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """Self-normalised importance weights (rows, points) applied to hits (points, findings)."""
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    return np.asarray((weights @ hits) / weights.sum(axis=1, keepdims=True))
