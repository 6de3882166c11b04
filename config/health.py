"""What answers: for `make run`, for a load balancer and for people."""

from __future__ import annotations

from collections.abc import Callable

import redis
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from gpu_worker.serving import queue


def database_answers() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return bool(cursor.fetchone())


def redis_answers() -> bool:
    with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as client:
        return bool(client.ping())


def evidence_is_live() -> bool:
    return bool(queue.live_enabled(timezone.now()))


PARTS: dict[str, Callable[[], bool]] = {"database": database_answers, "redis": redis_answers, "live": evidence_is_live}


def answers(part: Callable[[], bool]) -> bool:
    """An exception is no answer."""
    try:
        return part()
    except Exception:
        return False


@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """200 where the database answers, else 503. Without Redis, or while `live` is false, the bank answers."""
    seen = {name: answers(part) for name, part in PARTS.items()}
    return JsonResponse({"ok": seen["database"], **seen}, status=200 if seen["database"] else 503)
