"""Celery tasks of the lab: doorbells. What there is to do is in the database, never in the message."""

from __future__ import annotations

import functools
import logging

from celery import shared_task
from django.db import transaction
from django.utils import timezone

log = logging.getLogger(__name__)

SOFT_TIME_LIMIT_S = 150
TIME_LIMIT_S = 180
CHECK_SOFT_TIME_LIMIT_S = 330
CHECK_TIME_LIMIT_S = 360


@shared_task(
    name="gpu_worker.serve_lab",
    queue="lab",
    acks_late=True,
    reject_on_worker_lost=True,
    ignore_result=True,
    soft_time_limit=SOFT_TIME_LIMIT_S,
    time_limit=TIME_LIMIT_S,
)
def serve_lab() -> None:
    """Takes the most urgent queued run, if any, runs it, and rings again for the next one."""
    from gpu_worker.serving import serve as serving

    if serving.serve_one(timezone.now):
        ring_now()


@shared_task(
    name="gpu_worker.check_lab",
    queue="lab",
    acks_late=True,
    reject_on_worker_lost=False,
    ignore_result=True,
    soft_time_limit=CHECK_SOFT_TIME_LIMIT_S,
    time_limit=CHECK_TIME_LIMIT_S,
)
def check_lab() -> None:
    """Warms the lab up, and self-checks this machine where its last check is missing or old."""
    from gpu_worker.serving import serve as serving

    serving.make_ready(timezone.now)


def ring_on_commit() -> None:
    """Rings the doorbell once the open transaction commits, at once where none is open."""
    transaction.on_commit(functools.partial(ring_now), robust=True)


def ring_now(task: str = "serve_lab") -> None:
    """Rings; a broker that cannot be reached is logged and no more, since the worker looks for work by itself."""
    from gpu_worker.serving import broker

    if not broker.answers():
        log.warning("the lab's doorbell did not ring: Redis does not answer")
        return
    try:
        {"serve_lab": serve_lab, "check_lab": check_lab}[task].apply_async(retry=False)
    except Exception as unreachable:
        log.warning("the lab's doorbell did not ring: %s", unreachable)
