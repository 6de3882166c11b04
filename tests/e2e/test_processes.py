"""What a candidate has is there after any process died, and nothing is left when everything stops."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import health
from tests.support import processes
from tests.support.candidate import Candidate, lab_is_idle
from tests.support.operator import Operator
from tests.support.stack import Stack
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.lab, pytest.mark.redis, pytest.mark.stack, pytest.mark.slow]


def running(operator: Operator, attempt: str) -> list[dict]:
    return [run for run in operator.runs(attempt) if run["status"] == "running"]


def test_a_worker_killed_in_the_middle_of_a_run_costs_the_candidate_nothing(
    candidate: Candidate, operator: Operator, live_stack: Stack
):
    attempt = candidate.open_attempt()
    lab_is_idle(operator)
    card = candidate.choose("microbenchmark", size="small", placement="packed")
    run = wait_until("the run is under way", lambda: running(operator, attempt), within_s=30)[0]
    for pid in processes.named(live_stack.processes(), "celery"):
        os.kill(pid, signal.SIGKILL)
    candidate.read(card)

    def ended() -> list[dict]:
        same = [r for r in operator.runs(attempt) if r["experiment"] == run["experiment"]]
        return [r for r in same if r["status"] in ("finished", "failed")]

    last = wait_until("the run was taken up again or ended with a reason", ended, within_s=90)[0]
    assert last["status"] == "finished" or last["failure"]
    assert last["tries"] >= 1
    wait_until("the lab answers again", lambda: health(live_stack)["live"], within_s=60)
    events = [e for e in operator.events(attempt) if e["kind"] == "step"]
    assert len(events) == 1


@pytest.fixture
def own_stack() -> Iterator[Stack]:
    folder = Path(tempfile.mkdtemp(prefix="r37-"))
    with Stack(folder / "data").start() as stack:
        yield stack
    shutil.rmtree(folder, ignore_errors=True)


def test_an_attempt_is_where_it_was_left_after_everything_was_killed(own_stack: Stack, page: Page):
    candidate = Candidate(page, own_stack.url)
    candidate.open_attempt()
    candidate.note_floor("5.6 s")
    candidate.step("link-rates", scope="suspects")
    candidate.note("Kept for tomorrow.")
    address = page.url
    for pid in own_stack.processes() - {own_stack.process.pid}:
        os.kill(pid, signal.SIGKILL)
    own_stack.process.kill()
    own_stack.process.wait(10)
    wait_until("nothing runs", lambda: not own_stack.processes(), within_s=20)

    own_stack.start()
    page.goto(address)
    expect(page.locator("#collective-floor-production")).to_have_text(re.compile("5.6 s"))
    expect(page.locator("#timeline > li")).to_have_count(1)
    expect(page.locator("#notes")).to_contain_text("Kept for tomorrow.")
    page.goto(own_stack.url)
    expect(page.get_by_role("link", name=re.compile("Continue"))).to_be_visible()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGKILL])
def test_the_end_in_the_middle_of_an_experiment_leaves_no_process_and_no_namespace(own_stack: Stack, signum: int):
    """Whatever the lab was doing: the worker checks its machine right after its first start."""
    before = namespaces()
    wait_until("the lab works", lambda: processes.named(own_stack.processes(), "launcher"), within_s=60)
    started = own_stack.processes()
    own_stack.stop(signum)
    wait_until("no process is left", lambda: not own_stack.processes() and not any(map(processes.alive, started)))
    wait_until("no namespace is left", lambda: namespaces() <= before)


def namespaces() -> set[str]:
    """Network namespaces that a process holds or that have a name."""
    held = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                held.add(os.readlink(entry / "ns" / "net"))
            except OSError:
                continue
    listed = subprocess.run(["ls", "/run/netns"], capture_output=True, text=True).stdout.split()
    return held | {f"named:{name}" for name in listed}
