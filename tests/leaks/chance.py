"""The classifier, and what it reaches by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

FOLDS = 4
PERMUTATIONS = 60


def as_table(rows: Sequence[dict[str, float]], causes: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Attempts as rows of features, 0 where an attempt has not got one; and their causes."""
    names = sorted(set().union(*rows))
    return np.array([[row.get(name, 0.0) for name in names] for row in rows]), np.array(causes)


def accuracy(features: np.ndarray, causes: np.ndarray, seed: int) -> float:
    """Of causes in parts that the classifier was not trained on."""
    # Hundreds of features, most of them alike for all: first those that differ most between causes.
    chosen = make_pipeline(
        VarianceThreshold(), SelectKBest(k=20), ExtraTreesClassifier(30, min_samples_leaf=2, random_state=seed)
    )
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    return float(np.mean(cross_val_score(chosen, features, causes, cv=folds)))


def band_of_chance(features: np.ndarray, causes: np.ndarray) -> float:
    """The upper end of the 95 % band of accuracies under permuted causes."""
    rng = np.random.default_rng(0)
    chance = [accuracy(features, rng.permutation(causes), seed) for seed in range(PERMUTATIONS)]
    return float(np.quantile(chance, 0.975))
