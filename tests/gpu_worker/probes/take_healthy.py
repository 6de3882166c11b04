"""Takes a healthy run of each experiment that no file of runs/healthy holds yet: `python -m … [EXPERIMENT KEY…]`.

With keys, those are taken anew.
"""

from __future__ import annotations

import gzip
import sys

from gpu_worker.lab import run as lab
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import variants
from gpu_worker.specs import ExperimentSpec, parse_key
from tests.gpu_worker.probes.conftest import HEALTHY

MADE_BY_HAND = ("job", "microbenchmark")


def missing() -> set[str]:
    """Keys of the experiments that a probe reads and that have no file."""
    keys = {probe.experiment(params) for probe in PROBES.values() for params in variants(probe)}
    wanted = {key for key in keys if parse_key(key)[0] not in MADE_BY_HAND}
    return {key for key in wanted if not (HEALTHY / f"{key}.json.gz").exists()}


def take(key: str) -> None:
    name, with_ = parse_key(key)
    run = lab.run_experiment(ExperimentSpec.model_validate({"experiment": name, "with": with_}))
    text = run.model_dump_json(by_alias=True)
    (HEALTHY / f"{key}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    HEALTHY.mkdir(exist_ok=True)
    for each in sys.argv[1:] or sorted(missing()):
        take(each)
        print(each)
    lab.close()
