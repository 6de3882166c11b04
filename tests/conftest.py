"""Fixtures that every room may use."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.suite.debian import chromium
from tests.support.redis_server import running_redis


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    """pytest-playwright drives Debian's Chromium: Playwright's own would be a download outside any registry."""
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    return {**browser_type_launch_args, "executable_path": chromium(), "args": flags}


@pytest.fixture
def now() -> datetime:
    """A fixed clock: what is given one does not read the real one."""
    return datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def short_dir() -> Iterator[Path]:
    """A temporary folder with a path short enough for Unix sockets."""
    with tempfile.TemporaryDirectory(prefix="r37-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def redis_url_of_session() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="r37-") as folder, running_redis(Path(folder) / "redis.sock") as url:
        yield url


@pytest.fixture
def redis_url(redis_url_of_session: str, settings) -> str:
    """A real, emptied Redis that settings name; mark such tests `redis`."""
    import redis

    settings.REDIS_URL = redis_url_of_session
    with redis.Redis.from_url(redis_url_of_session) as client:
        client.flushall()
    return redis_url_of_session
