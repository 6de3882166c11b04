"""A few kills at random moments; `kill_hundred` is the long form."""

from __future__ import annotations

import pytest

from tests.gpu_worker.lab.kill_hundred import kill_often

pytestmark = [pytest.mark.lab, pytest.mark.long]

KILLS = 5


def test_after_kills_at_random_moments_nothing_is_left_and_the_next_measurement_is_healthy(tmp_path):
    tally = kill_often(KILLS, seed=1, folder=tmp_path, longest_wait_s=3.0)
    assert tally.left == []
    assert tally.unhealthy == []
    assert tally.killed == KILLS and tally.healthy >= 2
