"""The Celery app of the lab worker: one queue, `lab`, one experiment at a time on a machine."""

from __future__ import annotations

import os
import threading
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_ready

from config.supervisor import linux

# Of its own accord a worker leaves within a few seconds.
GRACE_S = 10.0

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("rank37")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def end_with_the_supervisor(**kwargs: Any) -> None:
    """Once its supervisor is killed a worker gets SIGTERM. Celery's own shutdown was once seen to wait for ever then,
    with its broker gone as well: a thread ends it all the same."""
    watch = threading.Thread(
        target=linux.leave_once_orphaned, args=(os.getppid(), GRACE_S), name="orphan-watch", daemon=True
    )
    watch.start()


@worker_ready.connect
def say_ready(**kwargs: Any) -> None:
    """Tells the supervisor that this worker takes work, by a file that holds its process id."""
    from config import paths

    file = paths.lab_ready_file(paths.data_dir())
    if file.parent.is_dir():
        file.write_text(str(os.getpid()))
