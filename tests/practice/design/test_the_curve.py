"""The curve of a cadence holds what the judge computes: choice and best lie on it, in colours that are roles."""

from __future__ import annotations

import json

import pytest

from grader.design import cadence
from practice.design.kinds.cadence import figure


@pytest.mark.parametrize("seed", range(6))
def test_the_choice_and_the_best_lie_on_the_curve_of_their_tier(seed):
    task = cadence.draw(seed)
    chosen = {"global": task.far.best_s * 2, "local": task.near.best_s / 3}
    drawn = figure(task, chosen)
    traces = {trace["name"]: trace for trace in drawn["data"]}
    for tier in (task.far, task.near):
        best, mine = traces[f"{tier.name}, best"], traces[f"{tier.name}, yours"]
        assert best["x"] == [pytest.approx(tier.best_s / 60)]
        assert mine["y"] == [pytest.approx(100 * tier.lost(chosen[tier.name]))]
        curve = traces[tier.name]
        assert min(curve["x"]) < min(best["x"] + mine["x"]) and max(curve["x"]) > max(best["x"] + mine["x"])
        if not tier.is_bound:
            assert min(curve["y"]) >= best["y"][0] * (1 - 1e-9)
    assert [note["text"] for note in drawn["layout"]["annotations"]] == ["best", "yours"] * 2
    assert "Share of time lost" in drawn["layout"]["meta"]["alt"]


def test_every_colour_of_the_curve_is_a_role():
    task = cadence.draw(1)
    drawn = figure(task, {"global": task.far.best_s, "local": task.near.best_s})
    colours = [trace["marker"]["color"] for trace in drawn["data"]]
    assert all(colour.startswith("role:") for colour in colours)
    assert "#" not in json.dumps(drawn)
    # Who chose the best sees one name.
    assert [note["text"] for note in drawn["layout"]["annotations"]] == ["best", "best"]
