"""The ranks of each leaf on each other's hosts: does a late rank's slowness stay on its host, or move with the rank?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _job
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.probes.collective_arrivals import LATE, TOGETHER
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun

LEFT, KEPT = 0.35, 0.60


@dataclass(frozen=True)
class Placed:
    """One of the two runs of the job, by rank: hosts, lateness as a share of all its time, input plus compute a step.

    Lateness of all steps together, not of a typical one: a host that stutters holds up some steps and spares others.
    """

    hosts: tuple[int, ...]
    late: tuple[float, ...]
    busy_s: tuple[float, ...]
    step_s: float


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Who comes late to the collectives before the swap, and how much of it rank and host each have after it."""
    before, after = (_placed(run, name) for name in ("before", "after"))
    last = max(range(len(before.late)), key=lambda rank: before.late[rank])
    heir = after.hosts.index(before.hosts[last])
    most = max(before.late[last], TOGETHER)  # less is no lateness, and its ratios would mean nothing
    readings = {
        "late_before": Reading(
            before.late[last], "share", "Latest rank's lateness before the swap, share of all steps"
        ),
        "late_after": Reading(max(after.late), "share", "Latest rank's after the swap"),
        "kept_by_host": Reading(after.late[heir] / most, "ratio", "Lateness on its host after, over before"),
        "kept_by_rank": Reading(after.late[last] / most, "ratio", "Lateness of that rank on its new host, over before"),
        "latest_rank": Reading(f"rank {last}", "text", "Rank that came last before"),
        "its_host": Reading(f"host{before.hosts[last]}", "text", "Host that it was on"),
        "its_new_host": Reading(f"host{after.hosts[last]}", "text", "Host that it is on after the swap"),
        "heir": Reading(f"rank {heir}", "text", "Rank that is on its old host now"),
        "step_after_over_before": Reading(after.step_s / before.step_s, "ratio", "Step after the swap over before"),
    }
    return ProbeResult(readings, {"swap": _table(before, after)})


def _placed(run: WholeRun, name: str) -> Placed:
    """Raises ValueError where the run is of another experiment."""
    if not run.recorded.get(name) or run.spec.experiment != "host-swap":
        raise ValueError(f"run of {run.spec.key}: this probe reads a job before and after a swap of hosts")
    ranks: list[dict[str, Any]] = sorted(run.recorded[name], key=lambda rank: rank["rank"])
    by_step = _job.lateness_by_step(run, ranks)
    all_s = median(sum(step["total_s"] for step in rank["steps"]) for rank in ranks)
    return Placed(
        hosts=tuple(rank["host"] for rank in ranks),
        late=tuple(sum(row[at] for row in by_step) / all_s for at in range(len(ranks))),
        busy_s=tuple(_busy_s(rank["steps"]) for rank in ranks),
        step_s=median(median(step["total_s"] for step in rank["steps"]) for rank in ranks),
    )


def _busy_s(steps: Sequence[Mapping[str, float]]) -> float:
    return median(step["input_s"] + step["forward_s"] + step["backward_s"] for step in steps)


def _table(before: Placed, after: Placed) -> Series:
    columns = (
        *("host", "rank before", "lateness before", "input and compute before"),
        *("rank after", "lateness after", "input and compute after"),
    )
    rows = []
    for host in sorted(before.hosts):
        then, now = before.hosts.index(host), after.hosts.index(host)
        rows.append(
            (
                *(f"host{host}", f"rank {then}", before.late[then], before.busy_s[then]),
                *(f"rank {now}", after.late[now], after.busy_s[now]),
            )
        )
    caption = (
        "Ranks of a leaf on each other's hosts. Lateness: when a rank enters the collectives less the median of the "
        "others, all steps together, as a share of their time; below zero is early."
    )
    return Series(columns, ("text", "text", "share", "s", "text", "share", "s"), tuple(rows), caption)


def classify(values: Mapping[str, float]) -> str:
    """Nothing to follow where nobody is late; else by how much of the lateness host and rank each have after the swap.

    A rank that kept its host has both: that tells nothing.
    """
    before, after = values["late_before"], values["late_after"]
    host, rank = values["kept_by_host"], values["kept_by_rank"]
    if before < TOGETHER and after < TOGETHER:
        return "unchanged"
    if before < LATE:
        return INCONCLUSIVE
    if host >= KEPT and rank < LEFT:
        return "follows-host"
    if rank >= KEPT and host < LEFT:
        return "follows-rank"
    return "follows-neither" if max(host, rank) < LEFT and after < TOGETHER else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Two bars a host: how late the rank on it was before the swap, and the other one after it."""
    rows = result.series["swap"].rows
    labels = [row[0] for row in rows]
    traces = []
    for name, role, rank, late in (("before", "c6", 1, 2), ("after the swap", "c1", 4, 5)):
        said = [f"{row[0]}, {name}: {row[rank]} {say(row[late], 'share')} late" for row in rows]
        values, texts = [100 * row[late] for row in rows], [row[rank] for row in rows]
        traces.append(figures.bars(name, role, labels, values, said, **figures.written(texts)))
    alt = "Lateness on each host before and after the swap: " + "; ".join(
        f"{row[0]} {row[1]} {say(row[2], 'share')}, then {row[4]} {say(row[5], 'share')}" for row in rows
    )
    x = figures.numbers("% of the time after the others", zeroline=True, zerolinecolor="role:line", zerolinewidth=2)
    return figures.frame(traces, alt=alt, rows=2 * len(rows), x=x, y=figures.names(labels), barmode="group")


PROBE = Probe(
    id="host-swap",
    title="Host swap",
    group="Ranks and hosts",
    question="Does slowness stay on its host when another rank runs there, or does it move with the rank?",
    price_min=25,
    stops_job=True,
    parameters={},
    experiment=lambda _with: "host-swap",
    findings={
        "follows-host": "A rank was late; after the swap whoever took its host is, and it no longer: the host is slow.",
        "follows-rank": "A rank was late and still is on another host: its data, its input or its code is slow.",
        "follows-neither": "A rank was late before the swap and nobody is after it: neither host nor rank is slow.",
        "unchanged": "No rank is late before the swap or after it: what is slow, if anything, is common to all.",
        INCONCLUSIVE: "Lateness is too small to follow, or it was shared out between host and rank.",
    },
    decisive=(
        Decisive("late_before", "log"),
        Decisive("late_after", "log"),
        Decisive("kept_by_host", "linear"),
        Decisive("kept_by_rank", "linear"),
    ),
    deterministic=False,
    tells=("straggler",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Start the job again with the suspect's host exchanged for a healthy one, in the host list (or with Slurm's "
        "--exclude and a spare) so that everything else stays, ring order above all: NCCL follows rank order between "
        "nodes. Keep shard and sampler tied to the rank, not to the host name. If the slow rank stays slow, look at "
        "its shard, its loader and its code; if its old host slows the newcomer, drain it and run dcgmi diag -r 3 "
        "there. A spare taken instead of another rank's host also takes a bad NIC or cable out of the ring, which an "
        "exchange leaves in it: here both hosts stay in the job, so a slow link shows as unchanged."
    ),
)
