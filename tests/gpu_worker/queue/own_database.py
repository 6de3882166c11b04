"""Databases that processes of a test share: a SQLite file of its own, or the test's PostgreSQL database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from django.db import connection

LEFT_OUT = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")


def migrated(folder: Path, **more: str) -> dict[str, str]:
    """Environment of a migrated SQLite database in a folder. No Redis answers there unless `more` names one."""
    env = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    env |= {"DATA_DIR": str(folder), "REDIS_URL": f"unix://{folder}/no-redis.sock", "PYTHONPATH": os.getcwd(), **more}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"], env=env, check=True, timeout=120
    )
    return env


def own_database(**more: str) -> dict[str, str]:
    """Environment of the PostgreSQL database that pytest-django made for this test."""
    of = connection.settings_dict
    host = of["HOST"] or ""
    url = f"postgres://{of['USER']}:{of['PASSWORD']}@{host.replace('/', '%2F')}:{of['PORT'] or 5432}/{of['NAME']}"
    env = {**os.environ, "DATABASE_URL": url, "PYTHONPATH": os.getcwd(), **more}
    return {**env, "REDIS_URL": more.get("REDIS_URL", "unix:///nonexistent/redis.sock")}
