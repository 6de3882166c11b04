"""Tests that judge a measurement are tried again, and only those, and not for ever."""

from __future__ import annotations

import pytest

from config import paths
from tests.support.tried_again import MOST_IN_A_SESSION

CONFTEST = """
import pytest
pytest_plugins = ["tests.support.tried_again"]
def pytest_configure(config):
    config.addinivalue_line("markers", "lab: measures")
@pytest.fixture
def run(request):
    return lambda: getattr(request.node, "execution_count", 1)
"""


def outcomes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tests: str) -> tuple[int, dict[str, int]]:
    monkeypatch.delenv("GUARD_FILE", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(paths.BASE_DIR))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile("import pytest\npytestmark = pytest.mark.lab\n" + tests)
    done = pytester.runpytest_subprocess("-p", "no:django", "-p", "no:cacheprovider", "-p", "no:xdist")
    return done.ret, done.parseoutcomes()


@pytest.mark.parametrize("good_launch, ret, counts", [(1, 0, {"passed": 1}), (3, 0, {"passed": 1, "rerun": 2})])
def test_a_measurement_that_comes_right_within_three_launches_passes(pytester, monkeypatch, good_launch, ret, counts):
    assert outcomes(pytester, monkeypatch, f"def test_it(run): assert run() == {good_launch}") == (ret, counts)


def test_one_that_stays_wrong_fails(pytester, monkeypatch):
    assert outcomes(pytester, monkeypatch, "def test_it(run): assert run() > 3") == (1, {"failed": 1, "rerun": 2})


def test_another_error_and_a_test_that_measures_nothing_fail_at_once(pytester, monkeypatch):
    tests = "def test_it(run): raise OSError('gone')\ndef test_other(): assert False"
    assert outcomes(pytester, monkeypatch, tests) == (1, {"failed": 2})


def test_many_that_needed_another_launch_fail_the_session(pytester, monkeypatch):
    many = MOST_IN_A_SESSION + 1
    tests = f"@pytest.mark.parametrize('n', range({many}))\ndef test_it(run, n): assert run() == 2"
    assert outcomes(pytester, monkeypatch, tests) == (1, {"passed": many, "rerun": many})
