"""The all-reduce over many sizes, from those that latency decides to those that bandwidth decides, and the smallest
once more over the loopback, where no fabric is.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from typing import TYPE_CHECKING, Any

from gpu_worker.errors import BadSpec
from gpu_worker.experiments.base import Experiment, Phase, Setup
from gpu_worker.experiments.collective import BODY, whole_parts
from gpu_worker.fabric.plan import BURST_BYTES
from grader.physics import busbw_factor

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

OP = "all-reduce"
# Under this much traffic a link's bucket, full after a pause, still shows in the rate.
BURSTS = 20
# One such all-reduce takes from half to three times the mean, as the scheduler has it: hundreds are needed, and fewer
# where each has more rounds.
LATENCY_REPEATS = 400
LATENCY_BYTES, LATENCY_HELD_OUT_BYTES = (1_000, 4_000), 2_000
BETWEEN = {32_000: 30, 64_000: 30, 128_000: 30, 256_000: 12, 512_000: 8, 1_000_000: 5}
# In units of the smallest size whose traffic is 20 bursts.
BANDWIDTH = {1.0: 4, 2.0: 3, 4.0: 2}
BANDWIDTH_HELD_OUT = {1.5: 3, 3.0: 2}

Train = dict[str, Any]


def trains_of(ranks: int) -> list[Train]:
    """What the fabric is measured with: {size_bytes, repeats, paced, role}; the role says what a size is for:
    `latency` and `bandwidth` are fitted, `held-out` sizes are predicted from the fit, `between` ones are shown.
    """
    repeats, unit = max(20, LATENCY_REPEATS // ranks), BURSTS * BURST_BYTES / busbw_factor(OP, ranks)
    small, large = LATENCY_BYTES
    held_out = _train(LATENCY_HELD_OUT_BYTES, repeats, "held-out", ranks)
    return [
        _train(small, repeats, "latency", ranks),
        held_out,
        _train(large, repeats, "latency", ranks),
        held_out,
        *(_train(size, count, "between", ranks) for size, count in BETWEEN.items()),
        *(_train(times * unit, count, "bandwidth", ranks) for times, count in BANDWIDTH.items()),
        *(_train(times * unit, count, "held-out", ranks) for times, count in BANDWIDTH_HELD_OUT.items()),
    ]


def loopback_trains_of(ranks: int) -> list[Train]:
    return [train for train in trains_of(ranks) if train["role"] == "latency"]


def _train(size_bytes: float, repeats: int, role: str, ranks: int) -> Train:
    return {"size_bytes": whole_parts(int(size_bytes), ranks), "repeats": repeats, "paced": False, "role": role}


def phases(setup: Setup) -> tuple[Phase, ...]:
    """The loopback is measured on two hosts: one of them may be what is slow."""
    if setup.spec.size_bytes is not None:
        raise BadSpec("a sweep has sizes of its own; leave --size out")
    ranks, first, last = len(setup.hosts), setup.hosts[0], setup.hosts[-1]
    return (
        _phase("fabric", setup, setup.hosts, trains_of(ranks)),
        _phase("loopback", setup, (first,) * ranks, loopback_trains_of(ranks), packed=True),
        _phase("loopback", setup, (last,) * ranks, loopback_trains_of(ranks), packed=True),
    )


def _phase(name: str, setup: Setup, hosts: tuple[int, ...], trains: list[Train], *, packed: bool = False) -> Phase:
    largest = max(train["size_bytes"] for train in trains)
    arguments = {"op": OP, "trains": trains}
    return Phase(
        name=name, hosts=hosts, packed=packed, job=setup.job, body=BODY, size_bytes=largest, arguments=arguments
    )


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """`recorded`: {fabric: [train], loopbacks: [[train], [train]]}; a train is {size_bytes, role, seconds}, one number
    a repeat: the mean over ranks, whose sum is what the train took.
    """
    fabric, *loopbacks = (_recorded(phase, ran["ranks"]) for phase, ran in zip(plan.phases, raw["phases"], strict=True))
    return {"recorded": {"fabric": fabric, "loopbacks": loopbacks}}


def _recorded(phase: Phase, ranks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    recorded = []
    for at, train in enumerate(phase.arguments["trains"]):
        repeats = zip(*(rank["trains"][at]["seconds"] for rank in ranks), strict=True)
        seconds = [round(mean(of_ranks), 6) for of_ranks in repeats]
        recorded.append({"size_bytes": train["size_bytes"], "role": train["role"], "seconds": seconds})
    return recorded


EXPERIMENT = Experiment(
    id="sweep", title="All-reduce over sizes", nominal_s=15.0, choices={}, phases=phases, record=record
)
