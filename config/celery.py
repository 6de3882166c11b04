"""The Celery app of the lab worker: one queue, `lab`, one experiment at a time on a machine."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("rank37")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def say_ready(**kwargs: Any) -> None:
    """Tells the supervisor that this worker takes work, by a file that holds its process id."""
    from config import paths

    file = paths.lab_ready_file(paths.data_dir())
    if file.parent.is_dir():
        file.write_text(str(os.getpid()))
