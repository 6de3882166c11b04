"""The order of a start: refuse what cannot work, prepare, start, wait until all answer, keep."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from config.supervisor import linux, plan, ready
from config.supervisor.child import Child
from config.supervisor.keeper import Keeper
from config.supervisor.plan import Service, Start
from config.supervisor.say import say
from config.supervisor.start import (
    Refused,
    clear_signs,
    keep_secret_key,
    locked,
    made_data_dir,
    make_start,
    port_from,
    refuse_taken_port,
    tell_running,
)

ASK_LIVE_EVERY_S = 5.0


def errand(start: Start, name: str, *arguments: str) -> Child:
    """A management command that ends by itself, its output in a log of its own."""
    service = Service(
        name=name, command=(sys.executable, "manage.py", *arguments), essential=False, without_it="", ready_within_s=1e9
    )
    return Child(service, start.logs / f"{name}.log", plan.environment(start, os.environ), lambda pid: True)


def child(start: Start, service: Service) -> Child:
    question = ready.question(service.name, start)
    return Child(service, start.logs / f"{service.name}.log", plan.environment(start, os.environ), question)


def prepare(keeper: Keeper, start: Start) -> dict[str, Any] | None:
    """Migrates, collects static files, checks the scenarios. None where it failed or was stopped."""
    report = start.data / "prepared.json"
    report.unlink(missing_ok=True)
    job = errand(start, "prepare", "prepare", "--report", str(report))
    codes: list[int] = []
    keeper.send(job, codes.append)
    if not keeper.run(until=lambda: bool(codes)):
        return None
    if codes[0] != 0 or not report.is_file():
        say(f"Preparing failed: {job.last_words()}. Log: {job.log}", to=sys.stderr)
        keeper.failed = True
        return None
    return json.loads(report.read_text())


def tell_missing(start: Start, told: dict[str, Any]) -> None:
    """One line for each thing that this machine lacks: what still works, and how to get the rest."""
    for line in told.get("problems", ()):
        say(line)
    if start.own_redis and start.redis_server is None:
        say(
            "No redis-server was found: pages work and evidence comes from the bank. "
            "For live runs install Redis (Debian: apt-get install redis-server) or set REDIS_URL."
        )
    namespaces = told.get("namespaces")
    if namespaces and not namespaces.get("available"):
        say(
            f"No namespaces here ({namespaces.get('reason')}): everything works, on evidence from the bank. "
            "For live runs start it as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; "
            "in a container: --privileged)."
        )


def serve(keeper: Keeper, start: Start, began: float) -> None:
    told = prepare(keeper, start)
    if told is None:
        return
    keeper.children += [child(start, service) for service in plan.services(start) if service.name != "redis"]
    for one in keeper.children:
        if one.process is None:
            one.start()
    if not keeper.run(until=keeper.all_settled):
        return
    tell_running(start)
    tell_missing(start, told)
    say(f"Rank 37 answers at {start.address} ({time.monotonic() - began:.1f} s). Ctrl-C stops everything.")
    if lab_is_checking(keeper, told):
        say("Lab: checking this machine against the calibration, about a minute; until then the bank answers.")
        if keeper.run(until=slowly(lambda: ready.evidence_is_live(start.port))):
            say("Lab: this machine reproduces the calibration; live evidence is on.")
    keeper.run(until=lambda: False)


def lab_is_checking(keeper: Keeper, told: dict[str, Any]) -> bool:
    """The worker checks its machine by itself where no check is stored, or the last one failed."""
    runs = any(one.service.name == "lab" and one.ready for one in keeper.children)
    return runs and told["namespaces"]["available"] and told["self_check"] != "ok"


def slowly(question: Callable[[], bool]) -> Callable[[], bool]:
    """Asks at most once in `ASK_LIVE_EVERY_S`; in between the answer is no."""
    asked_at = time.monotonic()

    def ask() -> bool:
        nonlocal asked_at
        if time.monotonic() - asked_at < ASK_LIVE_EVERY_S:
            return False
        asked_at = time.monotonic()
        return question()

    return ask


def with_redis(start: Start) -> Keeper:
    service = plan.redis(start)
    keeper = Keeper([child(start, service)] if service else [])
    keeper.listen()
    for one in keeper.children:
        one.start()
    return keeper


def main(argv: list[str]) -> int:
    began = time.monotonic()
    if parent_is_make():
        # A make that is killed outright would leave us behind.
        linux.die_with_parent(signal.SIGTERM, os.getppid())()
    linux.adopt_orphans()
    try:
        port = port_from(os.environ)
        data = made_data_dir()
        lock = locked(data)
        refuse_taken_port(port)
    except Refused as refused:
        say(str(refused), to=sys.stderr)
        return 2
    with lock:
        clear_signs(data)
        keep_secret_key(data)
        start = make_start(data, port)
        keeper = with_redis(start)
        try:
            serve(keeper, start, began)
        finally:
            if keeper.signals_seen:
                say("\nStopping …")
            keeper.stop()
            clear_signs(data)
    say("Stopped.")
    return 1 if keeper.failed else 0


def parent_is_make() -> bool:
    try:
        return Path(f"/proc/{os.getppid()}/comm").read_text().strip() in {"make", "gmake"}
    except OSError:
        return False


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
