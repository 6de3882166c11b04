"""Every cell of a scenario's fix matrix is backed by stored runs with that fix applied."""

from __future__ import annotations

import pytest

from scenarios import fix_matrix, library
from scenarios.knowledge import is_calibrated

CALIBRATED = [one for one in library.every() if is_calibrated(one)]


@pytest.mark.parametrize("scenario", CALIBRATED, ids=lambda one: f"{one.key}@{one.revision}")
def test_what_a_fix_is_said_to_do_was_measured(scenario):
    cells = list(fix_matrix.measured_cells(scenario))
    assert {cell.cause for cell in cells} == set(scenario.prior)
    assert [str(cell) for cell in cells if cell.measured != cell.declared] == []


@pytest.mark.parametrize(
    ("removed", "of_healthy", "of_incident", "effect"),
    [
        (True, 0.97, 1.7, "cures"),
        (False, 0.97, 1.7, "mitigates"),
        (False, 0.8, 1.3, "mitigates"),
        (False, 0.6, 1.0, "nothing"),
        (False, 0.4, 0.7, "harms"),
    ],
)
def test_an_effect_is_told_by_the_work_done_after_it(removed, of_healthy, of_incident, effect):
    assert fix_matrix.MeasuredCell("a", "b", "nothing", removed, of_healthy, of_incident, 3).measured == effect


@pytest.mark.parametrize(("after", "incident", "times"), [(0.0, 0.0, 1.0), (1.0, 0.0, 100.0), (0.6, 0.5, 1.2)])
def test_an_incident_that_leaves_nothing_is_no_worse_for_a_fix_that_does_nothing(after, incident, times):
    assert fix_matrix.over(after, incident) == pytest.approx(times)
