"""A classifier trained on everything but the readings stays at chance: nothing beside them tells the cause."""

from __future__ import annotations

import numpy as np
import pytest

from tests.leaks.beside import Collector
from tests.leaks.chance import accuracy, as_table, band_of_chance

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ATTEMPTS = 200
STEPS_AN_ATTEMPT = 5
# One sample in forty of a page that leaks nothing lies above the band; a leak lies there every time.
SAMPLES = 3


def collected(first_seed: int) -> tuple[np.ndarray, np.ndarray]:
    played = [Collector(seed, STEPS_AN_ATTEMPT).play() for seed in range(first_seed, first_seed + ATTEMPTS)]
    return as_table([features for features, _ in played], [cause for _, cause in played])


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
