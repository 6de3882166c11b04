"""One knowledge for all of the grader's tests, built from simulated runs once."""

import pytest

from tests.grader import simulated


@pytest.fixture(scope="session")
def knowledge():
    return simulated.knowledge()
