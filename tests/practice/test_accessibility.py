"""Every page in both themes and on a phone: nothing for axe to find, nothing wider than the screen, a quiet console."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(autouse=True, scope="module")
def _rows_beside_a_browser() -> Iterator[None]:
    """Playwright keeps a loop running in this thread, in which Django would refuse to empty the tables."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    yield
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """What the console says: a refusal by the policy would stand here."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def look(page: Page) -> None:
    """axe in light and dark, wide and on a phone."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)
            result = Axe().run(page).response
            assert len(result["passes"]) > 10, "axe looked at nothing"
            found = [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in result["violations"]]
            assert not found, (page.url, theme, size["width"], found)
            wide, screen = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert wide <= screen, (page.url, theme, wide)


def test_a_candidate_meets_no_barrier_on_the_way(live_server, page, complaints):
    page.goto(live_server.url)
    look(page)
    page.set_viewport_size(WIDE)
    start(page)
    look(page)
    page.set_viewport_size(WIDE)
    measure(page)
    look(page)
    page.set_viewport_size(WIDE)
    page.get_by_role("link", name="Name the cause").click()
    look(page)
    page.set_viewport_size(WIDE)
    page.get_by_role("button", name="Close and be scored").click()
    expect(page.locator("#headline")).to_contain_text("No cause was named.")
    look(page)
    assert not complaints


def start(page: Page) -> None:
    """An attempt at the flagship, whatever else is offered beside it."""
    button = page.get_by_role("button", name="Start a new attempt")
    button.and_(page.locator("[aria-describedby=incident-slow-all-reduce]")).click()


def measure(page: Page) -> None:
    """A step by the keyboard alone, with everything of its card opened."""
    page.keyboard.press("/")
    expect(page.locator("#step-search")).to_be_focused()
    page.keyboard.type("per-rank")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#run-per-rank-step-times")).to_be_focused()
    page.keyboard.press("Enter")
    card = page.locator("#timeline > li").first
    expect(card.locator(".chart-plot .main-svg").first).to_be_visible()
    expect(card).to_be_focused()
    for name in ("Table", "Provenance", "On NCCL"):
        card.locator("summary", has_text=name).first.click()


def test_what_was_typed_stays_when_the_server_refuses_or_another_panel_changes(live_server, page):
    page.goto(live_server.url)
    start(page)
    page.locator("#note-text").fill("half a thought")
    page.locator("#collective-floor-production").fill("banana")
    page.locator("#estimate-button").click()
    expect(page.locator("#collective-floor-production-error")).to_contain_text("I cannot read “banana”")
    expect(page.locator("#collective-floor-production")).to_have_value("banana")
    expect(page.locator("#said")).to_contain_text("I cannot read")
    page.locator("#ask-topology").click()
    expect(page.locator("#fact-topology .answer")).to_be_visible()
    expect(page.locator("#note-text")).to_have_value("half a thought")
    expect(page.locator("#collective-floor-production")).to_have_value("banana")
