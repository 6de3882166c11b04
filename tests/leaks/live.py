"""The classifier over attempts answered live: `python -m tests.leaks.live [ATTEMPTS]`, about half a minute each.

Needs what the tests need (`make test` installs it).

Too long for every run of the tests; run it when something about waits, the queue or the page of an evidence changed.
Starts the real stack, plays attempts one after the other on its database, and waits for every reading as a page does.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.support.operator import Operator
from tests.support.stack import Stack, paths_redis
from tests.support.waiting import wait_until

STEPS = (
    ("per-rank-step-times", {}),
    ("microbenchmark", {"size": "job", "placement": "as-job"}),
    ("microbenchmark", {"size": "small", "placement": "as-job"}),
)
READING_WITHIN_S = 60.0
POLL_S = 0.25


def on_database_of(stack: Stack) -> None:
    """This process's Django reads and writes the stack's database, and its doorbells reach the stack's worker."""
    os.environ.update(stack.env, REDIS_URL=paths_redis(stack.data), DJANGO_SETTINGS_MODULE="config.settings")
    os.environ["ALLOWED_HOSTS"] = "testserver,localhost"
    import django

    django.setup()


def play(seed: int, operator: Operator) -> tuple[dict[str, float], str, int]:
    """One attempt: features, cause, how many readings were live."""
    from tests.leaks.beside import Collector

    class Waiting(Collector):
        def after_choice(self, where: str, address: str) -> None:
            began = time.perf_counter()
            wait_until("the reading is there", lambda: self.is_shown(address), READING_WITHIN_S, POLL_S)
            self.note(where, {"waited": time.perf_counter() - began})

        def is_shown(self, address: str) -> bool:
            return " pending" not in self.client.get(address, HTTP_HX_REQUEST="true").content.decode()

    wait_until("the lab is idle", operator.lab_is_idle, within_s=120, pause_s=0.3)
    player = Waiting(seed, len(STEPS), steps=STEPS)
    features, cause = player.play()
    return features, cause, int(sum(value for name, value in features.items() if name.endswith(" live")))


def keep(path: Path, one: tuple[dict[str, float], str, int]) -> None:
    """An attempt takes half a minute of the lab: what it gave stays, whatever ends this process."""
    with path.open("a") as file:
        file.write(json.dumps(one) + "\n")


def main(argv: list[str]) -> int:
    attempts = int(argv[0]) if argv else 30
    # Before the long part: what is missing to judge the attempts must not be found out after it.
    from tests.leaks import chance

    with tempfile.TemporaryDirectory(prefix="r37-") as folder, Stack(Path(folder) / "data").start() as stack:
        operator = Operator(stack)
        checked = "result = SelfCheck.objects.filter(ok=True).exists()"
        wait_until("the lab has checked itself", lambda: operator.ask(checked), within_s=400, pause_s=1.0)
        on_database_of(stack)
        played, kept = [], Path(tempfile.mkdtemp(prefix="rank37-live-")) / "attempts.jsonl"
        print(f"attempts are kept in {kept}", flush=True)
        for seed in range(attempts):
            played.append(play(seed, operator))
            keep(kept, played[-1])
            print(f"{seed + 1} of {attempts}: {played[-1][2]} of {len(STEPS)} readings live", flush=True)
        operator.close()
    features, causes = chance.as_table([row for row, _, _ in played], [cause for _, cause, _ in played])
    seen, band = chance.accuracy(features, causes, seed=0), chance.band_of_chance(features, causes)
    live = sum(live for _, _, live in played)
    print(f"{attempts} attempts, {live} live readings: accuracy {seen:.3f}, upper end of the band of chance {band:.3f}")
    return 0 if seen <= band else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
