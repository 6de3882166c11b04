"""The watch that a lab worker keeps beside its pool: signs of life, runs of dead workers, doorbells that were lost.

A thread of the worker's main process, which never measures. Redis may restart and lose every message: what waits is
in the database, and the watch rings again.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from datetime import datetime, timedelta
from typing import Any

from celery.signals import worker_init, worker_ready
from django.db import close_old_connections, connections
from django.utils import timezone

from gpu_worker.serving import liveness

log = logging.getLogger(__name__)

OLD_BEATS = timedelta(days=1)
RING_CHECK_EVERY = timedelta(seconds=60)
# A doorbell that is on its way needs no second one.
PATIENCE = timedelta(seconds=2)


class Watch:
    """One worker's watch. `look` is one pass; `start` makes a thread that looks every few seconds.

    The thread ends with its process and not before: while a worker still finishes its run, it must be seen to live.
    """

    def __init__(self, name: str, pid: int, started_at: datetime) -> None:
        self.name = name
        self.pid = pid
        self.capabilities: dict[str, Any] = {}
        self.started_at = started_at
        self.check_rung_at: datetime | None = None
        self.begun = False
        self.over = threading.Event()

    @property
    def able(self) -> bool:
        """Whether this machine can run the lab at all."""
        from gpu_worker.serving.queue import LAB_NEEDS

        return all(self.capabilities.get(name, {}).get("available", False) for name in LAB_NEEDS)

    def look(self, now: datetime) -> None:
        """Beats, takes up what dead workers left, rings for what waits, asks for a self-check where one is due."""
        from gpu_worker.serving import queue

        self.beat(now)
        queue.recover(now)
        self.ring_for_what_waits(now)
        self.ring_for_a_check(now)

    def beat(self, now: datetime) -> None:
        from gpu_worker.models import WorkerHeartbeat

        if not self.begun:
            WorkerHeartbeat.objects.filter(at__lt=now - OLD_BEATS).delete()
            self.begun = True
        WorkerHeartbeat.objects.update_or_create(
            worker=self.name,
            defaults={
                "machine": liveness.machine_id(),
                "scope": liveness.scope(),
                "pid": self.pid,
                "at": now,
                "started_at": self.started_at,
                "capabilities": self.capabilities,
            },
        )

    def ring_for_what_waits(self, now: datetime) -> None:
        from gpu_worker.models import Run
        from gpu_worker.tasks import ring_now

        if not self.able or Run.objects.running().filter(worker=self.name).exists():
            return
        if Run.objects.queued().filter(created_at__lte=now - PATIENCE).exists():
            ring_now()

    def ring_for_a_check(self, now: datetime) -> None:
        from gpu_worker.models import Run
        from gpu_worker.serving.serve import check_is_due
        from gpu_worker.tasks import ring_now

        if not self.able:
            return
        first = self.check_rung_at is None
        lately = self.check_rung_at is not None and now - self.check_rung_at < RING_CHECK_EVERY
        busy = Run.objects.unfinished().exists()
        # The first ring warms the lab up, whether or not a check is due; a later check waits for an idle lab.
        if first or (not lately and not busy and check_is_due(now)):
            self.check_rung_at = now
            ring_now("check_lab")

    def start(self) -> None:
        threading.Thread(target=self.keep, name="lab-watch", daemon=True).start()

    def keep(self) -> None:
        from gpu_worker.lab.capabilities import capabilities
        from gpu_worker.serving.queue import HEARTBEAT_EVERY_S

        # Tried here and not in the main thread: it takes a second or two, and the worker is to take work meanwhile.
        self.capabilities = capabilities()
        while not self.over.is_set():
            self.look_safely()
            self.over.wait(HEARTBEAT_EVERY_S)

    def look_safely(self) -> None:
        """A database that is away for a moment must not end the watch."""
        try:
            close_old_connections()
            self.look(timezone.now())
        except Exception:
            log.exception("the lab's watch could not look; it will look again")
        finally:
            # The pool forks children at any time: they must not inherit this thread's connection.
            connections.close_all()


_name = ""
_watch: Watch | None = None


def name_of_worker() -> str:
    """Of the Celery worker that this process is, or was forked from; empty elsewhere."""
    return _name


def new_name() -> str:
    return f"{liveness.machine_id()}-{os.getpid()}-{secrets.token_hex(3)}"


@worker_init.connect
def name_the_worker(**kwargs: Any) -> None:
    """Before the pool forks, so that its children know whom they serve for."""
    global _name
    _name = new_name()


@worker_ready.connect
def keep_watch(**kwargs: Any) -> None:
    global _watch
    _watch = Watch(_name, os.getpid(), timezone.now())
    _watch.start()
