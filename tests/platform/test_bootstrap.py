"""The environment is made once, and what is missing is said in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config import bootstrap, paths


def test_a_python_that_is_too_old_is_named_with_the_repair():
    said = bootstrap.missing_from((3, 9, 2), lambda module: True)
    assert said == (
        "Python 3.9.2 is too old: Rank 37 needs 3.11 or newer. Name one: make run PYTHON=/path/to/python3.11"
    )


@pytest.mark.parametrize("module", bootstrap.NEEDS)
def test_a_missing_module_of_python_is_named_with_the_repair(module: str):
    said = bootstrap.missing_from((3, 11, 0), lambda name: name != module)
    assert f"no module {module}" in said
    assert bootstrap.NEEDS[module] in said


def test_a_whole_python_lacks_nothing():
    assert bootstrap.missing_from(sys.version_info[:3], bootstrap.find_spec) == ""


def test_the_stamp_of_the_tests_covers_running(tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "runs", lambda: True)
    assert not bootstrap.is_installed("base")
    bootstrap.stamp("test").write_text(bootstrap.digest("test"))
    assert bootstrap.is_installed("base")
    assert bootstrap.is_installed("test")
    assert not bootstrap.is_installed("mutation")


def test_a_stamp_of_other_requirements_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "runs", lambda: True)
    bootstrap.stamp("base").write_text("0" * 64)
    assert not bootstrap.is_installed("base")


def test_an_environment_that_was_moved_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "PYTHON", tmp_path / "bin" / "python")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    assert not bootstrap.runs()


def test_a_goal_that_is_none_is_bad_usage():
    done = subprocess.run(
        [sys.executable, "-m", "config.bootstrap", "fly"], cwd=paths.BASE_DIR, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "run|test|bench" in done.stderr


def test_bootstrapping_imports_nothing_that_is_not_python_s_own():
    code = "import sys, config.bootstrap, config.supervisor.__main__; print(*sys.modules)"
    asked = subprocess.run([sys.executable, "-c", code], cwd=paths.BASE_DIR, capture_output=True, text=True)
    loaded = {name.split(".")[0] for name in asked.stdout.split()}
    assert "config" in loaded
    assert not loaded & {"django", "celery", "redis", "pydantic", "structlog", "torch"}


def test_every_requirement_is_pinned_and_every_pin_is_exact():
    pins = {}
    for line in (paths.BASE_DIR / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            assert version, line
            pins[name.lower().replace("_", "-")] = version
    for file in ("base.txt", "test.txt", "mutation.txt"):
        for line in (paths.BASE_DIR / "requirements" / file).read_text().splitlines():
            wanted = line.partition("#")[0].partition(";")[0].strip()
            if wanted and not wanted.startswith("-r"):
                assert wanted.partition("[")[0].lower().replace("_", "-") in pins, wanted
