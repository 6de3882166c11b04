"""How often to save: intervals judged by what they lose, the loss by the candidate's own intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grader import physics
from grader.design import cadence
from grader.design.base import NotAnAnswer
from grader.design.cadence import Tier, judge, say, share

SEEDS = range(60)


def right(task: cadence.Task) -> dict[str, str]:
    times = (task.mtbf_s, task.far.save_s, task.near.save_s, task.far.best_s, task.near.best_s)
    names = ("mtbf", "save-global", "save-local", "interval-global", "interval-local")
    return dict(zip(names, map(say, times), strict=True)) | {
        "lost": share(task.lost(task.far.best_s, task.near.best_s))
    }


def told(task: cadence.Task, **typed: str) -> dict[str, tuple[str, ...]]:
    given = right(task) | {name.replace("_", "-"): text for name, text in typed.items()}
    judged = judge(task, {name: [text] for name, text in given.items()})
    return {line.field: line.told for line in judged.lines if not line.right}


def of(bound: bool) -> cadence.Task:
    """An exercise whose global window binds, or does not."""
    return next(task for task in map(cadence.draw, SEEDS) if task.far.is_bound is bound)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_intervals_typed_as_the_page_says_them_are_right(seed):
    assert told(cadence.draw(seed)) == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_no_interval_within_the_window_loses_less_than_the_best(seed):
    for tier in (cadence.draw(seed).far, cadence.draw(seed).near):
        tried = np.geomspace(tier.save_s, tier.window_s, 400)
        assert min(tier.lost(float(one)) for one in tried) >= tier.lost(tier.best_s) * (1 - 1e-9)
        assert tier.best_s <= tier.window_s


def test_some_windows_bind_and_some_do_not_and_the_first_order_is_good_enough():
    tasks = [cadence.draw(seed) for seed in SEEDS]
    for name in ("far", "near"):
        assert 5 < sum(getattr(task, name).is_bound for task in tasks) < 55
    assert all(task.lost(task.far.best_s, task.near.best_s) < 0.15 for task in tasks)
    assert len({task.fingerprint for task in tasks}) == len(tasks)


def test_the_figures_follow_from_what_is_told():
    task = cadence.draw(3)
    size = float(task.told.params) * 14
    assert task.mtbf_s == pytest.approx(task.told.reference_mtbf * task.told.reference_gpus / task.told.gpus)
    assert task.far.save_s == pytest.approx(size * 8 / task.told.storage_rate)
    assert task.near.save_s == pytest.approx(size / task.told.gpus * 8 / task.told.neighbour_rate)
    assert 1 / task.far.mtbf_s + 1 / task.near.mtbf_s == pytest.approx(1 / task.mtbf_s)
    overhead = physics.checkpoint_overhead(60, 3600, task.far.mtbf_s, task.far.restart_s)
    assert Tier("t", 60, task.far.mtbf_s, task.far.restart_s, 7200).lost(3600) == pytest.approx(overhead.share)


def test_too_seldom_and_too_often_are_told_with_what_they_lose():
    task = of(bound=False)
    loose = cadence.Task(task.told, task.size_bytes, task.mtbf_s, Tier("global", 60, 40000, 600, 1e6), task.near)
    best = loose.far.free_s
    assert best == pytest.approx(math.sqrt(2 * 40000 * 60))
    seldom = told(loose, interval_global=say(best * 3))["interval-global"]
    often = told(loose, interval_global=say(best / 3))["interval-global"]
    assert len(seldom) == len(often) == 1
    assert seldom[0].startswith("Too rarely: ") and often[0].startswith("Too often: ")
    assert f"every {say(best)} loses {share(best / 40000)} in all" in seldom[0]


@pytest.mark.parametrize(("factor", "good"), [(0.6, False), (0.75, True), (1.3, True), (1.6, False)])
def test_an_interval_may_lose_a_twentieth_more_than_the_best(factor, good):
    task = cadence.draw(0)
    loose = cadence.Task(task.told, task.size_bytes, task.mtbf_s, Tier("global", 60, 40000, 600, 1e6), task.near)
    assert ("interval-global" not in told(loose, interval_global=f"{loose.far.best_s * factor:.6g} s")) is good


def test_an_interval_over_the_window_is_wrong_even_where_it_loses_less():
    task = of(bound=True)
    line = told(task, interval_global=say(task.far.window_s * 1.1))["interval-global"]
    assert line == (
        f"A failure just before a save undoes {say(task.far.window_s * 1.1)} of work, over the window of "
        f"{say(task.far.window_s)}.",
    )


def test_all_failures_taken_for_those_that_need_the_save_is_called_so():
    task = cadence.draw(0)
    far = Tier("global", 60, task.mtbf_s * 4, 600, 1e6)
    loose = cadence.Task(task.told, task.size_bytes, task.mtbf_s, far, task.near)
    mixed = float(physics.young_daly(task.mtbf_s, 60))
    (sentence,) = told(loose, interval_global=f"{mixed:.6g} s")["interval-global"]
    assert sentence.startswith("That is √(2·MTBF·save) for all failures; only one every")


def test_the_loss_is_judged_at_the_intervals_that_were_typed():
    task = cadence.draw(0)
    far, near = task.far.best_s * 0.9, task.near.best_s / 10
    typed = {"interval_global": f"{far:.6g} s", "interval_local": f"{near:.6g} s"}
    assert "lost" in told(task, **typed)
    wrong = told(task, **typed, lost=share(task.lost(far, near)))
    assert "lost" not in wrong and "interval-local" in wrong


def test_a_wrong_figure_is_told_with_its_arithmetic():
    task = cadence.draw(0)
    wrong = told(task, mtbf="1 s", save_global="1 h", save_local="1 h")
    assert str(task.told.reference_mtbf) in wrong["mtbf"][0] and say(task.mtbf_s) in wrong["mtbf"][0]
    assert say(task.far.save_s) in wrong["save-global"][0] and str(task.told.storage_rate) in wrong["save-global"][0]
    assert say(task.near.save_s) in wrong["save-local"][0] and "1/" in wrong["save-local"][0]


def test_what_cannot_be_read_is_not_judged():
    task = cadence.draw(0)
    with pytest.raises(NotAnAnswer) as refused:
        told(task, mtbf="", interval_local="5", lost="often")
    assert refused.value.fields["mtbf"].startswith("Nothing was typed.")
    assert refused.value.fields["interval-local"].startswith("5 of what?")
    assert refused.value.fields["lost"].startswith("I cannot read “often”")
    assert set(refused.value.fields) == {"mtbf", "interval-local", "lost"}
