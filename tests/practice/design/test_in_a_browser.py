"""Each exercise by the keyboard alone, groups by click too; nothing for axe to find, a quiet console."""

from __future__ import annotations

import re
from string import ascii_uppercase

import pytest
from playwright.sync_api import Locator, Page, expect

from practice.models import DesignAttempt
from tests.practice.design.conftest import posed, put, right

# The fixtures of that page's tests: what the console says, and rows beside a browser.
from tests.practice.test_accessibility import WIDE, _rows_beside_a_browser, complaints, look  # noqa: F401

pytestmark = pytest.mark.browser

MOST_TABS = 200
QUESTION = "question/experts-on-eight-nodes"


def tab_to(page: Page, wanted: Locator) -> None:
    """Tab until the focus is there: whatever cannot be reached so cannot be used without a mouse."""
    for _ in range(MOST_TABS):
        if wanted.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {wanted}")


def start(page: Page, address: str, item: str, seed: int) -> DesignAttempt:
    """Starts an exercise by the keyboard, and puts a known one in its place."""
    page.goto(f"{address}/design/")
    tab_to(page, page.locator(f"button[name=item][value='{item}']"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Hand it in")).to_be_visible()
    found = re.search(r"/design/([0-9a-f-]{36})/", page.url)
    assert found
    attempt = DesignAttempt.objects.get(pk=found[1])
    put(attempt, item, seed)
    page.reload()
    return attempt


def hand_in(page: Page) -> None:
    tab_to(page, page.get_by_role("button", name="Hand it in"))
    page.keyboard.press("Enter")


def all_right(page: Page, attempt: DesignAttempt) -> None:
    expect(page.locator("#result-title")).to_contain_text("right")
    attempt.refresh_from_db()
    expect(page.locator("#result-title")).to_have_text(f"{attempt.asked} of {attempt.asked} right")


def test_groups_are_drawn_by_letters_and_arrows(live_server, page, complaints):  # noqa: F811
    attempt = start(page, live_server.url, "groups/2", 5)
    task, form = posed(attempt).task, right(attempt)
    for kind, groups in task.groups.items():
        sheet = page.locator(f"[data-sheet={kind}]")
        tab_to(page, sheet.locator("[data-rank='0']"))
        for rank in range(task.plan.world):
            group = next(at for at, one in enumerate(groups) if rank in one)
            page.keyboard.press(ascii_uppercase[group].lower())
            page.keyboard.press("ArrowRight")
        expect(sheet.locator("textarea")).to_have_value(form[kind][0])
        if kind in form["crosses"]:
            tab_to(page, sheet.get_by_role("checkbox"))
            page.keyboard.press("Space")
    expect(page.locator("#kept")).to_contain_text("Kept at")
    page.reload()
    expect(page.locator(".cell.set")).to_have_count(len(task.groups) * task.plan.world)
    hand_in(page)
    all_right(page, attempt)
    assert not complaints


def test_groups_are_drawn_by_clicks_and_the_next_group_takes_over(live_server, page):
    attempt = start(page, live_server.url, "groups/1", 3)
    for kind, groups in posed(attempt).task.groups.items():
        sheet = page.locator(f"[data-sheet={kind}]")
        first = sheet.locator("[data-rank='0']")
        first.click()
        expect(first).to_have_attribute("aria-label", re.compile("group A"))
        first.click()
        expect(first).to_have_attribute("aria-label", re.compile("in no group"))
        for group in groups:
            for rank in group:
                sheet.locator(f"[data-rank='{rank}']").click()
        expect(page.locator("#said")).to_contain_text("which has its")
        if kind in right(attempt)["crosses"]:
            sheet.get_by_role("checkbox").check()
    page.get_by_role("button", name="Hand it in").click()
    all_right(page, attempt)


@pytest.mark.parametrize(("item", "seed"), [("shapes", 3), ("cadence", 4)])
def test_shapes_and_figures_are_typed_and_handed_in_by_enter(live_server, page, complaints, item, seed):  # noqa: F811
    attempt = start(page, live_server.url, item, seed)
    form = right(attempt)
    first = next(iter(form))
    for field, values in form.items():
        tab_to(page, page.locator(f"input[name='{field}']"))
        page.keyboard.type("banana" if field == first else values[0])
    page.keyboard.press("Enter")
    expect(page.locator("#form-error")).to_be_focused()
    expect(page.locator(f"#{'s' if item == 'shapes' else 'f'}-{first}")).to_have_value("banana")
    tab_to(page, page.locator(f"input[name='{first}']"))
    page.keyboard.press("Control+a")
    page.keyboard.type(form[first][0])
    page.keyboard.press("Enter")
    all_right(page, attempt)
    # The refusal of "banana" is a status, and the console names it.
    assert [line for line in complaints if "422" not in line] == []


def test_a_question_is_written_handed_in_and_marked(live_server, page, complaints):  # noqa: F811
    attempt = start(page, live_server.url, QUESTION, 0)
    for move in posed(attempt).task.moves:
        tab_to(page, page.locator(f"textarea[name={move}]"))
        page.keyboard.type(f"About the {move}.")
    hand_in(page)
    expect(page.locator("#result-title")).to_have_text("Now mark it")
    for point in ("baseline-1", "communication-0"):
        tab_to(page, page.locator(f"input[value={point}]"))
        page.keyboard.press("Space")
    tab_to(page, page.get_by_role("button", name="Keep my marks"))
    page.keyboard.press("Enter")
    expect(page.locator("#result-title")).to_have_text("2 of 15 points, by your own mark")
    expect(page.locator("input[value=communication-0]")).to_be_checked()
    assert not complaints


@pytest.mark.parametrize(("item", "seed"), [("groups/3", 1), ("shapes", 3), ("cadence", 4), (QUESTION, 0)])
def test_no_barrier_in_a_form_or_a_result(live_server, page, complaints, item, seed):  # noqa: F811
    attempt = start(page, live_server.url, item, seed)
    look(page)
    page.set_viewport_size(WIDE)
    form = right(attempt)
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    for field, values in form.items():
        if field != "crosses":
            page.locator(f"[name='{field}']").fill(values[0])
    if item.startswith("groups"):
        first, second = list(form)[:2]
        page.locator(f"[name='{first}']").fill(form[second][0])
    page.get_by_role("button", name="Hand it in").click()
    expect(page.locator("#result-title")).to_be_visible()
    if item == "cadence":
        expect(page.locator(".chart-plot .main-svg").first).to_be_visible()
    look(page)
    page.goto(f"{live_server.url}/design/")
    look(page)
    assert not complaints
