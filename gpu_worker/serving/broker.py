"""Redis without patience: pages must never wait for a broker that is away, since the rows hold all that matters."""

from __future__ import annotations

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE_S = 0.5


def client() -> redis.Redis:
    """A client that gives up at once. redis-py's own default tries four times over some six seconds."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE_S,
        socket_connect_timeout=PATIENCE_S,
        retry=Retry(NoBackoff(), 0),
    )


def answers() -> bool:
    """Whether Redis answers now."""
    try:
        with client() as asked:
            return bool(asked.ping())
    except (redis.RedisError, OSError):
        return False
