"""Several claimers at once on a real database: each run goes to exactly one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gpu_worker.queue.own_database import migrated, own_database

RUNS = 24
CLAIMERS = 4

ENQUEUE = """
from datetime import timedelta
from django.utils import timezone
from gpu_worker.serving import queue
from gpu_worker.specs import ExperimentSpec
now = timezone.now()
for n in range(int(sys.argv[1])):
    queue.enqueue(ExperimentSpec(experiment="job"), priority=10, owner=f"o{n}", purpose="step", now=now)
"""
CLAIM = """
from django.utils import timezone
from gpu_worker.serving import queue
sys.stdin.readline()
mine = []
while (run := queue.claim(timezone.now(), worker=sys.argv[1])) is not None:
    mine.append(str(run.pk))
print(json.dumps(mine))
"""
SETUP = "import json, sys, django; django.setup()\n"


def python(code: str, *arguments: str, env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SETUP + code, *arguments],
        env={**env, "DJANGO_SETTINGS_MODULE": "config.settings"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def database(tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """Environment that names a database of this test's own, migrated."""
    if os.environ.get("DATABASE_URL", "").startswith("postgres"):
        request.getfixturevalue("transactional_db")
        return own_database()
    return migrated(tmp_path)


@pytest.mark.database
def test_four_processes_that_claim_at_once_share_the_runs_and_none_is_claimed_twice(database):
    assert python(ENQUEUE, str(RUNS), env=database).wait(60) == 0
    claimers = [python(CLAIM, f"w{n}", env=database) for n in range(CLAIMERS)]
    said = [claimer.communicate("go\n", timeout=90)[0] for claimer in claimers]
    claimed = [run for line in said for run in json.loads(line)]
    assert len(claimed) == RUNS
    assert len(set(claimed)) == RUNS
