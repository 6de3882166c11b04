"""The real stack, once a session, on a lab that has passed its self-check; and Debian's Chromium."""

from __future__ import annotations

import http.client
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from gpu_worker.lab.provenance import ACCEPT_DISTURBED
from tests.support.candidate import Candidate
from tests.support.operator import Operator
from tests.support.stack import Stack
from tests.support.waiting import wait_until

SELF_CHECK_WITHIN_S = 400


def health(stack: Stack) -> dict:
    asking = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=10)
    asking.request("GET", "/healthz")
    return json.loads(asking.getresponse().read())


def last_check(operator: Operator) -> dict | None:
    """The last self-check, if one has ended."""
    return operator.ask(
        "c = SelfCheck.objects.order_by('-at').first()\nresult = c and {'ok': c.ok, 'details': c.details}"
    )


@pytest.fixture(scope="session")
def live_stack() -> Iterator[Stack]:
    """Started as a person starts it; its own lab worker has checked this machine, so that evidence is live."""
    folder = Path(tempfile.mkdtemp(prefix="r37-"))
    try:
        # The browser shares the processors with the lab: a run repeated for that would come too late to be live.
        with Stack(folder / "data", **{ACCEPT_DISTURBED: "1"}).start() as stack:
            operator = Operator(stack)
            checked = wait_until("the lab has checked itself", lambda: last_check(operator), SELF_CHECK_WITHIN_S, 1.0)
            operator.close()
            assert checked["ok"], f"the self-check failed: {checked['details']}\n{stack.logs()}"
            wait_until("evidence is live", lambda: health(stack)["live"], within_s=30, pause_s=0.2)
            yield stack
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def operator(live_stack: Stack) -> Iterator[Operator]:
    asked = Operator(live_stack)
    yield asked
    asked.close()


@pytest.fixture
def candidate(page: Page, live_stack: Stack) -> Candidate:
    return Candidate(page, live_stack.url)
