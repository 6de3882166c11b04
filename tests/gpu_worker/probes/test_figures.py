"""The common look: roles, themes, and the same colours as the page's own tokens."""

import re
from pathlib import Path

import pytest

from gpu_worker import figures

TOKENS = Path(__file__).parents[3] / "static" / "tokens.css"


def test_both_themes_have_the_colours_of_the_page():
    light, dark = TOKENS.read_text().split("@media (prefers-color-scheme: dark)")
    for theme, css in (("light", light), ("dark", dark)):
        tokens = dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]{6})\b", css))
        colours = {name: value for name, value in figures.THEMES[theme].items() if value.startswith("#")}
        assert colours.items() <= tokens.items()


def test_a_role_becomes_a_colour_and_may_be_faded():
    figure = {"a": ["role:c1", {"b": "role:c1@0.4"}], "text": "role: none of ours"}
    assert figures.themed(figure, "light") == {
        "a": ["#0072b2", {"b": "rgba(0,114,178,0.4)"}],
        "text": "role: none of ours",
    }


def test_an_unknown_role_is_an_error():
    with pytest.raises(KeyError, match="c99"):
        figures.themed("role:c99", "dark")


def test_the_legend_lists_what_has_a_name():
    bar = figures.bars("compute", "c1", ["rank 0"], [1.0], ["one"])
    silent = figures.bars("other", "c2", ["rank 0"], [1.0], ["one"], showlegend=False)
    frame = figures.frame([bar, silent], alt="a chart", rows=1, x=figures.numbers("ms"))
    assert frame["layout"]["meta"]["legend"] == [{"name": "compute", "colour": "role:c1", "shape": "bar"}]
