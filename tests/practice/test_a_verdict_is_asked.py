"""A verdict on a collective is asked for where its floor is, and nowhere else."""

from __future__ import annotations

import pytest

from practice.progress import Progress
from practice.workbench import brief
from practice.workbench.typed import Typed
from scenarios import library


@pytest.mark.parametrize(("name", "asks"), [("slow-all-reduce", True), ("resume-diverges", False)])
def test_the_form_stands_where_the_floor_of_a_collective_is_asked_for(name, asks):
    form = brief.verdict(library.named(name), Progress(), Typed())
    assert (form is not None) == asks
    assert form is None or [choice.chosen for choice in form.choices] == [False, False]
