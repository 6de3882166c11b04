"""What a candidate may mistype gets a clear answer in its place; the form keeps it; the log takes nothing."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.practice.conftest import bodies, kinds, token

FLOOR = "collective-floor-production"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("banana", "I cannot read “banana”. Write a time like 5.6 s."),
        ("-3 s", "A time must be more than zero, and -3 is not. Write a time like 5.6 s."),
        ("5.6", "5.6 of what? Write the unit too, for example 5.6 s."),
        ("1e400 s", "1e400 is larger than any number I can hold. Write a time like 5.6 s."),
        ("5,6 s", "Write a decimal point and no thousands separator"),
        ("280 GB", "280 GB is an amount of data, and a time is asked for."),
        ("9" * 500, "That is 500 characters; a quantity has at most 64."),
    ],
)
@pytest.mark.parametrize("who", ["ada", "plain_ada"])
def test_a_floor_that_is_none_is_answered_beside_its_field(request, who, typed, said):
    candidate = request.getfixturevalue(who)
    attempt = candidate.start()
    answer = candidate.do(attempt, "estimate", **{FLOOR: typed})
    html = answer.content.decode()
    assert answer.status_code == 422
    assert said in html
    assert f'id="{FLOOR}-error"' in html and f'aria-describedby="{FLOOR}-error"' in html
    assert f'value="{typed[:64]}"' in html
    assert kinds(attempt) == []


def test_good_values_beside_a_bad_one_are_kept(ada):
    attempt = ada.start()
    answer = ada.do(attempt, "estimate", **{FLOOR: "banana", "collective-floor-lab": "0.44 s"})
    assert answer.status_code == 422
    assert [body["value"] for body in bodies(attempt, "estimate")] == ["0.44 s"]
    ada.do(attempt, "estimate", **{FLOOR: "5.6 s"})
    assert [body["value"] for body in bodies(attempt, "estimate")] == ["0.44 s", "5.6 s"]


def test_only_the_first_value_of_an_estimate_counts(ada):
    attempt = ada.start()
    ada.do(attempt, "estimate", **{FLOOR: "5.6 s"})
    again = ada.do(attempt, "estimate", **{FLOOR: "9 s"})
    assert "The first value counts, and it is noted already: 5.6 s." in again.content.decode()
    assert [body["value"] for body in bodies(attempt, "estimate")] == ["5.6 s"]


def test_a_page_says_noted_and_not_how_right_it_was(plain_ada):
    attempt, other = plain_ada.start(), plain_ada.start()
    plain_ada.do(attempt, "estimate", **{FLOOR: "5.6 s"})
    plain_ada.do(other, "estimate", **{FLOOR: "9.9 s"})
    right, wrong = (plain_ada.page(one) for one in (attempt, other))
    assert "noted at" in right and "noted at" in wrong
    around = [html[html.index('id="estimates"') : html.index('id="verdict"')] for html in (right, wrong)]
    assert _plain(around[0]).replace("5.6 s", "") == _plain(around[1]).replace("9.9 s", "")


def _plain(html: str) -> str:
    import re

    html = re.sub(r'value="[^"]{12,}"|/attempts/[0-9a-f-]+/|\d\d:\d\d', "", html)
    return html


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("step", {"step": "link-rate"}, "did you mean &quot;link-rates&quot;?"),
        ("step", {"step": "reboot"}, "There is no step “reboot” here"),
        ("step", {"step": "microbenchmark"}, "Choose the size first: small or job."),
        ("step", {"step": "link-rates", "with-scope": "moon"}, "Choose the scope first: suspects or all."),
        ("verdict", {"collective": "maybe"}, "There is no collective “maybe” here"),
        ("verdict", {}, "Choose a collective first."),
        ("rule_out", {}, "Tick at least one cause that this reading rules out."),
        ("rule_out", {"causes": "gremlins"}, "“gremlins” is none of the causes here"),
        ("rule_out", {"causes": "no-overlap", "because": "999"}, "That evidence is not in this attempt."),
        ("note", {"text": "   "}, "The note is empty."),
        ("note", {"text": "x" * 5000}, "A note holds 4,000 characters; this has 5,000."),
        ("diagnose", {"confidence": "90"}, "Name at least one cause."),
        (
            "diagnose",
            {"causes": "no-overlap", "confidence": "very"},
            "Write your confidence as a number from 0 to 100.",
        ),
        ("diagnose", {"causes": "no-overlap", "confidence": "140"}, "Confidence goes from 0 to 100 %"),
        ("diagnose", {"causes": "no-overlap", "confidence": "nan"}, "Confidence goes from 0 to 100 %"),
        ("diagnose", {"causes": "no-overlap", "confidence": "5", "where": "rank:77"}, "There is no place “rank:77”"),
        ("success", {"metric": "fraction-of-floor", "threshold": "fast"}, "I cannot read “fast”."),
        ("verify", {"variant": "microbenchmark"}, "Choose what to measure again."),
    ],
)
@pytest.mark.parametrize("who", ["ada", "plain_ada"])
def test_an_order_that_cannot_be_is_refused_in_place(request, who, kind, fields, said):
    candidate = request.getfixturevalue(who)
    attempt = candidate.start()
    answer = candidate.do(attempt, kind, **fields)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert kinds(attempt) == []


def test_a_fix_before_success_is_declared_is_too_early(ada):
    attempt = ada.start()
    answer = ada.do(attempt, "fix", fix="reboot-switches")
    assert answer.status_code == 409
    assert "Declare first what success would be" in answer.content.decode()


def test_a_fix_that_takes_a_place_asks_for_it(ada):
    attempt = ada.start()
    ada.do(attempt, "success", metric="step-time", threshold="700 ms")
    answer = ada.do(attempt, "fix", fix="replace-link")
    assert answer.status_code == 422
    assert "This fix needs its link: choose where." in answer.content.decode()
    answer = ada.do(attempt, "fix", fix="replace-link", **{"where-replace-link": "rank:1"})
    assert "This fix takes a link, and rank 1 is none." in answer.content.decode()
    assert kinds(attempt) == ["success"]


def test_after_a_fix_the_search_is_over_and_before_it_nothing_can_be_verified(ada):
    attempt = ada.start()
    early = ada.do(attempt, "verify", variant="per-rank-step-times", against="floor")
    assert early.status_code == 409 and "choose a fix first" in early.content.decode()
    ada.do(attempt, "success", metric="step-time", threshold="700 ms")
    ada.do(attempt, "fix", fix="restart-job")
    late = ada.step(attempt, "per-rank-step-times")
    assert late.status_code == 409 and "A fix is in" in late.content.decode()


def test_ten_megabytes_of_text_get_a_plain_page_and_cost_nothing(plain_ada):
    attempt = plain_ada.start()
    answer = plain_ada.do(attempt, "note", text="x" * 10_000_000)
    assert answer.status_code == 413
    assert "That is larger than this page takes." in answer.content.decode()
    assert kinds(attempt) == []


def test_an_unknown_order_and_an_unknown_incident_are_not_found(ada):
    attempt = ada.start()
    assert ada.do(attempt, "explode").status_code == 404
    assert ada.client.post(reverse("practice:start", args=["no-such"]), {"token": token()}).status_code == 404


def test_markup_in_a_note_stays_text(plain_ada):
    attempt = plain_ada.start()
    plain_ada.do(attempt, "note", text="<script>alert(1)</script>")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in plain_ada.page(attempt)
