"""What goes wrong around an attempt: a bank that lost or broke a file, a clock set back, a log that is full."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from gpu_worker.models import Answer, Evidence
from grader.transcript import TranscriptError
from practice import draws
from practice.events import MOST_ORDERS, append
from practice.models import Attempt, Draw, Event, Person
from practice.people import SESSION_KEY
from scenarios import bank, instances, tables_file
from scenarios import evidence as service
from tests.practice.conftest import KEY, Candidate, bodies, kinds, token


@pytest.fixture
def own_bank(tmp_path: Path, monkeypatch) -> Callable[[Attempt], Path]:
    """A copy of the bank of the attempt's table; gives the path of the attempt's own file."""

    def copy(attempt: Attempt) -> Path:
        own = bank.path_of(attempt.draw.table, attempt.draw.instance)
        folder = shutil.copytree(own.parent, tmp_path / "bank" / attempt.draw.table)
        monkeypatch.setattr(bank, "FOLDER", tmp_path / "bank")
        return Path(folder) / own.name

    return copy


def lost(path: Path) -> None:
    path.unlink()


def no_gzip(path: Path) -> None:
    path.write_bytes(b"?" + path.read_bytes()[1:])


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def no_json(path: Path) -> None:
    path.write_bytes(gzip.compress(b"not json"))


def no_instance(path: Path) -> None:
    path.write_bytes(gzip.compress(b"{}"))


def a_wrong_instance(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"instance": {"cause": "no-overlap"}}'))


@pytest.mark.parametrize("breaks", [lost, no_gzip, cut_short, no_json, no_instance, a_wrong_instance])
def test_one_broken_file_of_the_bank_sets_aside_no_more_than_what_needs_it(plain_ada, own_bank, breaks):
    attempt = plain_ada.start()
    breaks(own_bank(attempt))
    assert plain_ada.client.get("/").status_code == 200
    refused = plain_ada.step(attempt, "per-rank-step-times")
    assert refused.status_code == 503 and "set aside" in refused.content.decode()
    assert attempt.draw.instance not in refused.content.decode()
    assert not Evidence.objects.filter(owner=attempt.owner).exists()
    assert plain_ada.client.get(reverse("practice:attempt", args=[attempt.pk])).status_code == 200
    other = plain_ada.client.post(reverse("practice:start", args=[KEY]), {"token": token()})
    assert other.status_code == 302


def test_an_attempt_closes_and_its_scorecard_stays_when_the_bank_has_lost_its_instance(plain_ada, own_bank):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "per-rank-step-times")
    lost(own_bank(attempt))
    assert plain_ada.do(attempt, "close").status_code == 302
    for name in ("scorecard", "transcript", "attempt"):
        assert plain_ada.client.get(reverse(f"practice:{name}", args=[attempt.pk])).status_code == 200


def test_an_attempt_from_before_instances_were_kept_reads_the_bank(plain_ada):
    attempt = plain_ada.start()
    Draw.objects.filter(attempt=attempt).update(kept={})
    assert plain_ada.step(attempt, "per-rank-step-times").status_code == 302
    assert kinds(attempt) == ["step"]


@pytest.mark.parametrize("content", ["", "{", "{}", '{"table": 7}'])
def test_a_broken_calibration_offers_no_start_and_sets_the_attempt_aside(plain_ada, monkeypatch, tmp_path, content):
    attempt = plain_ada.start()
    (tmp_path / f"{attempt.draw.table}.json").write_text(content)
    monkeypatch.setattr(tables_file, "FOLDER", tmp_path)
    assert "Its measurements are not here yet." in plain_ada.client.get("/").content.decode()
    assert plain_ada.do(attempt, "close").status_code == 503
    monkeypatch.undo()
    assert plain_ada.do(attempt, "close").status_code == 302


def test_an_attempt_that_cannot_be_graded_stays_open(plain_ada, monkeypatch):
    attempt = plain_ada.start()

    def refuse(*args):
        raise TranscriptError("event 3 (step): a step that is gone", event=3)

    with monkeypatch.context() as patched:
        patched.setattr("practice.attempts.grading.scorecard", refuse)
        assert plain_ada.do(attempt, "close").status_code == 503
    assert kinds(attempt) == []
    assert plain_ada.do(attempt, "close").status_code == 302


def test_a_full_log_refuses_orders_and_can_still_be_closed(plain_ada):
    attempt = plain_ada.start()
    Event.objects.bulk_create(
        Event(attempt=attempt, index=at, at_s=1.0, kind="ask", body={"fact": "topology"}, token=f"t{at}")
        for at in range(MOST_ORDERS)
    )
    for kind, fields in (("note", {"text": "one more"}), ("step", {"step": "per-rank-step-times"})):
        refused = plain_ada.do(attempt, kind, **fields)
        assert refused.status_code == 409 and "log is full" in refused.content.decode()
    assert attempt.events.count() == MOST_ORDERS
    assert plain_ada.do(attempt, "close").status_code == 302


def test_a_clock_set_back_keeps_the_log_in_order(ada):
    attempt = ada.start()
    for text, after_s in (("first", 100), ("second", 10), ("third", -50)):
        append(attempt, "note", {"text": text}, token=text, now=attempt.opened_at + timedelta(seconds=after_s))
    assert [(event.at_s, event.body["text"]) for event in attempt.events.all()] == [
        (100.0, "first"),
        (100.0, "second"),
        (100.0, "third"),
    ]


def test_a_form_from_the_browser_s_history_with_other_words_is_another_order(plain_ada):
    attempt, again = plain_ada.start(), token()
    for text in ("one", "two", "two"):
        plain_ada.do(attempt, "note", with_token=again, text=text)
    assert [body["text"] for body in bodies(attempt, "note")] == ["one", "two"]
    again = token()
    for scope in ("all", "suspects", "suspects"):
        plain_ada.do(attempt, "step", with_token=again, step="link-rates", **{"with-scope": scope})
    assert [body["with"] for body in bodies(attempt, "step")] == [{"scope": "all"}, {"scope": "suspects"}]


def test_a_first_page_from_before_the_close_opens_a_new_attempt(plain_ada):
    again, start = token(), reverse("practice:start", args=[KEY])
    first = plain_ada.client.post(start, {"token": again})["Location"]
    plain_ada.do(Attempt.objects.get(), "close")
    second = plain_ada.client.post(start, {"token": again})["Location"]
    assert first != second and Attempt.objects.count() == 2


@pytest.mark.parametrize("digit", ["²", "٣", "１", "9" * 5000, "-1", "\x00"])
def test_cited_evidence_that_is_no_number_of_this_log_is_no_crash(plain_ada, digit):
    attempt = plain_ada.start()
    answer = plain_ada.do(attempt, "rule_out", causes="no-overlap", because=digit)
    assert answer.status_code in (302, 422)


def test_nul_characters_are_left_out_of_what_is_kept(plain_ada):
    attempt = plain_ada.start()
    plain_ada.do(attempt, "note", text="a\x00b")
    plain_ada.do(attempt, "diagnose", causes="no-overlap", confidence="5", text="\x00why\x00")
    assert bodies(attempt, "note") == [{"text": "ab"}]
    assert bodies(attempt, "diagnose")[0]["text"] == "why"


def test_every_address_answers_get_and_head(plain_ada):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "per-rank-step-times")
    row = Evidence.objects.get(owner=attempt.owner)
    names = ("attempt", "conclusion", "scorecard", "transcript")
    addresses = [reverse(f"practice:{name}", args=[attempt.pk]) for name in names]
    names = ("evidence", "evidence_json", "evidence_csv", "report")
    addresses += [reverse(f"practice:{name}", args=[attempt.pk, row.pk]) for name in names]
    addresses += ["/", reverse("practice:act", args=[attempt.pk, "close"]), reverse("practice:start", args=[KEY])]
    for address in addresses:
        for ask in (plain_ada.client.get, plain_ada.client.head):
            assert ask(address).status_code in (200, 302), address
    row.refresh_from_db()
    assert (kinds(attempt), row.reported_bad, Attempt.objects.count()) == (["step"], False, 1)


def test_a_first_click_sent_twice_at_once_is_one_person_s_one_attempt():
    browser = Candidate()
    browser.client.get(reverse("practice:home"))
    again, start = token(), reverse("practice:start", args=[KEY])
    browser.client.post(start, {"token": again})
    # The second request read the session before the first had written who it is.
    session = browser.client.session
    del session[SESSION_KEY]
    session.save()
    browser.client.post(start, {"token": again})
    assert (Person.objects.count(), Attempt.objects.count()) == (1, 1)
    assert browser.page(Attempt.objects.get())


def test_a_running_step_that_neither_lab_nor_bank_can_answer_leaves_the_attempt_usable(plain_ada, own_bank):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "link-rates", scope="all")
    lost(own_bank(attempt))
    # As a live answer was planned, and then the lab's run failed.
    Answer.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM practice_event")
    Evidence.objects.update(live=True, shown_at=None, finding="", ready_at=timezone.now())
    for name in ("attempt", "conclusion"):
        assert plain_ada.client.get(reverse(f"practice:{name}", args=[attempt.pk])).status_code == 200
    assert plain_ada.do(attempt, "note", text="still here").status_code == 302
    assert plain_ada.do(attempt, "close").status_code == 302
    assert kinds(attempt) == ["note", "close"]


def test_a_clock_set_back_does_not_keep_a_step_waiting_for_the_old_time(plain_ada):
    attempt = plain_ada.start()
    plain_ada.step(attempt, "link-rates", scope="all")
    row = Evidence.objects.get(owner=attempt.owner)
    asked, wait = row.requested_at, timedelta(seconds=12)
    Evidence.objects.update(live=True, shown_at=None, finding="", ready_at=asked + wait)
    row.refresh_from_db()
    back = asked - timedelta(hours=1)
    assert not service.settle(row, now=back)
    assert row.ready_at == back + wait
    assert 0 <= service.progress(row, now=back)["share"] <= 1
    assert service.settle(row, now=back + wait)


def test_nobody_meets_an_instance_again_while_its_cause_has_others(plain_ada, draws_cause):
    draws_cause("degraded-link")
    met = [plain_ada.start().draw for _ in range(3)]
    assert len({draw.instance for draw in met}) == 3
    assert {instances.get(draw.table, draw.instance).cause for draw in met} == {"degraded-link"}


def test_what_was_met_in_one_incident_does_not_come_in_another_of_its_table(plain_ada, draws_cause, scenario):
    draws_cause("degraded-link")
    first, second = plain_ada.start(), plain_ada.start()
    drawn = draws.draw(scenario.model_copy(update={"key": "another-incident"}), first.person).instance
    assert drawn.cause == "degraded-link" and drawn.id not in {first.draw.instance, second.draw.instance}


def test_where_every_instance_was_met_one_of_them_comes_again(scenario):
    every = {instance.id for instance in bank.complete_instances(scenario)}
    causes = {instances.draw(scenario, seed=str(seed), avoid=every).cause for seed in range(40)}
    assert causes == {instances.draw(scenario, seed=str(seed)).cause for seed in range(40)}
