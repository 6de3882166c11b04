"""Takes the healthy runs of runs/healthy anew, or those of the given experiment keys:
`python -m tests.gpu_worker.probes.take_healthy [KEY…]`.
"""

from __future__ import annotations

import gzip
import sys

from gpu_worker.lab import run as lab
from gpu_worker.specs import ExperimentSpec, parse_key
from tests.gpu_worker.probes.conftest import HEALTHY

ENDING = ".json.gz"


def held() -> list[str]:
    return sorted(path.name.removesuffix(ENDING) for path in HEALTHY.glob(f"*{ENDING}"))


def take(key: str) -> None:
    name, with_ = parse_key(key)
    run = lab.run_experiment(ExperimentSpec.model_validate({"experiment": name, "with": with_}))
    text = run.model_dump_json(by_alias=True)
    (HEALTHY / f"{key}{ENDING}").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    for each in sys.argv[1:] or held():
        take(each)
        print(each)
    lab.close()
