"""A person at the browser: plays an attempt through the pages, by what a person sees and clicks."""

from __future__ import annotations

import os
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.support.operator import Operator
from tests.support.waiting import wait_until

READING_WITHIN_MS = 60_000
MOST_OPENINGS = 80


class Candidate:
    """One browser session. `faults` collects what the browser complained of: there must be nothing."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._note_request)

    def _note_console(self, message) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _note_request(self, request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.foreign.append(request.url)

    def picture(self, name: str) -> None:
        """For the README, where PICTURES names a folder: what the page shows now."""
        if folder := os.environ.get("PICTURES"):
            self.page.set_viewport_size({"width": 1440, "height": 900})
            self.page.evaluate("window.scrollTo(0, 0)")
            self.page.screenshot(path=Path(folder) / f"{name}.png")

    # -- opening

    def open_attempt(self) -> str:
        """A new attempt at the flagship from the first page; returns its id."""
        self.page.goto(self.url + "/")
        self.page.locator("form[action='/incidents/slow-all-reduce/start'] button").click()
        self.page.wait_for_url(re.compile(r"/attempts/[0-9a-f-]{36}/"))
        return self.attempt

    @property
    def attempt(self) -> str:
        found = re.search(r"/attempts/([0-9a-f-]{36})/", self.page.url)
        assert found, self.page.url
        return found[1]

    # -- the search

    def note_floor(self, production: str, lab: str = "") -> None:
        self.page.locator("#collective-floor-production").fill(production)
        if lab:
            self.page.locator("#collective-floor-lab").fill(lab)
        self.page.locator("#estimate-button").click()
        expect(self.page.locator("#collective-floor-production.noted")).to_have_text(re.compile(re.escape(production)))

    def ask(self, fact: str) -> None:
        self.page.locator(f"#ask-{fact}").click()
        expect(self.page.locator(f"#fact-{fact} .answer")).to_be_visible()

    def give_verdict(self, verdict: str) -> None:
        self.page.locator(f"#verdict label:has(input[value={verdict}])").click()
        self.page.locator("#verdict-button").click()
        expect(self.page.locator("#verdict")).to_contain_text("given at")

    def suspect(self, *causes: str) -> None:
        for cause in causes:
            self.page.locator(f"#cause-{cause} label").click()
        self.page.locator("#hypothesis-button").click()
        expect(self.page.locator(f"#cause-{causes[0]} .lead")).to_be_visible()

    def choose(self, step: str, predict: dict[str, str] | None = None, **with_: str) -> Locator:
        """Chooses a step in the palette; returns its card, still running or already there."""
        before = self.page.locator("#timeline > li").count()
        palette = self.page.locator("#palette-open")
        if palette.get_attribute("open") is None:
            self.page.locator("#palette-open > summary").click()
        box = self.page.locator(f"#step-{step}")
        if box.get_attribute("open") is None:
            box.locator("> summary").click()
        for name, value in with_.items():
            box.locator(f"label:has(input[name='with-{name}'][value='{value}'])").click()
        if predict:
            box.locator("details.disclose > summary").click()
            for cause, finding in predict.items():
                box.locator(f"select[name='predict-{cause}']").select_option(finding)
        self.page.locator(f"#run-{step}").click()
        expect(self.page.locator("#timeline > li")).to_have_count(before + 1)
        return self.page.locator(f"#{self.page.locator('#timeline > li').first.get_attribute('id')}")

    def read(self, card: Locator) -> Locator:
        """Waits until the card holds its reading."""
        expect(card).not_to_have_class(re.compile(r"\bpending\b"), timeout=READING_WITHIN_MS)
        expect(card.locator("table").first).to_be_attached()
        return card

    def step(self, step: str, predict: dict[str, str] | None = None, **with_: str) -> Locator:
        return self.read(self.choose(step, predict, **with_))

    def rule_out(self, card: Locator, *causes: str, why: str = "") -> None:
        form = card.locator("form:has(button[id^=strike-])")
        for cause in causes:
            form.locator(f"label:has(input[value='{cause}'])").click()
        if why:
            form.locator("input[name=text]").fill(why)
        form.locator("button[id^=strike-]").click()
        for cause in causes:
            expect(self.page.locator(f"#cause-{cause} s")).to_be_visible()

    def take_back(self, cause: str) -> None:
        self.page.locator(f"#restore-{cause}").click()
        expect(self.page.locator(f"#cause-{cause} s")).to_have_count(0)

    def note(self, text: str) -> None:
        self.page.locator("#notes textarea").fill(text)
        self.page.locator("#notes button").last.click()
        expect(self.page.locator("#notes")).to_contain_text(text)

    # -- the conclusion

    def conclude(self) -> None:
        self.page.locator("#goto a").click()
        self.page.wait_for_url(re.compile(r"/conclusion/"))

    def diagnose(self, cause: str, where: str, confidence: str) -> None:
        box = self.page.locator("#diagnosis")
        box.locator(f"label:has(input[name=causes][value='{cause}'])").click()
        if where:
            box.locator("#where").select_option(where)
        box.locator("#confidence").fill(confidence)
        for cited in box.locator("input[name=because]").all():
            cited.set_checked(True, force=True)
        self.page.locator("#diagnose-button").click()
        expect(box.locator("dl")).to_contain_text("confidence")

    def declare_success(self, metric: str, threshold: str) -> None:
        self.page.locator("#metric").select_option(metric)
        self.page.locator("#threshold").fill(threshold)
        self.page.locator("#success-button").click()
        expect(self.page.locator("#success")).to_contain_text("declared at")

    def fix(self, fix: str, where: str = "") -> None:
        applied = self.page.locator("#fixes ol.applied li")
        before = applied.count()
        if before:
            self.page.locator("#fix-another > summary").click()
        self.page.locator(f"label[for=fix-{fix}]").click()
        if where:
            self.page.locator(f"#where-{fix}").select_option(where)
        self.page.locator("#fix-button").click()
        expect(applied).to_have_count(before + 1)

    def verify(self, variant: str, *against: str) -> Locator:
        before = self.page.locator("#timeline > li").count()
        box = self.page.locator("#verify")
        box.locator("#variant").select_option(variant)
        for one in against:
            chosen = box.locator(f"input[name=against][value='{one}']")
            chosen.set_checked(True, force=True)
        self.page.locator("#verify-button").click()
        expect(self.page.locator("#timeline > li")).to_have_count(before + 1)
        return self.read(self.page.locator(f"#{self.page.locator('#timeline > li').first.get_attribute('id')}"))

    def prevent(self, *measures: str) -> None:
        for measure in measures:
            self.page.locator(f"#prevention label:has(input[value='{measure}'])").click()
        self.page.locator("#prevent-button").click()
        expect(self.page.locator("#prevention")).to_contain_text("noted at")

    def close(self) -> None:
        self.page.locator("#close-button").click()
        self.page.wait_for_url(re.compile(r"/scorecard/"))


def open_with(candidate: Candidate, operator: Operator, cause: str) -> dict:
    """Opens attempts, as many people would, until one drew the cause; returns its hidden draw.

    Which cause an attempt draws is nobody's to choose through a page, so the test takes the attempt that drew it.
    """
    for _ in range(MOST_OPENINGS):
        attempt = candidate.open_attempt()
        draw = operator.draw(attempt)
        if draw["cause"] == cause:
            return draw
        operator.forget_queued(attempt)
    raise AssertionError(f"no attempt of {MOST_OPENINGS} drew {cause}")


def lab_is_idle(operator: Operator) -> None:
    """Waits, as a person who reads and thinks, until nothing is queued or runs, really and by nominal times.

    Whether a step is answered live goes by nominal times alone, since real ones would tell the cause.
    """
    wait_until("the lab is idle", operator.lab_is_idle, within_s=180, pause_s=0.3)
