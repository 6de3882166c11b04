"""What an operator with a shell on the machine could ask: the ORM of an installation, in a process of its own.

The tests' own database is another one, and a browser test runs inside an event loop, where Django refuses its ORM.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from config import paths
from tests.support.stack import Stack, paths_redis

LOOP = """
import json, sys
import django
django.setup()
from django.utils import timezone
from gpu_worker.serving import queue
from gpu_worker.models import *
from gpu_worker.serving.nominal import finishes
from practice.models import *
from scenarios import instances
def answer(asked):
    names = dict(globals(), **asked["with"])
    exec(asked["code"], names)
    return names.get("result")
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line)), default=str), flush=True)
"""


class Shell:
    """Runs code in an environment; what it leaves in `result` comes back as JSON."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", LOOP],
            cwd=paths.BASE_DIR,
            env={**env, "DJANGO_SETTINGS_MODULE": "config.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, code: str, **names: Any) -> Any:
        """Raises AssertionError where the code failed: its trace is on this process's stderr."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"code": code, "with": names}) + "\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        assert said, f"the operator's shell ended on: {code}"
        return json.loads(said)

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(15)


class Operator(Shell):
    """A shell beside a running stack, with what its tests ask."""

    def __init__(self, stack: Stack) -> None:
        super().__init__({**stack.env, "REDIS_URL": paths_redis(stack.data)})

    def draw(self, attempt: str) -> dict[str, Any]:
        """The hidden instance: cause, place, params; and when the attempt was opened."""
        return self.ask(
            "a = Attempt.objects.get(pk=attempt); i = instances.get(a.draw.table, a.draw.instance)\n"
            "result = {'cause': i.cause, 'place': i.place, 'params': i.params, 'id': i.id,"
            " 'opened_at': a.opened_at.timestamp(), 'accepted': instances.accepted_places(i)}",
            attempt=attempt,
        )

    def forget_queued(self, attempt: str) -> None:
        """An attempt that nobody will play keeps the lab from nobody."""
        self.ask("Run.objects.filter(owner=attempt, status='queued').delete()", attempt=attempt)

    def lab_is_idle(self) -> bool:
        """Nothing waits or runs, and by nominal times everything asked for has ended too."""
        return self.ask(
            "now = timezone.now()\n"
            "asked = [queue.as_asked(run) for run in queue.recent_runs(now)]\n"
            "ended = all(at <= now for at in finishes(asked).values())\n"
            "result = ended and not Run.objects.unfinished().exists()"
        )

    def runs(self, attempt: str) -> list[dict[str, Any]]:
        return self.ask(
            "result = [{'experiment': r.experiment, 'status': r.status, 'state': r.state, 'purpose': r.purpose,"
            " 'tries': r.tries, 'failure': r.failure, 'faults': r.spec.get('faults', []),"
            " 'started_at': r.started_at and r.started_at.timestamp(),"
            " 'took_s': r.finished_at and r.started_at and (r.finished_at - r.started_at).total_seconds()}"
            " for r in Run.objects.filter(owner=attempt).order_by('created_at')]",
            attempt=attempt,
        )

    def evidence(self, attempt: str) -> list[dict[str, Any]]:
        """What was shown, with the run behind it; `faults` and `fired` of a banked answer are None."""
        return self.ask(
            "result = []\n"
            "for e in Evidence.objects.filter(owner=attempt).exclude(shown_at=None).order_by('shown_at'):\n"
            "    r = e.run\n"
            "    whole = r.whole_run() if r else None\n"
            "    result.append({'step': e.step, 'variant': e.variant, 'purpose': e.purpose, 'live': e.live,"
            " 'note': e.note, 'finding': e.finding, 'started_at': r and r.started_at.timestamp(),"
            " 'faults': whole and [f.model_dump() for f in whole.spec.faults], 'fired': whole and whole.fired})",
            attempt=attempt,
        )

    def events(self, attempt: str) -> list[dict[str, Any]]:
        return self.ask(
            "result = [e.as_transcript() for e in Event.objects.filter(attempt_id=attempt).order_by('index')]",
            attempt=attempt,
        )
