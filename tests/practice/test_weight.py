"""The first page is light: no chart, no script of a chart, nothing from another site."""

from __future__ import annotations

import re
from pathlib import Path

from django.contrib.staticfiles import finders
from django.urls import reverse

LIMIT_BYTES = 120_000


def test_the_first_page_with_all_that_it_loads_is_within_its_weight(plain_ada):
    plain_ada.start()
    html = plain_ada.client.get(reverse("practice:home")).content.decode()
    files = re.findall(r'(?:href|src)="/static/([^"]+)"', html)
    assert files
    weight = len(html.encode()) + sum(Path(finders.find(file)).stat().st_size for file in files)
    assert weight <= LIMIT_BYTES, f"{weight} bytes before compression"


def test_the_first_page_asks_nothing_of_another_site_and_loads_no_chart(plain_ada):
    html = plain_ada.client.get(reverse("practice:home")).content.decode()
    assert not re.search(r'(?:href|src)="(?:https?:)?//', html)
    assert "plotly" not in html and "charts.js" not in html


def test_the_script_of_charts_is_fetched_only_by_the_page_that_holds_one(plain_ada):
    attempt = plain_ada.start()
    html = plain_ada.page(attempt)
    assert 'src="/static/plotly/' not in html
    assert 'data-plotly="/static/plotly/plotly.min.js"' in html
