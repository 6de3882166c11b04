"""A classifier trained on everything but the readings stays at chance: nothing beside them tells the cause."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from tests.leaks.beside import Collector

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ATTEMPTS = 200
STEPS_AN_ATTEMPT = 5
FOLDS = 4
PERMUTATIONS = 80
# One sample in forty of a page that leaks nothing lies above the band; a leak lies there every time.
SAMPLES = 3


def collected(first_seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Attempts as rows of features (0 where an attempt did not choose that step), and their causes."""
    rows, causes = [], []
    for seed in range(first_seed, first_seed + ATTEMPTS):
        features, cause = Collector(seed, STEPS_AN_ATTEMPT).play()
        rows.append(features)
        causes.append(cause)
    names = sorted(set().union(*rows))
    return np.array([[row.get(name, 0.0) for name in names] for row in rows]), np.array(causes)


def accuracy(features: np.ndarray, causes: np.ndarray, seed: int) -> float:
    # Hundreds of features, most of them alike for all: first those that differ most between causes.
    chosen = make_pipeline(
        VarianceThreshold(), SelectKBest(k=20), ExtraTreesClassifier(40, min_samples_leaf=2, random_state=seed)
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return float(np.mean(cross_val_score(chosen, features, causes, cv=folds)))


def band_of_chance(features: np.ndarray, causes: np.ndarray) -> float:
    """The upper end of the 95 % band of accuracies under permuted causes."""
    rng = np.random.default_rng(0)
    chance = [accuracy(features, rng.permutation(causes), seed) for seed in range(PERMUTATIONS)]
    return float(np.quantile(chance, 0.975))


def with_a_hint(features: np.ndarray, causes: np.ndarray) -> np.ndarray:
    """The same with one more number, which follows from the cause with some noise."""
    names = sorted(set(causes))
    noise = np.random.default_rng(1).normal(0, 0.5, len(causes))
    return np.column_stack([features, np.array([names.index(cause) for cause in causes]) + noise])


def test_nothing_beside_the_readings_tells_the_cause():
    told = []
    for sample in range(SAMPLES):
        features, causes = collected(1000 * sample)
        assert len(set(causes)) >= 5
        assert features.shape[1] > 100
        seen, chance = accuracy(features, causes, seed=sample), band_of_chance(features, causes)
        print(f"accuracy {seen:.3f}, upper end of the band of chance {chance:.3f}")
        assert accuracy(with_a_hint(features, causes), causes, seed=sample) > chance + 0.1, "the classifier is blind"
        if seen <= chance:
            return
        told.append(f"{seen:.3f} > {chance:.3f}")
    raise AssertionError(f"accuracies above the band of chance in every sample: {', '.join(told)}")
