"""SQLite as it is set up: writers that read first wait their turn instead of failing."""

from __future__ import annotations

import os
import subprocess
import sys

from config import paths

WRITERS, ROUNDS = 8, 15

PREPARE = """
import django; django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE counter (value integer)")
    cursor.execute("INSERT INTO counter VALUES (0)")
    print(cursor.execute("PRAGMA journal_mode").fetchone()[0])
"""

COUNT_UP = f"""
import django; django.setup()
from django.db import connection, transaction
for _ in range({ROUNDS}):
    with transaction.atomic(), connection.cursor() as cursor:
        value = cursor.execute("SELECT value FROM counter").fetchone()[0]
        cursor.execute("UPDATE counter SET value = %s", [value + 1])
"""

READ = """
import django; django.setup()
from django.db import connection
with connection.cursor() as cursor:
    print(cursor.execute("SELECT value FROM counter").fetchone()[0])
"""


def python(code: str, env: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code]
    return subprocess.Popen(
        command, cwd=paths.BASE_DIR, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def said(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.strip()


def test_eight_writers_that_read_first_lose_no_count(tmp_path):
    env = {**os.environ, "DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    env.pop("DATABASE_URL", None)
    assert said(python(PREPARE, env)) == "wal"
    writers = [python(COUNT_UP, env) for _ in range(WRITERS)]
    for writer in writers:
        said(writer)
    assert said(python(READ, env)) == str(WRITERS * ROUNDS)
