"""A small calibration is built as it was. Where that changed on purpose: `python -m tests.grader.kept_tables`."""

from __future__ import annotations

import pytest

from tests.grader import kept_tables
from tests.grader.kept import differences


@pytest.mark.parametrize("name", kept_tables.shown())
def test_a_table_is_built_as_it_was(name):
    assert list(differences(kept_tables.made(name), kept_tables.kept()[name])) == []


def test_each_way_of_building_is_taken():
    reports = {
        (name, cause): (report["basis"], len(report["pool"]))
        for name, table in kept_tables.kept().items()
        for cause, report in table["variants"][name if name in kept_tables.RULES else "level"]["report"].items()
    }
    assert {basis for basis, _ in reports.values()} == {"fit", "counts", "deterministic"}
    assert max(pooled for _, pooled in reports.values()) > 1
    assert kept_tables.kept()["together"]["tempering"]
