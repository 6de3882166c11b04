"""Attempts that differ in nothing but their hidden draw, and everything that a candidate can fetch of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.test import Client
from django.urls import reverse

from gpu_worker.models import Evidence, Run, RunStatus
from gpu_worker.probes.base import variants
from grader.transcript import variant_id
from practice.models import Attempt, Choice, Draw, Event, Person
from practice.people import SESSION_KEY
from scenarios import bank, instances, library, palette
from scenarios.format import Scenario
from scenarios.instances import Instance

KEY = "slow-all-reduce"
ATTEMPT = UUID("11111111-2222-4333-8444-555555555555")
PERSON = UUID("99999999-2222-4333-8444-555555555555")

# A form's token and the one against forgery are random in every rendering, whatever the cause.
RANDOM = re.compile(r'(name="(?:csrfmiddlewaretoken|token)" value=")[^"]*"')

# Every step that the incident offers, with the first parameters that a candidate might choose, and two with others.
OTHERS = (("link-rates", {"scope": "all"}), ("microbenchmark", {"size": "job", "placement": "as-job"}))
TURNS = 8
STEPS = (*((step, variants(palette.probe_of(step))[0]) for step in library.get(KEY).steps), *OTHERS)


@dataclass(frozen=True)
class Readings:
    """The stored runs that every scene shows: those of one instance, whatever the scene's own draw."""

    shown: Instance
    symptom: dict
    fraction_of_floor: float


def one_of_each_cause(scenario: Scenario) -> dict[str, Instance]:
    """The first complete instance of each cause in the bank."""
    found: dict[str, Instance] = {}
    for instance in bank.complete_instances(scenario):
        found.setdefault(instance.cause, instance)
    return {cause: found[cause] for cause in scenario.prior}


class Scene:
    """One attempt in the middle of its search, drawn under `instance`, with the readings of another one."""

    def __init__(self, instance: Instance, readings: Readings, now: datetime) -> None:
        self.instance, self.readings, self.now = instance, readings, now
        self.scenario = library.get(KEY)
        self.attempt = self._attempt()
        self.shown: list[Evidence] = []
        self.index = 0

    def _attempt(self) -> Attempt:
        person = Person.objects.create(pk=PERSON, created_at=self.now)
        attempt = Attempt.objects.create(
            pk=ATTEMPT,
            person=person,
            scenario=self.scenario.key,
            revision=self.scenario.revision,
            calibration="c",
            symptom=self.readings.symptom,
            opened_at=self.now - timedelta(minutes=20),
            token="opening-form",
        )
        Draw.objects.create(
            attempt=attempt,
            table=self.instance.table,
            instance=self.instance.id,
            symptom_finding="collective-below-floor",
            fraction_of_floor=self.readings.fraction_of_floor,
        )
        return attempt

    def event(self, kind: str, **body) -> None:
        Event(
            attempt=self.attempt, index=self.index, at_s=60.0 + self.index, kind=kind, body=body, token=f"t{self.index}"
        ).save(force_insert=True)
        self.index += 1

    def evidence(self, number: int, step: str, with_: dict, *, purpose="step", state="", effect="", pending=False):
        """A row answered by a stored run of the shown instance, under ids that are alike in every scene."""
        probe = palette.probe_of(step)
        experiment = probe.experiment(with_)
        run = self._run(number, experiment, purpose, state)
        whole = bank.whole_run(self.readings.shown.table, self.readings.shown.id, experiment)
        finding = probe.finding(probe.read(whole, with_))
        row = Evidence.objects.create(
            pk=UUID(int=1000 + number),
            owner=self.attempt.owner,
            purpose=purpose,
            step=step,
            variant=variant_id(step, with_),
            with_params=with_,
            experiment=experiment,
            state=state,
            slot=0,
            run=None if pending else run,
            table=self.instance.table,
            bank_instance=self.instance.id,
            effect=effect,
            live=True,
            requested_at=self.now - timedelta(seconds=5 if pending else 300),
            ready_at=self.now + timedelta(seconds=10) if pending else self.now - timedelta(seconds=290),
            finding="" if pending else finding,
            shown_at=None if pending else self.now - timedelta(seconds=290),
        )
        Choice.objects.create(attempt=self.attempt, token=f"choice{number}", evidence=row.pk, chosen_at=self.now)
        if not pending:
            self.event(purpose, step=step, **{"with": with_}, finding=finding, evidence=str(row.pk))
            self.shown.append(row)
        return row

    def _run(self, number: int, experiment: str, purpose: str, state: str) -> Run:
        whole = bank.whole_run(self.readings.shown.table, self.readings.shown.id, experiment)
        return Run.objects.create(
            pk=UUID(int=number + 1),
            experiment=experiment,
            spec=instances.spec_for(self.instance, experiment).model_dump(mode="json", by_alias=True),
            status=RunStatus.FINISHED,
            priority=1,
            first_priority=1,
            owner=self.attempt.owner,
            purpose=purpose,
            state=state,
            result=Run.packed(whole),
            nominal_s=15.0,
            created_at=self.now - timedelta(minutes=10),
            started_at=self.now - timedelta(minutes=9),
            finished_at=self.now - timedelta(minutes=8),
        )

    def play(self) -> Scene:
        """Facts, an estimate, every step, a rule-out, a diagnosis, a fix and its verification; two steps pending."""
        self.event("ask", fact="precision")
        self.event("estimate", quantity="collective-floor", scale="production", value="5.6 s")
        self.event("verdict", collective="below-floor")
        self.event("hypothesis", causes=["degraded-link", "throttled-rank"])
        for number, (step, with_) in enumerate(STEPS):
            self.evidence(number, step, dict(with_))
        self.event("rule_out", causes=["no-overlap"], families=[], because=[4])
        return self

    def conclude(self) -> Scene:
        """The state after a fix whose effect differs from cause to cause."""
        self.event("diagnose", causes=["degraded-link"], where="link:host0-leaf0", confidence=0.8, because=[4])
        self.event("success", metric="fraction-of-floor", threshold="90 %")
        self.event("fix", fix="replace-link", where="link:host0-leaf0")
        return self

    def pages(self, turn: int | None) -> Iterator[str]:
        """Every address that the attempt answers before its close; of a `turn` those of every eighth evidence alone."""
        yield reverse("practice:home")
        for name in ("attempt", "conclusion", "scorecard", "transcript"):
            yield reverse(f"practice:{name}", args=[self.attempt.pk])
        shown = list(Evidence.objects.filter(owner=self.attempt.owner).order_by("pk"))
        for row in shown if turn is None else shown[turn % TURNS :: TURNS]:
            for name in ("evidence", "evidence_json", "evidence_csv"):
                yield reverse(f"practice:{name}", args=[self.attempt.pk, row.pk])

    def client(self) -> Client:
        client = Client()
        session = client.session
        session[SESSION_KEY] = str(PERSON)
        session.save()
        return client

    def answers(self, turn: int | None) -> dict[str, bytes]:
        """Status, headers and body of each of these addresses, as a page and as htmx would ask for it."""
        client, found = self.client(), {}
        for address in self.pages(turn):
            for headers in ({}, {"HTTP_HX_REQUEST": "true"}):
                got = client.get(address, **headers)
                found[f"{address} {headers}"] = whole_answer(got)
        return found


def whole_answer(response) -> bytes:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    text = RANDOM.sub(r'\1"', body.decode())
    headers = sorted((name, value) for name, value in response.items() if name != "Content-Length")
    return f"{response.status_code} {headers}\n{text}".encode()
