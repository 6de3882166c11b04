"""Everything works by plain forms: redirect after post, a refresh while a step is pending, tables beside charts."""

from __future__ import annotations

import re
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from gpu_worker.models import Evidence
from tests.practice.conftest import token

VOID_OF_SCRIPT = re.compile(r"<script(?![^>]*(src=|type=\"application/json\"))", re.I)


def test_every_form_that_htmx_sends_has_a_plain_twin(plain_ada):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "per-rank-step-times")
    for page in ("attempt", "conclusion"):
        html = plain_ada.page(attempt, page)
        forms = re.findall(r"<form[^>]*>", html)
        assert forms
        for form in forms:
            posts, action = re.search(r'hx-post="([^"]+)"', form), re.search(r'action="([^"]+)"', form)
            assert action and 'method="post"' in form
            assert posts is None or posts[1] == action[1]


def test_an_order_is_answered_by_a_redirect_to_its_place(plain_ada):
    attempt = plain_ada.start()
    answer = plain_ada.do(attempt, "note", text="hello")
    assert answer.status_code == 302
    assert answer["Location"] == reverse("practice:attempt", args=[attempt.pk]) + "#notes"


def test_an_address_of_an_order_leads_back_when_it_is_only_looked_at(plain_ada):
    attempt = plain_ada.start()
    answer = plain_ada.client.get(reverse("practice:act", args=[attempt.pk, "note"]))
    assert answer.status_code == 302


def test_a_page_refreshes_itself_only_while_a_step_is_pending(plain_ada):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "per-rank-step-times")
    assert 'http-equiv="refresh"' not in plain_ada.page(attempt)
    _pend(attempt)
    html = plain_ada.page(attempt)
    assert '<noscript><meta http-equiv="refresh"' in html
    assert "<progress" in html and 'hx-trigger="every 1s"' in html


def _pend(attempt, step: str = "input-timings", slot: int = 0) -> Evidence:
    """One more evidence that may be shown in an hour."""
    at = timezone.now()
    row = Evidence.objects.filter(owner=attempt.owner).first()
    values = {
        f.name: getattr(row, f.name) for f in Evidence._meta.fields if f.name not in ("id", "shown_at", "finding")
    }
    values |= {"step": step, "variant": step, "slot": slot, "ready_at": at + timedelta(hours=1)}
    return Evidence.objects.create(**values, shown_at=None)


def test_a_pending_card_asks_again_and_a_whole_one_does_not(ada):
    attempt = ada.start()
    ada.step(attempt, "per-rank-step-times")
    row = _pend(attempt)
    url = reverse("practice:evidence", args=[attempt.pk, row.pk])
    asked = ada.client.get(url, headers=ada.headers).content.decode()
    assert f'hx-get="{url}"' in asked and "ruled" not in asked
    assert ada.client.get(reverse("practice:evidence_json", args=[attempt.pk, row.pk])).status_code == 404
    Evidence.objects.filter(pk=row.pk).update(ready_at=row.requested_at)
    whole = ada.client.get(url, headers=ada.headers).content.decode()
    assert "hx-get" not in whole.split("</li>")[0]
    assert 'hx-swap-oob="true"' in whole and "the reading is here" in whole


def test_a_third_step_waits_until_one_of_two_has_answered(ada):
    attempt = ada.start()
    ada.step(attempt, "per-rank-step-times")
    _pend(attempt, "input-timings", 0)
    _pend(attempt, "overlap-trace", 1)
    answer = ada.step(attempt, "host-telemetry")
    assert answer.status_code == 409
    assert "Two steps are running" in answer.content.decode()


def test_pages_carry_no_script_or_style_of_their_own(plain_ada):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "per-rank-step-times")
    plain_ada.do(attempt, "close", with_token=token())
    pages = [plain_ada.page(attempt, name) for name in ("attempt", "conclusion", "scorecard")]
    pages.append(plain_ada.client.get(reverse("practice:home")).content.decode())
    for html in pages:
        assert not VOID_OF_SCRIPT.search(html)
        assert " style=" not in html and "<style" not in html and "onclick" not in html


def test_the_policy_allows_no_inline_script_and_no_inline_style(plain_ada):
    policy = plain_ada.client.get(reverse("practice:home"))["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "unsafe" not in policy


def test_a_fix_waits_until_what_is_being_measured_is_shown(plain_ada):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "per-rank-step-times")
    plain_ada.do(attempt, "success", metric="fraction-of-floor", threshold="90 %")
    row = _pend(attempt)
    refused = plain_ada.do(attempt, "fix", fix="restart-job")
    assert refused.status_code == 409
    assert "still being measured" in refused.content.decode()
    assert not attempt.events.filter(kind="fix").exists()
    Evidence.objects.filter(pk=row.pk).update(ready_at=row.requested_at)
    plain_ada.page(attempt)
    plain_ada.do(attempt, "fix", fix="restart-job")
    assert attempt.events.filter(kind="fix").exists()
