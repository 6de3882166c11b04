"""Logging by structlog, for our own loggers and for everyone else's alike."""

from __future__ import annotations

from typing import Any

import structlog

FORMATS = ("text", "json")

SHARED: tuple[Any, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def renderer(log_format: str) -> Any:
    """One JSON object a line for machines, or one readable line for people; never colours, since both go to files."""
    return structlog.processors.JSONRenderer() if log_format == "json" else structlog.dev.ConsoleRenderer(colors=False)


def config(level: str, log_format: str) -> dict[str, Any]:
    """The `LOGGING` dictionary; also turns structlog's own loggers to the standard library."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": list(SHARED),
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    renderer(log_format),
                ],
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level if level in LEVELS else "INFO"},
        "loggers": {"django.server": {"handlers": ["console"], "propagate": False}},
    }


LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
