"""The supervisor's decisions, without a process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from config import paths
from config.supervisor import backoff, linux, plan
from config.supervisor.keeper import ending
from config.supervisor.start import Refused, port_from, redis_server


def start(**changes) -> plan.Start:
    values = {
        "data": Path("/data"),
        "port": 8000,
        "redis_url": "unix:///data/redis.sock",
        "own_redis": True,
        "redis_server": "/bin/redis-server",
    }
    return plan.Start(**{**values, **changes})


def names(of: plan.Start) -> list[str]:
    return [service.name for service in plan.services(of)]


def test_redis_starts_first_and_the_web_last():
    assert names(start()) == ["redis", "lab", "web"]


def test_a_redis_of_the_operator_s_is_not_started():
    assert names(start(own_redis=False, redis_server=None)) == ["lab", "web"]


def test_without_any_redis_the_pages_still_start():
    assert names(start(redis_server=None)) == ["web"]


def test_only_the_web_is_essential():
    assert [service.name for service in plan.services(start()) if service.essential] == ["web"]


def test_debug_keeps_plain_static_names():
    assert plan.environment(start(), {"DEBUG": "1"})["STATIC_HASHED"] == "0"
    assert plan.environment(start(), {})["STATIC_HASHED"] == "1"


def test_delays_double_and_then_it_gives_up():
    deaths: list[float] = []
    delays = []
    for second in range(backoff.MOST_DEATHS):
        deaths.append(float(second))
        delays.append(backoff.delay_after(deaths, now=float(second)))
    assert delays == [0.5, 1.0, 2.0, 4.0, None]


def test_old_deaths_are_forgiven():
    long_ago = [0.0, 1.0, 2.0, 3.0]
    now = 3.0 + backoff.WINDOW_S + 1
    assert backoff.delay_after([*long_ago, now], now) == backoff.FIRST_DELAY_S


@pytest.mark.parametrize("given", ["http", "0", "-1", "65536", "8000 ", "８０００", "1e3"])
def test_a_port_is_a_number_from_1_to_65535(given: str):
    if given.strip() == "8000":
        assert port_from({"PORT": given}) == 8000
        return
    with pytest.raises(Refused, match="is no port"):
        port_from({"PORT": given})


def test_no_port_means_8000():
    assert port_from({}) == port_from({"PORT": ""}) == 8000


def test_endings_are_said_in_words():
    assert ending(3) == "exit code 3"
    assert ending(-9) == "SIGKILL"


def test_the_wheel_brings_a_redis_that_can_be_executed():
    found = redis_server()
    assert found is not None
    assert os.access(found, os.X_OK)


def test_a_deep_folder_gets_a_short_socket_of_its_own(monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    deep, deeper = Path("/" + "d" * 120), Path("/" + "d" * 121)
    assert len(str(paths.redis_socket(deep))) <= paths.LONGEST_SOCKET_PATH
    assert paths.redis_socket(deep) != paths.redis_socket(deeper)
    assert paths.redis_socket(Path("/data")) == Path("/data/redis.sock")


def test_descendants_are_found_however_deep():
    assert os.getpid() in linux.descendants_of(os.getppid())
    assert os.getpid() in linux.children_of(os.getppid())
