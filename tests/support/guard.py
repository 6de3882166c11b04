"""Fails a run in which a group of tests ran nothing: no browser, no namespace, no Redis or no PostgreSQL is no pass.

In CI a skip inside a group is a failure at once. Across the phases of `make test` each phase writes what ran to the
file that GUARD_FILE names, and the suite adds the phases up.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

GROUPS = ("lab", "browser", "redis", "stack", "postgres")
OUTCOMES = ("failed", "passed", "skipped", "xfailed", "xpassed", "error")


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def is_worker(config: pytest.Config) -> bool:
    """One of xdist's workers: the controller counts."""
    return hasattr(config, "workerinput")


def on_postgres() -> bool:
    return os.environ.get("DATABASE_URL", "").startswith("postgres")


class Guard:
    """Counts what ran and what was skipped, a group."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.skipped: dict[str, list[str]] = {}

    def groups_of(self, report: pytest.TestReport) -> list[str]:
        found = [group for group in GROUPS if group in report.keywords]
        return [*found, "postgres"] if on_postgres() and "database" in report.keywords else found

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        expected_failure = hasattr(report, "wasxfail")
        for group in self.groups_of(report):
            if report.when == "call" and not report.skipped:
                self.ran[group] += 1
            elif report.skipped and not expected_failure:
                self.skipped.setdefault(group, []).append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if is_worker(session.config):
            return
        if in_ci() and self.skipped and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if is_worker(terminalreporter.config):
            return
        if file := os.environ.get("GUARD_FILE"):
            outcomes = {name: len(terminalreporter.stats.get(name, ())) for name in OUTCOMES}
            with Path(file).open("a") as out:
                out.write(json.dumps({"ran": self.ran, "skipped": self.skipped, "outcomes": outcomes}) + "\n")
        if not in_ci():
            return
        for group, tests in self.skipped.items():
            terminalreporter.write_line(f"guard: group {group} skipped {', '.join(tests)}: a failure in CI", red=True)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Guard(), "rank37-guard")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what touches the database: it runs on PostgreSQL as well."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or fixtures & {"db", "transactional_db"}:
            item.add_marker("database")


def missing(file: Path, expected: tuple[str, ...] = GROUPS) -> list[str]:
    """The groups that ran nothing in all phases together."""
    ran: Counter[str] = Counter()
    for line in file.read_text().splitlines() if file.is_file() else ():
        ran.update(json.loads(line)["ran"])
    return [group for group in expected if not ran[group]]
