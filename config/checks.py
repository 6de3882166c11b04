"""System checks of the settings: each names the variable and the repair."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from config import logs
from gpu_worker.errors import BadSpec
from gpu_worker.lab.provenance import tries_before_accepting

BROKERS = ("redis://", "rediss://", "unix://")


@register(Tags.security, deploy=True)
def secret_key_lasts(**kwargs: Any) -> list[CheckMessage]:
    """Without a kept key every start ends all sessions, and with them the way back to an attempt."""
    if settings.SECRET_KEY_LASTS or settings.DEBUG:
        return []
    return [
        Warning(
            "No SECRET_KEY is set or stored: the one in use ends with this process.",
            hint="`make run` stores one in the data folder; elsewhere set SECRET_KEY.",
            id="rank37.W001",
        )
    ]


@register()
def redis_url_is_known(**kwargs: Any) -> list[CheckMessage]:
    if settings.REDIS_URL.startswith(BROKERS):
        return []
    return [
        Error(
            f"REDIS_URL={settings.REDIS_URL!r} has no scheme that Rank 37 knows.",
            hint="Use redis://host:6379/0, rediss://… or unix:///path/to/redis.sock; unset: the embedded Redis.",
            id="rank37.E001",
        )
    ]


@register()
def port_is_a_port(**kwargs: Any) -> list[CheckMessage]:
    if 1 <= settings.PORT <= 65535:
        return []
    return [Error(f"PORT={settings.PORT} is no port.", hint="Use a number from 1 to 65535.", id="rank37.E002")]


@register()
def logging_is_known(**kwargs: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if settings.LOG_LEVEL not in logs.LEVELS:
        hint = f"Use one of {', '.join(logs.LEVELS)}."
        found.append(Error(f"LOG_LEVEL={settings.LOG_LEVEL!r} is no level.", hint=hint, id="rank37.E003"))
    if settings.LOG_FORMAT not in logs.FORMATS:
        hint = f"Use one of {', '.join(logs.FORMATS)}."
        found.append(Error(f"LOG_FORMAT={settings.LOG_FORMAT!r} is no format.", hint=hint, id="rank37.E004"))
    return found


@register()
def tries_are_a_number(**kwargs: Any) -> list[CheckMessage]:
    try:
        tries_before_accepting()
    except BadSpec as problem:
        return [Error(f"{problem}.", hint="Use a whole number; 0 or unset: none is kept.", id="rank37.E005")]
    return []


@register(Tags.security, deploy=True)
def hosts_are_named(**kwargs: Any) -> list[CheckMessage]:
    if "*" not in settings.ALLOWED_HOSTS or settings.DEBUG:
        return []
    return [
        Warning("ALLOWED_HOSTS=* accepts any host name.", hint="Name the hosts that people type.", id="rank37.W002")
    ]
