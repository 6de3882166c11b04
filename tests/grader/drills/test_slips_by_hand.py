"""Mistakes made with pencil and paper: what a person would type who makes each, and no function of ours.

The questions are those of `test_by_hand`, of the same seed, where their right answers are worked out.
"""

from __future__ import annotations

from math import ceil, e, log, sqrt

import pytest

from grader.drills.judging import judge
from grader.drills.making import drill
from tests.grader.drills.test_by_hand import BY_HAND, KIND_UNIT, SEED

GB, GBIT, HOUR, DAY = 1e9, 1e9, 3600, 86400
MIB = 1024 * 1024
# (drill, the mistake, the answer that it leads to in SI)
MISTAKEN = [
    ("ddp-buckets/1", "gib-for-gb", ceil(1400 / 20)),
    ("ddp-buckets/1", "step-left-out", 1.4e9 // (20 * MIB)),
    ("ddp-buckets/1", "precision", ceil(0.7e9 / (20 * MIB))),
    ("ddp-buckets/1", "step-left-out", ceil(350e6 / (20 * MIB))),
    ("ddp-buckets/2", "upside-down", 8 * 4e6),
    ("ddp-buckets/2", "other-definition", 25 * MIB),
    ("ddp-buckets/2", "precision", (6 + 6 + 5) * 2e6),
    ("ddp-buckets/2", "total-for-per-rank", 30 * 4e6),
    ("ddp-buckets/3", "precision", 720e6 * 2 / 8),
    ("ddp-buckets/3", "step-left-out", 720e6 / 8),
    ("exposed-communication/1", "step-left-out", 0.8 + 0.45),
    ("exposed-communication/1", "other-definition", 0.45 - 0.15),
    ("exposed-communication/3", "other-definition", 0.89 - 0.47),
    ("checkpoint-size/1", "gradients-saved", 70e9 * 16),
    ("checkpoint-size/1", "weights-alone", 70e9 * 2),
    ("checkpoint-size/2", "per-rank-for-total", 13e9 * 14),
    ("checkpoint-size/3", "step-left-out", 560 * GB / 14),
    ("checkpoint-pause/1", "averaged", 2300 / (16 * 2.5)),
    ("checkpoint-pause/1", "per-rank-for-total", 2300 / 2.5),
    ("checkpoint-pause/1", "other-definition", 2300 / (16 * 2.5 + 20)),
    ("checkpoint-pause/2", "averaged", 980 * 8 / 1600),
    ("checkpoint-pause/2", "gradients-saved", 70 * 16 / 8),
    ("checkpoint-pause/3", "other-definition", 256 * 16 * GBIT),
    ("young-daly/1", "root", sqrt(8 * HOUR * 60)),
    ("young-daly/1", "step-left-out", sqrt(2 * 8 * 60)),
    ("young-daly/2", "step-left-out", sqrt(2 * 48 * HOUR * 90)),
    ("young-daly/2", "upside-down", sqrt(2 * 48 * 8 * HOUR * 90)),
    ("availability-interval/1", "other-definition", sqrt(2 * 8 * HOUR * 180)),
    ("availability-interval/3", "step-left-out", (39.5 * 60) ** 2 / 180),
    ("cluster-mtbf/1", "upside-down", 48 * HOUR * 2),
    ("cluster-mtbf/1", "root", 48 * HOUR / sqrt(2)),
    ("cluster-mtbf/2", "step-left-out", 60 * DAY / 120),
    ("checkpoint-overhead/1", "step-left-out", 60 / 2400),
    ("checkpoint-overhead/1", "averaged", 60 / 2400 + (40 + 15) / 360),
    ("checkpoint-overhead/1", "step-left-out", 60 / 2400 + 20 / 360),
    ("ring-all-reduce/1", "ring-factor", 4 * 8 / 400),
    ("ring-all-reduce/1", "bits-for-bytes", 2 * 31 / 32 * 4 / 400),
    ("ring-all-reduce/1", "per-rank-for-total", 32 * 2 * 31 / 32 * 4 * 8 / 400),
    ("ring-all-reduce/2", "precision", 2 * 15 / 16 * 28 / 50),
    ("ring-all-reduce/2", "step-left-out", 2 * 15 / 16 * 7 / 50),
    ("ring-all-reduce/3", "ring-factor", 10 * 8 * GBIT / 0.398),
    ("collective/1", "both-for-one-way", 2 * 31 / 32 * 24 * 8 / 200),
    ("collective/2", "gib-for-gb", 15 * 6 / 100),
    ("collective/2", "total-for-per-rank", 15 / 16 * 6 * 1024**3 / (100 * GB)),
    ("hierarchical-all-reduce/1", "step-left-out", 2 * 3 / 4 * 2 * 8 / 100),
    ("hierarchical-all-reduce/2", "per-rank-for-total", 2 * 63 / 64 * 14 * GB),
    ("fraction-of-floor/1", "upside-down", 20 / 8),
    ("fraction-of-floor/3", "upside-down", 9.8 * 0.6),
    ("degraded-ring/1", "step-left-out", 2 * 7 / 8 * 60 * 8 / 800),
    ("degraded-ring/1", "averaged", 2 * 7 / 8 * 60 * 8 / ((7 * 800 + 100) / 8)),
    ("degraded-ring/1", "ring-factor", 60 * 8 / 100),
    ("degraded-ring/3", "other-definition", 175 * GBIT),
    ("oversubscription/2", "total-for-per-rank", 4 * 200 * GBIT),
    ("oversubscription/3", "step-left-out", 48 * 400 / 800),
    ("oversubscription/3", "upside-down", 48 * 400 / 800 * 1.5),
    ("zero-memory/1", "other-definition", 16 * GB),
    ("zero-memory/1", "other-definition", (2 + 14 / 64) * GB),
    ("zero-memory/1", "other-definition", 16 / 64 * GB),
    ("zero-memory/2", "step-left-out", 13 * (4 + 12 / 8) * GB),
    ("zero-memory/3", "gradients-saved", 14 * 13 / 0.812),
    ("activation-memory/1", "step-left-out", 34 * 2 * 2048 * 5120),
    ("activation-memory/1", "other-definition", (34 + 5 * 40 * 2048 / 5120) * 2 * 2048 * 5120 * 24),
    ("activation-memory/2", "other-definition", (10 + 24 / 2) * 4096 * 8192 * 32),
    ("pipeline-bubble/1", "other-definition", 7 / 48),
    ("pipeline-bubble/1", "upside-down", 48 / 55),
    ("pipeline-bubble/3", "step-left-out", 5 / 0.05),
    ("global-batch/1", "total-for-per-rank", 4 * 2),
    ("global-batch/2", "world-for-data-parallel", 256 * 8),
    ("global-batch/3", "upside-down", 1),
    ("parallel-groups/1", "world-for-data-parallel", 1024),
    ("parallel-groups/2", "other-definition", 2),
    ("tensor-parallel-traffic/1", "ring-factor", 4 * 48 * 4096 * 4096 * 2),
    ("tensor-parallel-traffic/2", "one-way-for-both", 2 * 80 * 1.75 * 8192 * 12288 * 2 * 4 / (300 * GB)),
    ("moe-all-to-all/2", "one-way-for-both", 8192 * 8 * 4096 * 2 * 31 / 32 * 32 * 8 / (200 * GBIT)),
    ("moe-all-to-all/3", "precision", 4),
    ("straggler-cost/1", "linear-chance", 0.512),
    ("straggler-cost/1", "upside-down", e**-0.512),
    ("straggler-cost/2", "averaged", 0.4 * (1 + 2 * 0.0005)),
    ("straggler-cost/2", "other-definition", 0.4 * 3),
    ("straggler-cost/3", "linear-chance", 0.222 / 0.00391),
    ("straggler-cost/3", "upside-down", -log(0.222) / 0.00391),
    ("straggler-score/1", "upside-down", 325 / 250),
    ("straggler-score/2", "step-left-out", 1),
    ("straggler-score/2", "other-definition", 0.25 / 0.6),
    ("straggler-score/3", "upside-down", 0.36 * 0.75),
    ("scaling-efficiency/1", "other-definition", 0.8 * 8 / (3 * 64)),
    ("scaling-efficiency/3", "step-left-out", 2 / 4),
    ("transformer-params/1", "step-left-out", 4 * 96 * 12288**2),
    ("transformer-params/3", "step-left-out", (8.27e9 - (51200 + 2048) * 4096) / (4 * 4096**2)),
    ("training-days/1", "other-definition", 6 * 30e9 * 500e9 / (512 * 160e12)),
    ("training-days/1", "total-for-per-rank", 8 * 30e9 * 500e9 / 160e12),
    ("training-days/2", "step-left-out", 6 * 13e9 * 1e12 / (1024 * 312e12)),
    ("mfu/2", "other-definition", 8 * 30e9 * 1024 * 4096 / 6.77 / (256 * 990e12)),
    ("mfu/3", "total-for-per-rank", 0.45 * 990e12 / (6 * 30e9)),
]  # fmt: skip


@pytest.mark.parametrize(("id", "named", "led_to"), MISTAKEN, ids=[f"{id} {named}" for id, named, _ in MISTAKEN])
def test_a_mistake_made_on_paper_is_called_by_its_name(id, named, led_to):
    made = drill(id, SEED)
    judged = judge(made, f"{led_to:.9g} {KIND_UNIT.get(made.kind, '')}".strip())
    assert judged.verdict == "slip" and judged.slip.id == named, judged
    # Numbers that the question tells are rounded to three figures, and so is the paper's mistake.
    assert judged.slip.value == pytest.approx(led_to, rel=0.01)


def test_mistakes_are_made_in_drills_that_were_done_on_paper():
    assert {id for id, _, _ in MISTAKEN} <= {id for id, _, _ in BY_HAND}
    assert len({named for _, named, _ in MISTAKEN}) > 15
