"""From calibration runs to P(finding | cause), with an upper bound and what each number rests on. Pure.

See docs/decisions for why predictive fits, and what the bound of an elimination is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from grader import pooling, predictive
from grader.knowledge import HEALTHY, INCONCLUSIVE, Cell
from grader.tables import CellReport, Rule, TableError, Tables, VariantTable
from grader.tempering import choose_tempering

DETERMINISTIC_SLIP = 0.01  # a configuration read may still be read wrongly
MIN_DETERMINISTIC_RUNS = 3


@dataclass(frozen=True)
class _Sample:
    """The runs of one variant under one cause: data (n, d) on scale."""

    run_ids: tuple[str, ...]
    data: np.ndarray
    findings: tuple[str, ...]


@dataclass(frozen=True)
class _Built:
    cells: dict[str, Cell]
    reports: dict[str, CellReport]
    held_out: dict[str, np.ndarray]  # cause -> (own runs, findings)


def build_tables(
    observations: Iterable[Mapping[str, Any]], rules: Mapping[str, Rule], untouched: Mapping[str, Sequence[str]]
) -> Tables:
    """See `grader.tables.build`."""
    samples, experiments = _collect(observations, rules)
    built = {variant: _build_variant(by_cause, rules[variant]) for variant, by_cause in samples.items()}
    for variant, causes in untouched.items():
        _lend_healthy(variant, built[variant], causes)
    variants = {
        variant: _variant_table(one, samples[variant], rules[variant], experiments[variant])
        for variant, one in built.items()
    }
    runs = {v: {c: (s.run_ids, s.findings, built[v].held_out[c]) for c, s in by.items()} for v, by in samples.items()}
    tempering, losses = choose_tempering(variants, runs)
    return Tables(variants=variants, tempering=tempering, tempering_log_loss_bits=losses)


def clopper_pearson_upper(hits: int, runs: int, confidence: float = 0.95) -> float:
    """One-sided upper bound of a binomial share (Clopper and Pearson 1934). 0 of 30 gives 0.095."""
    return 1.0 if hits >= runs else float(stats.beta.ppf(confidence, hits + 1, runs - hits))


def _collect(
    observations: Iterable[Mapping[str, Any]], rules: Mapping[str, Rule]
) -> tuple[dict[str, dict[str, _Sample]], dict[str, str]]:
    rows: dict[str, dict[str, list[tuple[str, list[float], str]]]] = defaultdict(lambda: defaultdict(list))
    experiments: dict[str, str] = {}
    for seen in observations:
        variant, rule = seen["variant"], rules.get(seen["variant"])
        if rule is None:
            raise TableError(f"run {seen['run_id']}: variant {variant!r} has no rule")
        if seen["finding"] not in rule.findings:
            raise TableError(f"run {seen['run_id']}: {variant} gave {seen['finding']!r}, which its rule does not list")
        experiments[variant] = seen["experiment"]
        rows[variant][seen["cause"]].append((str(seen["run_id"]), _scaled(seen, rule), seen["finding"]))
    return {v: {c: _sample(r) for c, r in by_cause.items()} for v, by_cause in rows.items()}, experiments


def _scaled(seen: Mapping[str, Any], rule: Rule) -> list[float]:
    missing = [name for name, _ in rule.decisive if name not in seen["readings"]]
    if missing:
        raise TableError(f"run {seen['run_id']}: {seen['variant']} lacks the decisive reading {missing[0]!r}")
    return [predictive.to_scale(float(seen["readings"][name]), scale) for name, scale in rule.decisive]


def _sample(rows: Sequence[tuple[str, list[float], str]]) -> _Sample:
    ordered = sorted(rows)  # the order in which runs were taken must not change the table
    return _Sample(
        tuple(r[0] for r in ordered), np.array([r[1] for r in ordered], dtype=float), tuple(r[2] for r in ordered)
    )


def _build_variant(by_cause: Mapping[str, _Sample], rule: Rule) -> _Built:
    findings = {cause: sample.findings for cause, sample in by_cause.items()}
    if rule.deterministic:
        pools = pooling.pool_deterministic(findings)
    else:
        pools = pooling.pool_measured({cause: sample.data for cause, sample in by_cause.items()}, findings)
    within = _covariance_within(by_cause)
    built = _Built({}, {}, {})
    for pool in pools:
        _build_pool(pool, by_cause, rule, within, built)
    return built


def _lend_healthy(variant: str, built: _Built, causes: Sequence[str]) -> None:
    """The cells of causes that the variant cannot show are healthy's, with no run of their own."""
    if HEALTHY not in built.cells:
        raise TableError(f"{variant} has no healthy runs, which {', '.join(causes)} would be read by")
    for cause in causes:
        if cause in built.cells:
            raise TableError(f"{variant} is said to be untouched by {cause}, but has runs of it")
        built.cells[cause] = built.cells[HEALTHY].model_copy(update={"own_runs": 0})
        built.reports[cause] = built.reports[HEALTHY].model_copy(update={"own_runs": 0, "seen": {}})


def _covariance_within(by_cause: Mapping[str, _Sample]) -> np.ndarray:
    """Covariance of the readings within causes, pooled over causes: (readings, readings)."""
    centred = np.concatenate([sample.data - sample.data.mean(axis=0) for sample in by_cause.values()])
    degrees = max(len(centred) - len(by_cause), 1)
    return np.asarray(centred.T @ centred / degrees + 1e-18 * np.eye(centred.shape[1]))


def _build_pool(
    pool: tuple[str, ...], by_cause: Mapping[str, _Sample], rule: Rule, within: np.ndarray, built: _Built
) -> None:
    data = np.concatenate([by_cause[cause].data for cause in pool])
    findings = [f for cause in pool for f in by_cause[cause].findings]
    p, upper, held_out, basis, check = _estimate(data, findings, rule, within)
    start = 0
    for cause in pool:
        own = by_cause[cause].findings
        built.held_out[cause] = held_out[start : start + len(own)]
        start += len(own)
        built.cells[cause] = Cell(
            p=dict(zip(rule.findings, p.tolist(), strict=True)),
            upper=dict(zip(rule.findings, upper.tolist(), strict=True)),
            runs=len(findings), own_runs=len(own), pool=pool, basis=basis,
        )  # fmt: skip
        built.reports[cause] = CellReport(
            own_runs=len(own), runs=len(findings), pool=pool, basis=basis, fit_p=check.p, why_counts=check.reason,
            log_loss_bits=_log_loss(own, built.held_out[cause], rule.findings), seen=dict(sorted(Counter(own).items())),
        )  # fmt: skip


def _estimate(
    data: np.ndarray, seen: Sequence[str], rule: Rule, within: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any, predictive.FitCheck]:
    """P, upper bound, leave-one-out P, basis and fit check of one pool."""
    if rule.deterministic and len(set(seen)) == 1 and len(seen) >= MIN_DETERMINISTIC_RUNS:
        p = np.array([(1 - DETERMINISTIC_SLIP) * (f == seen[0]) for f in rule.findings])
        p += DETERMINISTIC_SLIP / len(rule.findings)
        upper = np.where(p > 0.5, 1.0, 2 * DETERMINISTIC_SLIP)
        return p, upper, np.tile(p, (len(seen), 1)), "deterministic", predictive.FitCheck(False, None)
    if rule.deterministic:
        varies = "a configuration read, but its finding varies within the cause"
        few = f"{len(seen)} of the {MIN_DETERMINISTIC_RUNS} runs that a configuration read needs"
        check = predictive.FitCheck(False, None, few if len(seen) < MIN_DETERMINISTIC_RUNS else varies)
    else:
        check = predictive.check_fit(data, within)
    return (*(_by_fit(data, seen, rule, within) if check.fits else _by_counts(seen, rule)), check)


def _by_counts(seen: Sequence[str], rule: Rule) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Posterior mean under a Dirichlet prior worth one run; Clopper–Pearson bound."""
    counts = np.array([sum(s == f for s in seen) for f in rule.findings], dtype=float)
    share = 1 / len(rule.findings)
    p = (counts + share) / (len(seen) + 1)
    upper = np.array([clopper_pearson_upper(int(k), len(seen)) for k in counts])
    own = np.array([[s == f for f in rule.findings] for s in seen], dtype=float)
    return p, np.maximum(upper, p), (counts - own + share) / len(seen), "counts"


def _by_fit(
    data: np.ndarray, seen: Sequence[str], rule: Rule, within: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """The checked predictive through `classify`, with half a run's worth of doubt about the model itself."""
    names, scales = [n for n, _ in rule.decisive], [s for _, s in rule.decisive]
    found = predictive.predict(data, scales, names, within, rule.classify, list(rule.findings))
    doubt = 0.5 / (len(seen) + 1)
    share = doubt / len(rule.findings)
    p = (1 - doubt) * found.p + share
    counted = np.array([sum(s == f for s in seen) for f in rule.findings]) / len(seen)
    upper = np.minimum(np.maximum.reduce([found.upper, p, counted]), 1.0)
    return p, upper, (1 - doubt) * found.held_out + share, "fit"


def _log_loss(seen: Sequence[str], held_out: np.ndarray, findings: Sequence[str]) -> float:
    chances = [held_out[row, findings.index(finding)] for row, finding in enumerate(seen)]
    return float(-np.log2(np.maximum(chances, 1e-12)).mean())


def _variant_table(built: _Built, by_cause: Mapping[str, _Sample], rule: Rule, experiment: str) -> VariantTable:
    losses = [(report.log_loss_bits, report.own_runs) for report in built.reports.values() if report.own_runs]
    usual, false_rate, unsure_rate = _healthy(by_cause.get(HEALTHY))
    return VariantTable(
        experiment=experiment, findings=rule.findings, deterministic=rule.deterministic,
        cells=built.cells, report=built.reports,
        healthy_finding=usual, healthy_false_rate=false_rate, healthy_inconclusive_rate=unsure_rate,
        log_loss_bits=sum(loss * n for loss, n in losses) / sum(n for _, n in losses),
    )  # fmt: skip


def _healthy(sample: _Sample | None) -> tuple[str | None, float | None, float | None]:
    if sample is None:
        return None, None, None
    conclusive = Counter(f for f in sample.findings if f != INCONCLUSIVE)
    usual = conclusive.most_common(1)[0][0] if conclusive else INCONCLUSIVE
    unsure = sum(f == INCONCLUSIVE for f in sample.findings)
    n = len(sample.findings)
    return usual, (conclusive.total() - conclusive[usual]) / n, unsure / n
