"""`make run` as a process: it starts, is refused clearly, stops whole, and comes back with what it kept."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import processes
from tests.support.stack import Stack
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.stack, pytest.mark.redis]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("stack")


@pytest.fixture(scope="module")
def stack(home: Path) -> Iterator[Stack]:
    """One stack for the tests that leave it running."""
    with Stack(home / "data") as running:
        yield running.start()


def answer(stack: Stack, path: str) -> tuple[int, bytes]:
    asking = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=10)
    asking.request("GET", path)
    got = asking.getresponse()
    return got.status, got.read()


def nothing_is_left(stack: Stack, before: set[int]) -> None:
    wait_until("nothing is left", lambda: not stack.processes() and not any(map(processes.alive, before)), within_s=20)


def test_a_start_answers_on_its_port_with_everything_behind_it(stack: Stack):
    status, body = answer(stack, "/healthz")
    told = json.loads(body)
    assert status == 200
    assert told["database"] and told["redis"]
    assert stack.url in stack.said()


def test_the_secret_key_is_kept_for_this_user_alone(stack: Stack):
    key = stack.data / "secret_key"
    assert len(key.read_text()) >= 50
    assert key.stat().st_mode & 0o077 == 0


def test_static_files_carry_a_digest_and_are_kept(stack: Stack):
    manifest = json.loads((stack.data / "static" / "staticfiles.json").read_text())["paths"]
    plotly = manifest["plotly/plotly.min.js"]
    assert plotly != "plotly/plotly.min.js"
    assert answer(stack, f"/static/{plotly}")[0] == 200


def test_a_second_start_in_the_same_folder_is_refused_by_name(stack: Stack):
    second = Stack(stack.data)
    second.output = stack.data.parent / "second.out"
    assert second.launch().process.wait(30) == 2
    assert second.said().count("\n") == 1
    assert f"already runs from this folder at {stack.url}/" in second.said()


def test_a_taken_port_is_one_clear_line_with_the_repair(home: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = Stack(home / "other", port=taken.getsockname()[1])
        assert refused.launch().process.wait(30) == 2
    assert refused.said().count("\n") == 1
    assert "is taken by another program; nothing was started. Choose another: PORT=" in refused.said()


def test_a_port_that_is_none_is_one_clear_line(home: Path):
    refused = Stack(home / "none")
    refused.env["PORT"] = "http"
    assert refused.launch().process.wait(30) == 2
    assert refused.said() == "PORT=http is no port; use a number from 1 to 65535, for example: PORT=8001 make run\n"


@pytest.mark.parametrize("word", ["uvicorn", "redis-server", "celery"])
def test_a_service_that_is_killed_comes_back(stack: Stack, word: str):
    killed = stack.pid_of(word)
    os.kill(killed, signal.SIGKILL)

    def another() -> int | None:
        return next(iter(processes.named(stack.processes(), word) - {killed}), None)

    wait_until(f"another {word} runs", another, within_s=30)
    wait_until("the web answers again", lambda: web_is_whole(stack), within_s=30)


def web_is_whole(stack: Stack) -> bool:
    try:
        return json.loads(answer(stack, "/healthz")[1])["redis"]
    except (OSError, http.client.HTTPException):
        return False


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_end_of_the_supervisor_is_the_end_of_everything(short_dir: Path, signum: int):
    with Stack(short_dir / "data") as stack:
        stack.start()
        before = stack.processes()
        assert all(processes.named(before, word) for word in ("uvicorn", "redis-server", "celery"))
        code = stack.stop(signum)
        assert code == (-signal.SIGKILL if signum == signal.SIGKILL else 0)
        nothing_is_left(stack, before)


def test_an_open_connection_does_not_hold_the_stop(short_dir: Path):
    with Stack(short_dir / "data") as stack:
        stack.start()
        with socket.create_connection(("127.0.0.1", stack.port)) as idle:
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert idle.recv(12).startswith(b"HTTP/1.1 200")
            assert stack.stop(within_s=20) == 0


def test_a_second_start_keeps_the_key_and_the_database(short_dir: Path):
    first = Stack(short_dir / "data").start()
    key = (first.data / "secret_key").read_text()
    first.stop()
    with Stack(short_dir / "data").start() as second:
        assert (second.data / "secret_key").read_text() == key
        told = json.loads((second.data / "prepared.json").read_text())
        assert not told["migrated"] and not told["collected"]


def test_a_setting_that_cannot_be_is_named_with_the_log(short_dir: Path):
    stack = Stack(short_dir / "data", LOG_LEVEL="LOUD")
    assert stack.launch().process.wait(60) == 1
    assert "Preparing failed" in stack.said()
    assert "prepare.log" in stack.said()
    nothing_is_left(stack, set())


def test_a_lab_worker_that_cannot_reach_its_redis_leaves_the_pages_working(short_dir: Path):
    with Stack(short_dir / "data", REDIS_URL=f"unix://{short_dir}/nowhere.sock") as stack:
        stack.start()
        assert "lab has not answered" in stack.said()
        assert "evidence comes from the bank" in stack.said()
        assert answer(stack, "/healthz")[0] == 200


AS_ORDINARY_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
# Root of a user namespace may forbid further network namespaces below it: a machine on which the lab cannot run.
WITHOUT_NAMESPACES = (
    *("unshare", "--user", "--map-root-user", "sh", "-c"),
    'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"',
    "sh",
)
SUPERVISOR = (sys.executable, "-m", "config.supervisor")


def prepared(stack: Stack) -> dict:
    return json.loads((stack.data / "prepared.json").read_text())


@pytest.mark.lab
def test_an_ordinary_user_gets_the_lab_too(short_dir: Path):
    with Stack(short_dir / "data") as stack:
        stack.launch((*AS_ORDINARY_USER, *SUPERVISOR))
        stack.wait_answering()
        assert prepared(stack)["namespaces"]["available"], prepared(stack)
        assert "No namespaces here" not in stack.said()
        assert json.loads(answer(stack, "/healthz")[1])["redis"]


@pytest.mark.lab
def test_without_namespaces_everything_else_works_and_one_line_says_so(short_dir: Path):
    with Stack(short_dir / "data") as stack:
        stack.launch((*WITHOUT_NAMESPACES, *SUPERVISOR))
        stack.wait_answering()
        assert not prepared(stack)["namespaces"]["available"]
        lines = [line for line in stack.said().splitlines() if line.startswith("No namespaces here")]
        assert len(lines) == 1
        assert "everything works, on evidence from the bank" in lines[0]
        assert answer(stack, "/")[0] == 200


def test_make_itself_passes_ctrl_c_on(short_dir: Path):
    stack = Stack(short_dir / "data")
    stack.launch(("make", "run"))
    stack.wait_answering(within_s=240)
    before = stack.processes()
    # A terminal sends it to the whole foreground group.
    os.killpg(stack.process.pid, signal.SIGINT)
    stack.process.wait(30)
    assert "Stopped." in stack.said()
    nothing_is_left(stack, before)


def test_a_killed_make_leaves_nothing(short_dir: Path):
    stack = Stack(short_dir / "data")
    stack.launch(("make", "run"))
    stack.wait_answering(within_s=240)
    before = stack.processes()
    stack.process.kill()
    stack.process.wait(10)
    nothing_is_left(stack, before)
