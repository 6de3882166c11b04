"""Three kinds of errors: a slip in place, a broken scenario set aside, our own fault with a reference."""

from __future__ import annotations

import re

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from practice.errors import ScenarioBroken
from practice.views import errors
from scenarios.errors import ScenarioError
from tests.practice.conftest import kinds, token


def test_a_broken_scenario_sets_the_attempt_aside_unharmed(plain_ada, monkeypatch):
    attempt = plain_ada.start()
    plain_ada.do(attempt, "note", text="kept")

    def broken(key, revision=None):
        raise ScenarioError("slow-all-reduce.yaml", 41, "step is not in the palette")

    with monkeypatch.context() as patched:
        patched.setattr("practice.draws.library.get", broken)
        answer = plain_ada.client.get(reverse("practice:attempt", args=[attempt.pk]))
    assert answer.status_code == 503
    assert "set aside" in answer.content.decode() and "yaml" not in answer.content.decode()
    assert kinds(attempt) == ["note"]
    assert "kept" in plain_ada.page(attempt)


def test_our_own_fault_shows_a_reference(settings):
    answer = errors.server_error(RequestFactory().get("/"))
    assert answer.status_code == 500
    assert re.search(r"Reference <code>[0-9a-f]{8}</code>", answer.content.decode())


def test_what_is_not_there_says_so():
    answer = Client().get("/no/such/page")
    assert answer.status_code == 404
    assert "There is nothing here." in answer.content.decode()


def test_a_form_of_another_session_is_told_so(plain_ada):
    client = Client(enforce_csrf_checks=True)
    answer = client.post(reverse("practice:start", args=["slow-all-reduce"]), {"token": token()})
    assert answer.status_code == 403
    assert "older session" in answer.content.decode()


def test_a_scenario_without_its_bank_offers_no_start(plain_ada, monkeypatch):
    monkeypatch.setattr("practice.draws.bank.complete_instances", lambda scenario: [])
    html = plain_ada.client.get(reverse("practice:home")).content.decode()
    assert "Its measurements are not here yet." in html and "Start a new attempt" not in html
    with pytest.raises(ScenarioBroken):
        from practice import draws
        from scenarios import library

        draws.draw(library.get("slow-all-reduce"))
