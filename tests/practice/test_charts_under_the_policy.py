"""What the strict policy rests on in the installed plotly.js: see docs/decisions/0005."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string


@pytest.fixture(scope="module")
def plotly() -> str:
    return Path(finders.find("plotly/plotly.min.js")).read_text()


def test_plotly_leaves_its_styles_out_where_the_page_brings_them(plotly):
    head = render_to_string("practice/parts/chart_head.html")
    assert 'id="plotly.js-style-global" class="no-inline-styles"' in head
    assert '"plotly.js-style-"+' in plotly and ".no-inline-styles" in plotly


def test_the_map_library_finds_its_styles_there_already(plotly):
    inserted = re.search(r'getElementById\("([0-9a-f]{64})"\)', plotly)
    assert inserted, "plotly.js no longer inserts styles for maps by such an id"
    assert f'id="{inserted[1]}"' in render_to_string("practice/parts/chart_head.html")
