"""The lab's rows: runs of experiments, evidence that reads them, workers and self-checks.

Nothing here is shown to a candidate as it stands: `scenarios.evidence` makes the views.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import ClassVar

from django.db import models

from gpu_worker.serving.packing import pack, unpack
from gpu_worker.specs import ExperimentSpec, WholeRun


class RunStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


# Running goes back to queued only when the worker died, and only once (`queue.recover`).
MAY_BECOME: dict[RunStatus, set[RunStatus]] = {
    RunStatus.QUEUED: {RunStatus.RUNNING, RunStatus.FAILED},
    RunStatus.RUNNING: {RunStatus.FINISHED, RunStatus.FAILED, RunStatus.QUEUED},
    RunStatus.FINISHED: set(),
    RunStatus.FAILED: set(),
}


class Purpose(models.TextChoices):
    PREFETCH = "prefetch"
    STEP = "step"
    VERIFY = "verify"
    PLAYGROUND = "playground"
    SYMPTOM = "symptom"


class RunQuerySet(models.QuerySet["Run"]):
    def queued(self) -> RunQuerySet:
        """Waiting runs, the most urgent first; first come, first served inside one priority."""
        return self.filter(status=RunStatus.QUEUED).order_by("-priority", "created_at", "pk")

    def running(self) -> RunQuerySet:
        return self.filter(status=RunStatus.RUNNING)

    def unfinished(self) -> RunQuerySet:
        return self.filter(status__in=[RunStatus.QUEUED, RunStatus.RUNNING])

    def answering(self, owner: str, experiment: str, state: str) -> RunQuerySet:
        """The owner's runs of one experiment in one state of the lab that have not failed, oldest first."""
        same = self.filter(owner=owner, experiment=experiment, state=state)
        return same.exclude(status=RunStatus.FAILED).order_by("created_at", "pk")


class Run(models.Model):
    """One experiment asked of the lab. Its nominal times, never its real ones, decide what a candidate waits."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    experiment = models.CharField(max_length=120)
    spec = models.JSONField()
    status = models.CharField(max_length=10, choices=RunStatus.choices, default=RunStatus.QUEUED)
    priority = models.SmallIntegerField(help_text="larger is more urgent")
    first_priority = models.SmallIntegerField(help_text="before it was hurried")
    hurried_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=80)
    purpose = models.CharField(max_length=12, choices=Purpose.choices)
    state = models.CharField(max_length=40, blank=True, default="")
    result = models.BinaryField(null=True, blank=True)
    failure = models.TextField(blank=True, default="")
    tries = models.PositiveSmallIntegerField(default=0)
    progress = models.JSONField(default=dict)
    nominal_s = models.FloatField()
    worker = models.CharField(max_length=120, blank=True, default="")
    worker_pid = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField()
    retried_at = models.DateTimeField(null=True, blank=True, help_text="when it was taken up again after a worker died")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["status", "-priority", "created_at"], name="run_urgency"),
            models.Index(fields=["owner", "experiment", "state"], name="run_owner"),
            models.Index(fields=["created_at"], name="run_created"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment} {self.status}"

    @property
    def experiment_spec(self) -> ExperimentSpec:
        return ExperimentSpec.model_validate(self.spec)

    def whole_run(self) -> WholeRun | None:
        """What the run measured; None until it has finished."""
        return None if self.result is None else unpack(self.result)

    @staticmethod
    def packed(whole: WholeRun) -> bytes:
        return pack(whole)


class Answer(models.Model):
    """Which run answers one experiment for one owner in one state of the lab: decided once, never changed.

    Every step of an attempt that reads the experiment reads this run: `run`, or where it is null the copy of the
    bank's. A copy, since a later release may bring another bank, and what was once shown must not change.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.CharField(max_length=80)
    experiment = models.CharField(max_length=120)
    state = models.CharField(max_length=40, blank=True, default="")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="answers")
    banked = models.BinaryField(null=True, blank=True)
    decided_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["owner", "experiment", "state"], name="one_answer_an_experiment"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment} answered {'live' if self.run_id else 'from the bank'}"

    def whole_run(self) -> WholeRun:
        """What was measured. Raises ValueError for a row that holds neither a finished run nor a copy."""
        blob = self.run.result if self.run is not None else self.banked
        if blob is None:
            raise ValueError(f"the answer {self.pk} has no stored run")
        return unpack(blob)


class EvidenceQuerySet(models.QuerySet["Evidence"]):
    def of(self, owner: str) -> EvidenceQuerySet:
        return self.filter(owner=owner).order_by("requested_at", "pk")

    def pending(self) -> EvidenceQuerySet:
        return self.filter(shown_at=None)

    def shown(self) -> EvidenceQuerySet:
        return self.exclude(shown_at=None)


class Evidence(models.Model):
    """One chosen step and the run that answers it. The finding is fixed when it is first shown."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.CharField(max_length=80)
    purpose = models.CharField(max_length=12, choices=Purpose.choices)
    step = models.CharField(max_length=60)
    variant = models.CharField(max_length=160)
    with_params = models.JSONField(default=dict)
    experiment = models.CharField(max_length=120)
    state = models.CharField(max_length=40, blank=True, default="")
    slot = models.PositiveSmallIntegerField(help_text="which of the owner's places for pending steps it takes")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="evidence")
    table = models.CharField(max_length=120)
    bank_instance = models.CharField(max_length=120, help_text="never shown")
    effect = models.CharField(max_length=80, blank=True, default="", help_text="what fixes before a verification left")
    live = models.BooleanField(help_text="measured for this attempt; until it is shown: expected to be")
    requested_at = models.DateTimeField()
    ready_at = models.DateTimeField()
    finding = models.CharField(max_length=60, blank=True, default="")
    shown_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=200, blank=True, default="", help_text="why the bank answered in the end")
    reported_bad = models.BooleanField(default=False)

    objects = EvidenceQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["owner", "requested_at"], name="evidence_owner"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Two steps may be pending, and a step asked for twice while pending is one: kept by the database,
            # whatever two tabs do at once.
            models.UniqueConstraint(
                fields=["owner", "slot"], condition=models.Q(shown_at=None), name="two_pending_an_owner"
            ),
            models.UniqueConstraint(
                fields=["owner", "purpose", "variant", "state"],
                condition=models.Q(shown_at=None),
                name="one_pending_a_variant",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.variant} for {self.owner}"


class SelfCheckQuerySet(models.QuerySet["SelfCheck"]):
    def last_of(self, machine: str) -> SelfCheck | None:
        return self.filter(machine=machine).order_by("-at", "-pk").first()


class SelfCheck(models.Model):
    """Whether a machine reproduced what its readings must show: live evidence rests on the last one."""

    ok = models.BooleanField()
    at = models.DateTimeField()
    machine = models.CharField(max_length=120)
    details = models.JSONField(default=dict)

    objects = SelfCheckQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.machine} {'ok' if self.ok else 'not ok'}"


class WorkerQuerySet(models.QuerySet["WorkerHeartbeat"]):
    def fresh(self, since: datetime) -> WorkerQuerySet:
        return self.filter(at__gte=since)


class WorkerHeartbeat(models.Model):
    """A lab worker's sign of life, written every few seconds, with what its machine can do."""

    worker = models.CharField(max_length=120, primary_key=True, help_text="machine and process, new at each start")
    machine = models.CharField(max_length=120)
    scope = models.CharField(max_length=120, help_text="of its process id: boot and process-id namespace")
    pid = models.PositiveIntegerField()
    at = models.DateTimeField()
    started_at = models.DateTimeField()
    capabilities = models.JSONField(default=dict)

    objects = WorkerQuerySet.as_manager()

    def __str__(self) -> str:
        return self.worker
