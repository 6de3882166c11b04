"""Kills the lab at random moments, again and again: `python -m tests.gpu_worker.lab.kill_hundred [N] [SEED]`.

Each time some process of a lab in use dies by SIGKILL: its owner, the launcher, a keeper, a conductor, one rank or a
rank's helper, while it starts, builds, measures or waits. Where the owner lives on, its next measurement has to be
healthy at once; where it died with the launcher, nothing of it may be left, and the next owner's measurement has to be
healthy.
"""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_worker.specs import ExperimentSpec, Job, Setting
from tests.gpu_worker.lab.leftovers import Seen, end_all, look, marked
from tests.support.waiting import wait_until

MARK = "RANK37_TEST_MARK"
ROOT = Path(__file__).resolve().parents[3]
MEASURES_WITHIN_S = 60.0
MICROBENCHMARK = ExperimentSpec.model_validate(
    {"experiment": "microbenchmark", "with": {"size": "job", "placement": "as-job"}, "repeats": 2}
)
JOB = ExperimentSpec(experiment="job", setting=Setting(job=Job(measured_steps=20, warmup_steps=1)))
GENERATIONS = ("owner", "launcher", "keeper", "conductor", "rank or helper")


@dataclass
class Tally:
    """What was killed, in which phase, and what came of it."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    healthy: int = 0
    unhealthy: list[str] = field(default_factory=list)
    left: list[dict[str, list[str]]] = field(default_factory=list)

    @property
    def killed(self) -> int:
        return sum(self.kills.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "killed": self.killed,
            "kills": {f"{who} while {phase}": count for (who, phase), count in sorted(self.kills.items())},
            "healthy_measurements": self.healthy,
            "unhealthy": self.unhealthy,
            "left": self.left,
        }


class Lab:
    """An owner that uses the lab for ever, and whatever it started: all of it carries one mark."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        value = uuid.uuid4().hex
        self.mark, self.folder, self.tally, self.phase = f"{MARK}={value}", folder, tally, "starting"
        self._held = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.gpu_worker.lab.victim", *(_text(spec) for spec in (MICROBENCHMARK, JOB))],
            cwd=ROOT,
            env={**os.environ, MARK: value, "TMPDIR": str(folder), "RANK37_ACCEPT_DISTURBED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def listen(self, seconds: float, until: str = "") -> bool:
        """Takes in what the owner says for so long, or until it says a certain thing; False where it hung up."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self.process.stdout], [], [], left)[0]:
                break
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return False
            *lines, self._held = (self._held + data).split(b"\n")
            heard = [self._take(json.loads(line), until) for line in lines]
            if any(heard):
                break
        return True

    def _take(self, said: dict[str, Any], until: str) -> bool:
        self.phase = said.get("phase", "between runs")
        if "healthy" in said:
            self.tally.healthy += said["healthy"] == "at-floor"
            if said["healthy"] != "at-floor":
                self.tally.unhealthy.append(f"{said['healthy']} at {said['fraction']}")
        return until in said

    def victims(self) -> dict[int, str]:
        """pid -> what it is, of every process of ours."""
        family, found = marked(self.mark), {}
        for pid in family:
            depth, at = 0, pid
            while at != self.process.pid and at in family:
                depth, at = depth + 1, family[at]
            if at == self.process.pid:
                found[pid] = GENERATIONS[min(depth, len(GENERATIONS) - 1)]
        return found

    def close(self) -> None:
        end_all(self.mark)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def kill_one(lab: Lab, chance: random.Random, tally: Tally) -> str:
    """Some process of ours, each kind as likely as any other. Returns its kind."""
    victims = lab.victims()
    kind = chance.choice(sorted(set(victims.values())))
    pid = chance.choice(sorted(pid for pid, what in victims.items() if what == kind))
    tally.kills[kind, lab.phase] += 1
    os.kill(pid, 9)
    return kind


def kill_often(
    times: int, seed: int, folder: Path, tell: Callable[[Tally], None] = lambda _: None, longest_wait_s: float = 6.0
) -> Tally:
    """Kills `times` times. The tally says what was left and whether every next measurement was healthy."""
    chance, tally = random.Random(seed), Tally()
    before = look(f"{MARK}=nobody", folder)
    while tally.killed < times:
        lab = Lab(folder, tally)
        try:
            _kill_until_the_owner_dies(lab, times, chance, tally, longest_wait_s, tell)
        finally:
            lab.close()
            _nothing_is_left(lab, before, tally)
    return tally


def _kill_until_the_owner_dies(
    lab: Lab, times: int, chance: random.Random, tally: Tally, longest_wait_s: float, tell: Callable[[Tally], None]
) -> None:
    """After each kill of a part the owner has to measure on; after the last one of all, too."""
    while True:
        done = tally.killed >= times
        if not done:
            lab.listen(chance.uniform(0.0, longest_wait_s))
            owner_died = kill_one(lab, chance, tally) == "owner"
            tell(tally)
            if owner_died:
                if tally.killed >= times:
                    _measures_again(Lab(lab.folder, tally), close=True)
                return
        if not _measures_again(lab) or done:
            return


def _measures_again(lab: Lab, close: bool = False) -> bool:
    """Waits for a healthy measurement; False where none comes, which the tally notes."""
    before = lab.tally.healthy
    lab.listen(MEASURES_WITHIN_S, until="healthy")
    healthy = lab.tally.healthy > before
    if not healthy:
        lab.tally.unhealthy.append(f"none within {MEASURES_WITHIN_S:.0f} s; the owner was {lab.phase}")
    if close:
        lab.close()
    return healthy


def _nothing_is_left(lab: Lab, before: Seen, tally: Tally) -> None:
    """The kernel takes namespaces down a moment after their last process."""
    try:
        wait_until("nothing is left", lambda: not look(lab.mark, lab.folder).beyond(before), within_s=20)
    except AssertionError:
        tally.left.append(look(lab.mark, lab.folder).beyond(before))


def _text(spec: ExperimentSpec) -> str:
    return spec.model_dump_json(by_alias=True)


def main(argv: list[str]) -> int:
    times, seed = int(argv[0]) if argv else 100, int(argv[1]) if len(argv) > 1 else 37
    with tempfile.TemporaryDirectory(prefix="r37-") as folder:
        tally = kill_often(times, seed, Path(folder), tell=lambda tally: print(f"{tally.killed}/{times}", flush=True))
    print(json.dumps(tally.to_dict(), indent=2))
    return 0 if not tally.left and not tally.unhealthy else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
