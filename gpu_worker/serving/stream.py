"""Says on a Redis stream that a run has ended, for pages that are watched live. Best effort: the rows are the truth."""

from __future__ import annotations

import logging

import redis

from gpu_worker.models import Run
from gpu_worker.serving import broker

log = logging.getLogger(__name__)

RUNS_STREAM = "rank37:runs"
KEPT_ENTRIES = 10_000


def publish(run: Run) -> bool:
    """Adds `{run, owner, status}` to the stream. False, and a line in the log, where Redis does not answer."""
    entry: dict = {"run": str(run.pk), "owner": run.owner, "status": run.status}
    try:
        with broker.client() as client:
            client.xadd(RUNS_STREAM, entry, maxlen=KEPT_ENTRIES, approximate=True)
    except (redis.RedisError, OSError) as unreachable:
        log.warning("the end of run %s was not published: %s", run.pk, unreachable)
        return False
    return True
