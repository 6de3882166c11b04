"""Drills solved with pencil and paper: the arithmetic of a person who read the question, and no function of ours."""

from __future__ import annotations

from math import ceil, exp, log, sqrt

import pytest

from grader.drills.judging import judge
from grader.drills.making import drill
from grader.units import format_quantity

GB, GBIT, HOUR, MIN, DAY = 1e9, 1e9, 3600, 60, 86400
# (drill, seed, a phrase of the question, the answer in SI)
BY_HAND = [
    ("ddp-buckets/1", "350 million parameters", ceil(1.4e9 / (20 * 1024 * 1024))),
    ("ddp-buckets/2", "8 million, 5 million, 5 million, 6 million, 6 million", (6 + 6) * 4e6),
    ("ddp-buckets/3", "720 million parameters", 720e6 * 4 / 8),
    ("exposed-communication/1", "for 800 ms and communicates for 450 ms", 0.800 + 0.450 - 0.150),
    ("exposed-communication/3", "A step takes 890 ms", 0.470 + 0.600 - 0.890),
    ("checkpoint-size/1", "70 billion", 980 * GB),
    ("checkpoint-size/2", "128 ranks", 13e9 * 14 / 128),
    ("checkpoint-size/3", "560 GB, and 2", 280 * GB / 14),
    ("checkpoint-pause/1", "2300 GB", 2300 / 20),
    ("checkpoint-pause/2", "70 billion", 980 / (16 * 0.5)),
    ("checkpoint-pause/3", "24.5 s", 980 * 8 * GBIT / 24.5),
    ("young-daly/1", "every 8 h", sqrt(2 * 8 * HOUR * 60)),
    ("young-daly/2", "every 48 h", sqrt(2 * 6 * HOUR * 90)),
    ("young-daly/3", "every 32.9 min", (32.9 * MIN) ** 2 / (2 * 6 * HOUR)),
    ("availability-interval/1", "every 8 h", 180 + sqrt(2 * (8 * HOUR + 10 * MIN) * 180 + 180**2)),
    ("availability-interval/2", "4 TB", 200 + sqrt(2 * (12 * HOUR + 5 * MIN) * 200 + 200**2)),
    ("availability-interval/3", "39.5 min", ((39.5 * MIN - 90) ** 2 - 90**2) / 180),
    ("cluster-mtbf/1", "2048 GPUs", 24 * HOUR),
    ("cluster-mtbf/2", "120 times", 60 * DAY / 120 * 1024 / 24576),
    ("cluster-mtbf/3", "every 12 h", 512 * 12 / 0.5),
    ("checkpoint-overhead/1", "60 s every 40 min", 60 / 2400 + (20 + 15) / 360),
    ("checkpoint-overhead/3", "30 s", 30 / 0.01),
    ("ring-all-reduce/1", "32 ranks", 2 * 31 / 32 * 4 * 8 / 400),
    ("ring-all-reduce/2", "7 billion", 2 * 15 / 16 * 14 / 50),
    ("ring-all-reduce/3", "398 ms", 2 * 255 / 256 * 10 * 8 * GBIT / 0.398),
    ("collective/1", "24 GB", 31 / 32 * 24 * 8 / 200),
    ("collective/2", "6 GiB", 15 * 6 * 1024**3 / (100 * GB)),
    ("collective/3", "39.1 ms", 15 / 16 * 2 * 8 * GBIT / 0.0391),
    ("hierarchical-all-reduce/1", "4 hosts", 2 * 3 / 4 * 2 / 4 * 8 / 100),
    ("hierarchical-all-reduce/2", "512 GPUs", 2 * 63 / 64 * 14 * GB / 2),
    ("hierarchical-all-reduce/3", "301 ms", ceil(2 * 63 / 64 * 60 * 8 / 400 / 0.301)),
    ("fraction-of-floor/1", "20 s", 0.4),
    ("fraction-of-floor/2", "4.78 s", 2 * 255 / 256 * 60 * 8 / 400 / 4.78),
    ("fraction-of-floor/3", "9.8 s", 9.8 / 0.6),
    ("degraded-ring/1", "came up at 100 Gb/s", 2 * 7 / 8 * 60 * 8 / 100),
    ("degraded-ring/2", "70 billion", 2 * 15 / 16 * 140 * 8 / 50 - 2 * 15 / 16 * 140 * 8 / 100),
    ("degraded-ring/3", "takes 36 s", 2 * 15 / 16 * 60 * 8 * GBIT / 36),
    ("oversubscription/2", "40 hosts", 4 * 200 * GBIT / 40),
    ("oversubscription/3", "48 hosts", 48 * 400 / 1.5 / 800),
    ("zero-memory/1", "1 billion", (4 + 12 / 64) * GB),
    ("zero-memory/2", "13 billion", 13 / 8 * (4 + 12 / 8) * GB),
    ("zero-memory/3", "812 MB", 16 * 13 / 0.812),
    ("activation-memory/1", "5120", 34 * 2 * 2048 * 5120 * 24),
    ("activation-memory/2", "2 pipeline stages", 34 * 4096 * 8192 * 32 / 2),
    ("activation-memory/3", "20.1 GB", 8),
    ("pipeline-bubble/1", "48 microbatches", 7 / 55),
    ("pipeline-bubble/3", "5 stages", 4 / 0.05),
    ("global-batch/1", "32 data-parallel", 4 * 32 * 2),
    ("global-batch/2", "256 GPUs", 256 / 8 * 8),
    ("global-batch/3", "128 data-parallel", 4),
    ("parallel-groups/1", "1024 ranks", 1024 / (8 * 4 * 4)),
    ("parallel-groups/2", "128 ranks", 64),
    ("parallel-groups/3", "32 replicas", 32 * 8 * 8 * 2),
    ("tensor-parallel-traffic/1", "48 layers", 4 * 48 * 1.5 * 4096 * 4096 * 2),
    ("tensor-parallel-traffic/2", "80 layers", 4 * 80 * 1.75 * 8192 * 12288 * 2 * 4 / (300 * GB)),
    ("tensor-parallel-traffic/3", "158 GB", 4),
    ("moe-all-to-all/2", "32 layers", 4 * 8192 * 8 * 4096 * 2 * 31 / 32 * 32 * 8 / (200 * GBIT)),
    ("moe-all-to-all/3", "1.92 GB", 8),
    ("straggler-cost/1", "1024 ranks", 1 - exp(-0.512)),
    ("straggler-cost/2", "2048 ranks", 0.4 * (1 + 2 * (1 - exp(-1.024)))),
    ("straggler-cost/3", "22.2 %", -log(1 - 0.222) / 0.00391),
    ("straggler-score/1", "325 ms", 250 / 325),
    ("straggler-score/2", "1600 ms", 0.40 / 0.75),
    ("straggler-score/3", "360 ms", 0.480),
    ("scaling-efficiency/1", "0.8 s", 0.8 / 3),
    ("scaling-efficiency/3", "takes 2 s", 2 / 4 / 0.7),
    ("transformer-params/1", "96 layers", 12 * 96 * 12288**2 + (32000 + 4096) * 12288),
    ("transformer-params/2", "32 layers", 2 * (12 * 32 * 4096**2 + (32000 + 2048) * 4096)),
    ("transformer-params/3", "8.27 billion", (8.27e9 - (51200 + 2048) * 4096) / (12 * 4096**2)),
    ("iteration-flops/2", "1 million", 96e6 * 80 * 8192**2 * (1 + 2000 / 49152 + 50000 / (1280 * 8192)) / 102.4e15),
    ("training-days/1", "30 billion", 8 * 30e9 * 500e9 / (512 * 160e12)),
    ("training-days/2", "13 billion", 6 * 13e9 * 1e12 / (1024 * 312e12 * 0.45)),
    ("training-days/3", "70 billion", 8 * 70e9 * 300e9 / (13.6 * DAY * 140e12)),
    ("mfu/2", "6.77 s", 6 * 30e9 * 1024 * 4096 / 6.77 / (256 * 990e12)),
    ("mfu/3", "30 billion", 0.45 * 1024 * 990e12 / (6 * 30e9)),
]  # fmt: skip
KIND_UNIT = {"time": "s", "data": "B", "rate": "b/s", "compute": "FLOP", "compute-rate": "FLOP/s"}
SEED = 7


@pytest.mark.parametrize(("id", "phrase", "worked_out"), BY_HAND, ids=[row[0] for row in BY_HAND])
def test_a_drill_agrees_with_paper(id: str, phrase: str, worked_out: float):
    made = drill(id, SEED)
    assert phrase in made.text
    unit = KIND_UNIT.get(made.kind, "")
    assert judge(made, f"{worked_out:.9g} {unit}".strip()).verdict == "right", format_quantity(made.answer, made.kind)
    # Numbers that the question tells are rounded to three figures, and so is the paper's answer.
    assert abs(worked_out / made.answer - 1) < 0.02, format_quantity(made.answer, made.kind)


def test_most_templates_were_done_on_paper():
    assert len({row[0] for row in BY_HAND}) == len(BY_HAND) > 70
