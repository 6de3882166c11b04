"""A process that owns a lab and uses it for ever: a microbenchmark, then a long job, again and again.

For tests that kill it or what it started. Each line that it prints is JSON: `{"healthy": finding}`, `{"phase": …}` of
the job, or `{"ended": reason}` where the job was ended by force.
"""

from __future__ import annotations

import json
import sys

from gpu_worker.errors import LabError
from gpu_worker.lab import run as lab
from gpu_worker.probes import PROBES
from gpu_worker.specs import ExperimentSpec


def say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main(microbenchmark: ExperimentSpec, job: ExperimentSpec) -> None:
    say(phase="starting")
    while True:
        try:
            measure(microbenchmark)
            lab.run_experiment(job, progress=lambda told: say(phase=f"job: {told['phase']}"))
        except LabError as problem:
            say(ended=problem.reason)


def measure(spec: ExperimentSpec) -> None:
    taken = lab.run_experiment(spec, progress=lambda told: say(phase=f"microbenchmark: {told['phase']}"))
    probe = PROBES["microbenchmark"]
    result = probe.read(taken, dict(spec.with_))
    say(healthy=probe.finding(result), fraction=round(float(result.readings["fraction_of_floor"].value), 3))


if __name__ == "__main__":
    main(*(ExperimentSpec.model_validate_json(text) for text in sys.argv[1:3]))
