"""A sprint by the keyboard alone; nothing for axe to find, nothing wider than the screen, a quiet console."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from practice.drills import items
from practice.models import Question, Sprint
from tests.practice.drills.conftest import last, posed, right

# The fixtures of that page's tests: what the console says, and rows beside a browser.
from tests.practice.test_accessibility import WIDE, _rows_beside_a_browser, complaints, look  # noqa: F401

pytestmark = pytest.mark.browser


def sprint_of(page: Page) -> Sprint:
    found = re.search(r"/drills/([0-9a-f-]{36})/", page.url)
    assert found
    return Sprint.objects.get(pk=found[1])


def start(page: Page, address: str, about: str) -> Sprint:
    page.goto(f"{address}/drills/")
    page.get_by_label("About").select_option(label=about)
    page.get_by_label("5 questions").check()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#drill")).to_be_visible()
    return sprint_of(page)


def test_a_sprint_is_answered_by_typing_and_enter_alone(live_server, page, complaints):  # noqa: F811
    sprint = start(page, live_server.url, "Collectives and their floors")
    for number in range(1, 6):
        expect(page.locator("#typed")).to_be_focused()
        expect(page.locator(".drill-head")).to_contain_text(f"Question {number} of 5")
        drill = posed(sprint).drill
        page.keyboard.type("banana" if number == 1 else str(drill.answer_text))
        page.keyboard.press("Enter")
        if number == 1:
            expect(page.locator("#typed-error")).to_contain_text("I cannot read “banana”")
            expect(page.locator("#typed")).to_be_focused()
            expect(page.locator("#typed")).to_have_value("banana")
            page.locator("#typed").fill("")
            page.keyboard.type(drill.answer_text)
            page.keyboard.press("Enter")
        expect(page.locator("#drill-next")).to_be_focused()
        expect(page.locator("#result-title")).to_have_text("Right")
        expect(page.locator("#said")).to_contain_text("Right. The answer is")
        page.keyboard.press("Enter")
    expect(page.locator("#summary-title")).to_have_text("5 of 5 right")
    # The refusal of "banana" is a status, and the console names it.
    assert [line for line in complaints if "422" not in line] == []


def test_no_barrier_in_any_kind_of_question(live_server, page, complaints):  # noqa: F811
    page.goto(f"{live_server.url}/drills/")
    look(page)
    page.set_viewport_size(WIDE)
    sprint = start(page, live_server.url, "Concepts, mixed")
    for key in ("a-bug-or-physics", "the-replay-test", "what-makes-a-fabric-slow", "strong-or-weak"):
        found = items.pose(f"concept:{key}", 5)
        question = last(sprint)
        Question.objects.filter(pk=question.pk).update(item=found.item.id, seed=5, fingerprint=found.fingerprint)
        page.reload()
        look(page)
        page.set_viewport_size(WIDE)
        fill(page, right(sprint))
        page.get_by_role("button", name="Answer").click()
        expect(page.locator("#result-title")).to_have_text("Right")
        look(page)
        page.set_viewport_size(WIDE)
        page.locator("#drill-next").click()
        expect(page.locator("#ask-text")).to_be_visible()
    page.get_by_role("button", name="End the sprint").click()
    expect(page.locator("#summary-title")).to_have_text("4 of 4 right")
    look(page)
    page.goto(f"{live_server.url}/drills/")
    look(page)
    assert not complaints


def fill(page: Page, form: dict) -> None:
    for name, value in form.items():
        if name == "choice":
            for letter in value:
                page.locator(f"input[name=choice][value={letter}]").check()
        elif name == "typed":
            page.locator("#typed").fill(str(value))
        else:
            page.locator(f"#{name}").select_option(str(value))
