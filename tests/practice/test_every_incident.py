"""Every incident that is offered can be practised: each of its steps is answered, each of its fixes can be tried."""

from __future__ import annotations

import pytest
from django.urls import reverse

from gpu_worker.probes.base import variants
from practice import places
from practice.models import Scorecard
from scenarios import library, palette
from scenarios.format import Scenario
from tests.practice.conftest import bodies, kinds

PLACES = {"rank": "rank:1", "host": "host:1", "link": "link:host1-leaf0", None: ""}
each = pytest.mark.parametrize("incident", library.shipped(), ids=lambda one: one.key)


@pytest.fixture(autouse=True)
def same_draw(monkeypatch) -> None:
    monkeypatch.setattr("practice.draws.secrets.token_hex", lambda size: "1")


def test_the_first_page_offers_each_with_a_button_of_its_own(plain_ada):
    html = plain_ada.client.get(reverse("practice:home")).content.decode()
    for one in library.shipped():
        assert f'action="{reverse("practice:start", args=[one.key])}"' in html
        assert f'aria-describedby="incident-{one.key}"' in html and f'id="incident-{one.key}"' in html
        assert one.title in html


@each
def test_each_step_is_answered_and_each_fix_can_be_tried(plain_ada, incident: Scenario):
    attempt = plain_ada.start(incident.key)
    asked = [plain_ada.step(attempt, step, **first_parameters(step)) for step in incident.steps]
    declared = plain_ada.do(attempt, "success", metric="fraction-of-floor", threshold="90 %")
    tried = [plain_ada.do(attempt, "fix", fix=one.id, **{f"where-{one.id}": PLACES[one.takes_place]})
             for one in incident.fixes]  # fmt: skip
    verified = plain_ada.do(attempt, "verify", variant="microbenchmark[placement=as-job,size=job]", against="floor")
    assert {answer.status_code for answer in (*asked, declared, *tried, verified)} == {302}
    assert [body["step"] for body in bodies(attempt, "step")] == list(incident.steps)
    assert all(body["finding"] for body in (*bodies(attempt, "step"), *bodies(attempt, "verify")))
    assert kinds(attempt).count("fix") == len(incident.fixes)
    plain_ada.do(attempt, "close")
    assert 0 <= Scorecard.objects.get(attempt=attempt).total < 0.5, "nothing was estimated, ruled out or named"
    assert "of 100" in plain_ada.page(attempt, "scorecard")


def first_parameters(step: str) -> dict[str, str]:
    return variants(palette.probe_of(step))[0]


def test_the_first_page_begins_with_the_easiest(plain_ada):
    html = plain_ada.client.get(reverse("practice:home")).content.decode()
    places = [
        html.index(f'id="incident-{key}"') for key in ("first-five-minutes", "after-maintenance", "slow-all-reduce")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("scenario", library.every(), ids=lambda one: f"{one.key}@{one.revision}")
def test_every_place_that_a_fault_may_have_can_be_named(scenario):
    drawn = {place for cause in scenario.causes for place in cause.places}
    assert drawn <= places.known(scenario)
    # Wherever a moved rank may run, its host can be named too.
    assert len([place for place in places.known(scenario) if place.startswith("host:")]) > 4


def test_arithmetic_that_is_about_no_collective_is_not_called_a_floor(plain_ada):
    for key, about in (("samples-seen-twice", "arithmetic"), ("slow-all-reduce", "floor")):
        attempt = plain_ada.start(key)
        assert f"First, the {about}</h2>" in plain_ada.page(attempt)
        assert ("against the floor</h2>" in plain_ada.page(attempt, "conclusion")) == (about == "floor")
