"""A test that judges a measurement is tried again where it fails: other work may fall on one launch, a fault does not
go away (decision 46).

It meets runs of its own then, twice at most. A failure that stays is a failure, and so is a session in which many
tests needed it: that would be a lab, or a band, that is not what the tests say it is.
"""

from __future__ import annotations

import pytest

MEASURES = "run"  # the fixture of tests that judge what they measured
TRIES_AGAIN = 2
MOST_IN_A_SESSION = 8


class TriedAgain:
    """Counts the tests that were tried again."""

    def __init__(self) -> None:
        self.tests: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "rerun":
            self.tests.setdefault(report.nodeid, str(report.longreprtext).splitlines()[-1] if report.longrepr else "")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self.tests) > MOST_IN_A_SESSION and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for test, why in self.tests.items():
            terminalreporter.write_line(f"tried again: {test}: {why}")
        if len(self.tests) > MOST_IN_A_SESSION:
            terminalreporter.write_line(
                f"{len(self.tests)} tests were tried again, at most {MOST_IN_A_SESSION} may be: a failure", red=True
            )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(TriedAgain(), "rank37-tried-again")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("lab") and MEASURES in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=TRIES_AGAIN, only_rerun=["AssertionError"]))
