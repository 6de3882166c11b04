"""A process that owns a lab and runs one experiment, telling each phase on a line: for tests that kill it."""

from __future__ import annotations

import sys

from gpu_worker.lab import run as lab
from gpu_worker.specs import ExperimentSpec

if __name__ == "__main__":
    print("starting", flush=True)
    lab.run_experiment(
        ExperimentSpec.model_validate_json(sys.argv[1]), progress=lambda told: print(told["phase"], flush=True)
    )
    print("finished", flush=True)
