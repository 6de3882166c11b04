"""A published revision never changes: CI refuses an edit, and publishing is all or nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from scenarios import library, publish, released
from scenarios.errors import ScenarioError

KEY = "slow-all-reduce"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of the flagship's first revision alone, with its own list of releases."""
    (tmp_path / "library" / "stragglers").mkdir(parents=True)
    shutil.copy(library.file_of(KEY, 1), tmp_path / "library" / "stragglers" / f"{KEY}.yaml")
    monkeypatch.setattr(library, "FOLDER", tmp_path / "library")
    monkeypatch.setattr(released, "FILE", tmp_path / "released.json")
    released.record(library.get(KEY))
    return tmp_path / "library" / "stragglers"


def next_revision(folder: Path) -> Path:
    text = (folder / f"{KEY}.yaml").read_text().replace("revision: 1\n", "revision: 2\n")
    file = folder / f"{KEY}@2.yaml"
    file.write_text(text.replace("time_budget_min: 90", "time_budget_min: 100"))
    return file


def test_no_released_revision_of_the_library_was_edited():
    """Failing: you edited a revision that attempts were scored by. Write <key>@<n>.yaml (docs/authoring.md)."""
    assert [problem for one in library.every() if (problem := released.problem(one))] == []


def test_every_released_revision_is_still_kept():
    kept = {released.name_of(one) for one in library.every()}
    assert set(released.digests()) <= kept


def test_every_incident_that_is_offered_and_calibrated_is_released():
    """Failing: python manage.py scenario publish KEY"""
    assert [one.key for one in library.shipped() if not released.is_released(one)] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("time_budget_min: 90", "time_budget_min: 91"),
        ("{duty: [0.224, 0.32]}", "{duty: [0.225, 0.32]}"),
        ("  - link-error-counters\n", ""),
        ("Reboot the switches", "Reboot all switches"),
    ],
)
def test_an_edit_of_what_a_released_file_says_is_noticed(folder, old, new):
    file = folder / f"{KEY}.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    assert released.is_changed(library.load(file))
    assert "write the edit as slow-all-reduce@2.yaml, revision 2" in str(released.problem(library.load(file)))
    with pytest.raises(CommandError, match=r"slow-all-reduce.yaml:5: revision 1 is released"):
        call_command("scenario", "check", str(file))


def test_comments_and_layout_may_be_mended(folder):
    file = folder / f"{KEY}.yaml"
    file.write_text("# A better comment.\n" + file.read_text().replace("stop_weight: 1\n", "stop_weight:   1\n"))
    assert released.problem(library.load(file)) is None


def test_publishing_puts_the_next_revision_in_the_place_of_the_one_before(folder):
    next_revision(folder)
    publish.publish(library.get(KEY, 2))
    assert library.get(KEY).revision == 2
    assert library.get(KEY, 1).time_budget_min == 90
    assert set(released.digests()) == {f"{KEY}@1", f"{KEY}@2"}


def test_publishing_again_changes_nothing(folder):
    before = released.digests()
    publish.publish(library.get(KEY))
    assert released.digests() == before and sorted(path.name for path in folder.iterdir()) == [f"{KEY}.yaml"]


def test_what_cannot_be_noted_is_not_offered_either(folder, monkeypatch, tmp_path):
    next_revision(folder)
    monkeypatch.setattr(released, "FILE", tmp_path / "no such folder" / "released.json")
    with pytest.raises(OSError):
        publish.publish(library.get(KEY, 2))
    assert library.get(KEY).revision == 1
    assert sorted(path.name for path in folder.iterdir()) == [f"{KEY}.yaml", f"{KEY}@2.yaml"]


def test_a_revision_that_is_not_calibrated_is_not_published(folder):
    file = next_revision(folder)
    file.write_text(file.read_text().replace("table: leaf-spine-ddp", "table: not-there-yet"))
    with pytest.raises(CommandError, match="table not-there-yet has no calibration") as caught:
        call_command("scenario", "publish", f"{KEY}@2")
    assert caught.value.returncode == 1
    assert not released.is_released(library.get(KEY, 2))


def test_a_revision_that_is_not_kept_is_not_published(folder):
    with pytest.raises(ScenarioError, match="revision 2 is not kept"):
        library.file_of(KEY, 2)


def test_a_new_incident_is_offered_by_publishing_its_first_revision(folder):
    text = (folder / f"{KEY}.yaml").read_text().replace(f"key: {KEY}\n", "key: new-incident\n")
    (folder / "new-incident@1.yaml").write_text(text)
    assert library.keys() == [KEY]
    publish.publish(library.get("new-incident", 1))
    assert library.keys() == ["new-incident", KEY]
    assert sorted(path.name for path in folder.iterdir()) == ["new-incident.yaml", f"{KEY}.yaml"]
    assert released.is_released(library.get("new-incident"))
