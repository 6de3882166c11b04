"""Every figure, drawn by the page's own script under the page's strict policy: light and dark, wide and narrow."""

import json
import mimetypes
from pathlib import Path

import plotly
import pytest

from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from gpu_worker.symptoms import slow_collective
from tests.support.waiting import wait_until

STATIC = Path(__file__).parents[3] / "static"
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>charts</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/tokens.css">
<link rel="stylesheet" href="/plotly.css" id="plotly.js-style-global" class="no-inline-styles">
<meta id="9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53" name="plotly-map-style" content="none">
<script defer src="/charts.js" data-plotly="/plotly.min.js"></script></head><body>"""

pytestmark = pytest.mark.browser


@pytest.fixture
def page_of_charts(made, run_for):
    figures = [slow_collective.figure(slow_collective.read(made["degraded-link"], made["healthy"]), {})]
    for probe in PROBES.values():
        for params in variants(probe):
            figures.append(probe.figure(probe.read(run_for(probe, params), params), params))
    figures = [figure for figure in figures if figure]
    scripts = (json.dumps(figure).replace("<", "\\u003c") for figure in figures)
    charts = (f'<figure data-chart><script type="application/json">{text}</script></figure>' for text in scripts)
    return HEAD + "".join(charts) + "</body></html>", figures


def serve(page: str):
    def answer(route):
        name = route.request.url.rsplit("/", 1)[1]
        if not name:
            return route.fulfill(body=page, content_type="text/html", headers={"Content-Security-Policy": POLICY})
        file = PLOTLY if name == PLOTLY.name else STATIC / name
        return route.fulfill(body=file.read_bytes(), content_type=mimetypes.guess_type(name)[0])

    return answer


@pytest.mark.parametrize(("scheme", "width"), [("light", 900), ("dark", 360)])
def test_figures_are_drawn_named_and_fit_the_page(browser, page_of_charts, scheme, width):
    html, figures = page_of_charts
    page = browser.new_page(viewport={"width": width, "height": 700}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.route("**/*", serve(html))
    page.goto("http://charts.test/")
    drawn = page.locator(f"[data-drawn={scheme}]")
    wait_until("every chart drawn", lambda: drawn.count() == len(figures) or None, 60)
    assert said == []
    names = [plot.get_attribute("aria-label") for plot in page.locator(".chart-plot[role=img]").all()]
    assert names == [figure["layout"]["meta"]["alt"] for figure in figures]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for size in page.evaluate(
        "[...document.querySelectorAll('svg text')].map(e => parseFloat(getComputedStyle(e).fontSize))"
    ):
        assert size >= 12
    follow_the_theme(page, scheme, len(figures))
    page.close()


def follow_the_theme(page, scheme, count):
    other = "dark" if scheme == "light" else "light"
    page.emulate_media(color_scheme=other)
    wait_until(f"every chart drawn {other}", lambda: page.locator(f"[data-drawn={other}]").count() == count or None, 60)
