"""A real Celery worker on a real Redis and the real lab: it serves, and survives deaths and lost doorbells."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from config.supervisor import linux
from tests.gpu_worker.queue.own_database import migrated
from tests.support.operator import Shell
from tests.support.redis_server import running_redis
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.lab, pytest.mark.redis, pytest.mark.slow]

WORKER = ("-m", "celery", "-A", "config", "worker", "--queues", "lab", "--concurrency", "1", "--without-gossip")
CHECKED = """
from gpu_worker.serving.liveness import machine_id
SelfCheck.objects.create(ok=True, at=timezone.now(), machine=machine_id())
"""
ENQUEUE = """
from gpu_worker.specs import ExperimentSpec
with_ = {"size": "small", "placement": "packed"}
spec = ExperimentSpec.model_validate({"experiment": "microbenchmark", "with": with_, "repeats": repeats})
result = queue.enqueue(spec, priority=10, owner="ada", purpose="step", now=timezone.now()).pk
"""
SEEN = """
one = Run.objects.get(pk=run)
whole = one.whole_run()
iterations = whole and len(whole.iterations)
result = {"status": one.status, "tries": one.tries, "pid": one.worker_pid, "iterations": iterations}
"""
FEW, MANY = 5, 50


class Shop(Shell):
    """A database, a Redis and a worker that share a folder."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self.env = {**env, "DJANGO_SETTINGS_MODULE": "config.settings", "RANK37_ACCEPT_DISTURBED": "1"}
        super().__init__(self.env)
        self.log = (folder / "worker.log").open("wb")
        self.worker: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.worker = subprocess.Popen(
            [sys.executable, *WORKER], env=self.env, stdout=self.log, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=linux.die_with_parent(signal.SIGTERM, os.getpid()),
        )  # fmt: skip

    def stop(self, signum: int) -> None:
        if self.worker is not None and self.worker.poll() is None:
            self.worker.send_signal(signum)
            self.worker.wait(30)

    def ended(self, run: str, within_s: float = 90) -> dict:
        def over():
            seen = self.ask(SEEN, run=run)
            return seen if seen["status"] in ("finished", "failed") else None

        return wait_until("the run has ended", over, within_s, 0.1)

    def running(self, run: str) -> dict:
        def under_way():
            seen = self.ask(SEEN, run=run)
            return seen if seen["status"] == "running" else None

        return wait_until("the run is under way", under_way, 60, 0.05)


@pytest.fixture
def shop(short_dir: Path) -> Iterator[Shop]:
    with running_redis(short_dir / "redis.sock") as url:
        made = Shop(migrated(short_dir, REDIS_URL=url), short_dir)
        made.ask(CHECKED)
        try:
            yield made
        finally:
            made.stop(signal.SIGQUIT)
            made.close()


def test_a_doorbell_brings_a_result_and_its_end_is_published(shop: Shop):
    shop.start()
    run = shop.ask(ENQUEUE, repeats=FEW)
    seen = shop.ended(run)
    assert (seen["status"], seen["tries"], seen["iterations"]) == ("finished", 1, FEW)
    with redis.Redis.from_url(shop.env["REDIS_URL"], decode_responses=True) as client:
        entries = wait_until("the end is published", lambda: client.xrange("rank37:runs"), 10)
    assert entries[0][1] == {"run": run, "owner": "ada", "status": "finished"}


def test_a_lost_doorbell_strands_no_run(shop: Shop):
    run = shop.ask(ENQUEUE, repeats=FEW)
    with redis.Redis.from_url(shop.env["REDIS_URL"]) as client:
        client.flushall()
    shop.start()
    assert shop.ended(run)["status"] == "finished"


def test_a_killed_pool_child_costs_one_try(shop: Shop):
    shop.start()
    run = shop.ask(ENQUEUE, repeats=MANY)
    os.kill(shop.running(run)["pid"], signal.SIGKILL)
    seen = shop.ended(run)
    assert (seen["status"], seen["tries"], seen["iterations"]) == ("finished", 2, MANY)


def test_a_killed_worker_leaves_its_run_to_the_next_one(shop: Shop):
    shop.start()
    run = shop.ask(ENQUEUE, repeats=MANY)
    child = shop.running(run)["pid"]
    os.killpg(shop.worker.pid, signal.SIGKILL)  # type: ignore[union-attr]
    shop.worker.wait(10)  # type: ignore[union-attr]
    wait_until("the child is gone", lambda: not Path(f"/proc/{child}/cmdline").exists(), 10)
    shop.start()
    seen = shop.ended(run)
    assert (seen["status"], seen["tries"]) == ("finished", 2)
