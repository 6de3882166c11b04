"""Settings come from the environment, and what cannot be is refused by name and with the repair."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import checks, env, paths
from config.settings import database


def check(tmp_path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`manage.py check` in a process of its own, since settings are read once a process."""
    surroundings = {**os.environ, "DATA_DIR": str(tmp_path), **variables}
    command = [sys.executable, "manage.py", "check", *arguments]
    return subprocess.run(command, cwd=paths.BASE_DIR, env=surroundings, capture_output=True, text=True)


@pytest.mark.parametrize(("given", "meant"), [("1", True), ("yes", True), ("TRUE", True), ("0", False), ("", False)])
def test_a_flag_is_a_yes_or_no(monkeypatch, given: str, meant: bool):
    monkeypatch.setenv("DEBUG", given)
    assert env.flag("DEBUG") is meant


def test_another_word_for_a_flag_is_refused_by_name(monkeypatch):
    monkeypatch.setenv("DEBUG", "maybe")
    with pytest.raises(ImproperlyConfigured, match=r"DEBUG='maybe' is neither yes nor no; set DEBUG=1 or DEBUG=0"):
        env.flag("DEBUG")


def test_a_number_that_is_none_is_refused_by_name(monkeypatch):
    monkeypatch.setenv("PORT", "eight")
    with pytest.raises(ImproperlyConfigured, match="PORT='eight' is no whole number"):
        env.whole_number("PORT", 8000)


def test_a_list_is_split_at_commas(monkeypatch):
    monkeypatch.setenv("ALLOWED_HOSTS", " a.example , b.example,")
    assert env.words("ALLOWED_HOSTS", ("x",)) == ["a.example", "b.example"]


def test_the_default_settings_have_nothing_to_say(tmp_path):
    done = check(tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("REDIS_URL", "amqp://host", "Use redis://host:6379/0"),
        ("PORT", "70000", "Use a number from 1 to 65535."),
        ("LOG_LEVEL", "loud", "Use one of DEBUG, INFO"),
        ("LOG_FORMAT", "xml", "Use one of text, json."),
        ("RANK37_ACCEPT_DISTURBED", "yes", "Use a whole number"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_the_repair(tmp_path, variable: str, value: str, said: str):
    done = check(tmp_path, **{variable: value})
    assert done.returncode != 0
    assert variable in done.stderr
    assert said in done.stderr


def test_a_passing_secret_key_is_told_where_it_is_deployed(settings):
    settings.SECRET_KEY_LASTS = False
    assert [found.id for found in checks.secret_key_lasts()] == ["rank37.W001"]
    settings.SECRET_KEY_LASTS = True
    assert checks.secret_key_lasts() == []


def test_any_host_is_warned_of(settings):
    settings.ALLOWED_HOSTS = ["*"]
    assert [found.id for found in checks.hosts_are_named()] == ["rank37.W002"]


def test_sqlite_gets_immediate_transactions_and_postgresql_none_of_it():
    assert database("sqlite:////tmp/x.sqlite3")["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "transaction_mode" not in database("postgresql://u@h/d").get("OPTIONS", {})
    assert database("postgresql://u@%2Ftmp%2Fs/d")["HOST"] == "/tmp/s"
