"""Before the close, no answer of the whole path holds anything of the draw, nor a finding beside its siblings."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from gpu_worker.models import Evidence
from gpu_worker.probes import PROBES
from practice.models import Attempt, Draw
from tests.practice.conftest import Candidate, without_tokens

CAUSES = ["degraded-link", "throttled-rank", "comparison-changed"]


def path_of(candidate: Candidate, attempt: Attempt) -> dict[str, str]:
    """Every answer that a candidate can get on the way, by what was asked."""
    answers = {
        "ask": candidate.do(attempt, "ask", fact="topology"),
        "hypothesis": candidate.do(attempt, "hypothesis", causes=["throttled-rank", "no-overlap"]),
        "step": candidate.step(attempt, "per-rank-step-times"),
        "step 2": candidate.step(attempt, "link-rates", scope="all"),
        "success": candidate.do(attempt, "success", metric="step-time", threshold="700 ms"),
        "fix": candidate.do(attempt, "fix", fix="restart-job"),
        "verify": candidate.do(attempt, "verify", variant="overlap-trace", against="floor"),
        **{
            name: candidate.client.get(reverse(f"practice:{name}", args=[attempt.pk]))
            for name in ("attempt", "conclusion")
        },
        "home": candidate.client.get(reverse("practice:home")),
    }
    for row in Evidence.objects.of(attempt.owner):
        for name in ("evidence", "evidence_json", "evidence_csv"):
            url = reverse(f"practice:{name}", args=[attempt.pk, row.pk])
            answers[f"{name} {row.step}"] = candidate.client.get(url, headers=candidate.headers)
    return {asked: f"{answer.headers}\n{answer.content.decode()}" for asked, answer in answers.items()}


@pytest.mark.parametrize("cause", CAUSES)
def test_no_answer_holds_the_draw(ada, draws_cause, cause):
    draws_cause(cause)
    attempt = ada.start()
    answers = path_of(ada, attempt)
    draw = Draw.objects.get(attempt=attempt)
    # A parameter itself may be read: a link's rate is a configuration that a practitioner reads.
    secret = [draw.instance, draw.table, draw.symptom_finding]
    for asked, text in answers.items():
        for word in secret:
            assert word not in text, f"{asked} holds {word}"
        for word in ('"fired"', "bank_instance", "accepted_places", "truths", '"finding"', "debrief"):
            assert word not in text, f"{asked} holds {word}"


@pytest.mark.parametrize("cause", CAUSES)
def test_a_finding_stands_on_a_page_only_among_all_that_the_step_can_have(plain_ada, draws_cause, cause):
    """Findings are there to be predicted from: all of a step's, once a hypothesis, in their own order."""
    draws_cause(cause)
    attempt = plain_ada.start()
    plain_ada.do(attempt, "hypothesis", causes=["throttled-rank", "no-overlap"])
    plain_ada.step(attempt, "per-rank-step-times")
    html = plain_ada.page(attempt)
    for step in ("per-rank-step-times", "overlap-trace"):
        form = html[html.index(f'id="step-{step}"') :]
        form = form[: form.index("</form>")]
        listed = re.findall(r'<option value="([a-z-]+)">', form)
        assert listed == list(PROBES[step].findings) * 2
    after_palette = html[html.index('id="timeline"') :]
    sentences = [sentence for step in ("per-rank-step-times",) for sentence in PROBES[step].findings.values()]
    assert not [sentence for sentence in sentences if sentence in after_palette]


def test_what_stands_beside_the_readings_is_alike_under_every_cause(plain_ada, draws_cause):
    """Lists of causes, fixes, places and steps, their order, labels and prices."""
    shown = set()
    for cause in CAUSES:
        draws_cause(cause)
        attempt = plain_ada.start()
        html = without_tokens(plain_ada.page(attempt)) + without_tokens(plain_ada.page(attempt, "conclusion"))
        for panel in ("palette", "board", "diagnosis", "fixes", "prevention"):
            start = html.index(f'id="{panel}"')
            shown.add((panel, html[start : html.index("</section>\n", start)].replace(str(attempt.pk), "")))
    assert len(shown) == 5
