"""Where the ranks sit now and where they sat in the healthy run: switches between ring neighbours, and leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_worker import figures
from gpu_worker.jobs.layout import groups
from gpu_worker.probes import _job
from gpu_worker.probes.base import Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun

SAME_LEAF, ACROSS_LEAVES = 1, 3
Pair = tuple[int, int]


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """Switches between ring neighbours before and now. A swap inside a leaf moves ranks and changes no count."""
    leaf_of = {host["host"]: host["leaf"] for host in run.fabric["hosts"]}
    before, now = run.spec.setting.baseline_placement, run.fabric["placement"]
    rows = tuple(_pair(a, b, before, now, leaf_of) for a, b in zip(*_neighbours(run), strict=True))
    hops_before, hops_now = sum(row[2] for row in rows), sum(row[4] for row in rows)
    readings = {
        "hops_before": Reading(hops_before, "count", "Switches around the whole ring, before"),
        "hops_now": Reading(hops_now, "count", "Switches around the whole ring, now"),
        "extra_hops": Reading(max(0, hops_now - hops_before), "count", "More switches than before"),
        "ranks_moved": Reading(
            sum(a != b for a, b in zip(before, now, strict=True)), "count", "Ranks on another host than before"
        ),
        "leaves_now": Reading(len({leaf_of[host] for host in now}), "count", "Leaves that the job spans now"),
        "new_leaves": Reading(
            len({leaf_of[host] for host in now} - {leaf_of[host] for host in before}),
            "count",
            "Leaves of the job that it did not use before",
        ),
        "spines": Reading(_spines(run), "count", "Spines that every leaf is cabled to"),
    }
    columns = ("neighbours", "hosts before", "switches before", "hosts now", "switches now")
    table = Series(
        columns,
        ("text", "text", "count", "text", "count"),
        rows,
        _caption(run),
    )
    return ProbeResult(readings, {"ring": table, "hosts": _hosts(run, before, now)})


def _neighbours(run: WholeRun) -> tuple[list[Pair], list[Pair]]:
    """Neighbours in the rings that carry the job, before and now: of all ranks in their order, or of a form's own
    groups, as the mesh of the healthy run lays them and as the process groups of this run really are."""
    size, form = len(run.fabric["placement"]), run.spec.setting.job.parallel.form
    before = groups(run.spec.setting.baseline_job.parallel, size).get(form)
    now = {tuple(rank["groups"][form]) for rank in run.ranks if form in rank.get("groups", {})}
    if before is None or not now:
        return _ring(range(size)), _ring(range(size))
    return [pair for group in before for pair in _ring(group)], [pair for group in sorted(now) for pair in _ring(group)]


def _ring(members: Sequence[int]) -> list[Pair]:
    return [(member, members[(at + 1) % len(members)]) for at, member in enumerate(members)]


def _caption(run: WholeRun) -> str:
    form = run.spec.setting.job.parallel.form
    if form in ("ddp", "fsdp2"):
        return "Neighbours in the ring, which runs in rank order; the last closes it."
    return f"Neighbours in the rings of the {form} groups; the last of each closes it."


def _pair(
    pair_before: Pair, pair_now: Pair, before: Sequence[int], now: Sequence[int], leaf_of: Mapping[int, int]
) -> tuple[Any, ...]:
    answer: list[Any] = [f"rank {pair_now[0]} – rank {pair_now[1]}"]
    for placement, pair in ((before, pair_before), (now, pair_now)):
        a, b = placement[pair[0]], placement[pair[1]]
        answer += [f"host{a} – host{b}", _switches(a, b, leaf_of)]
    return tuple(answer)


def _switches(a: int, b: int, leaf_of: Mapping[int, int]) -> int:
    if a == b:
        return 0
    return SAME_LEAF if leaf_of[a] == leaf_of[b] else ACROSS_LEAVES


def _spines(run: WholeRun) -> int:
    return len({end for link in run.fabric["links"] for end in link["ends"] if end.startswith("spine")})


def _hosts(run: WholeRun, before: Sequence[int], now: Sequence[int]) -> Series:
    rows = tuple(
        (f"host{host['host']}", f"leaf{host['leaf']}", _ranks_on(host["host"], before), _ranks_on(host["host"], now))
        for host in sorted(run.fabric["hosts"], key=lambda host: host["host"])
    )
    return Series(
        ("host", "leaf", "rank before", "rank now"), ("text",) * 4, rows, "Every leaf is cabled to every spine."
    )


def _ranks_on(host: int, placement: Sequence[int]) -> str:
    return ", ".join(str(rank) for rank, at in enumerate(placement) if at == host) or "–"


def classify(values: Mapping[str, float]) -> str:
    """Counts: more switches around the ring than before, or as many and yet another leaf, or neither."""
    if values["extra_hops"] >= 1:
        return "more-hops"
    return "another-leaf" if values["new_leaves"] >= 1 else "as-before"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Hosts under leaves under spines, with the ranks of both runs in rows below the hosts."""
    rows = result.series["hosts"].rows
    at_host = {row[0]: float(index) for index, row in enumerate(rows)}
    leaves: dict[str, list[float]] = {}
    for row in rows:
        leaves.setdefault(row[1], []).append(at_host[row[0]])
    at_leaf = {leaf: sum(places) / len(places) for leaf, places in leaves.items()}
    width = len(rows) - 1
    spines = int(result.readings["spines"].value)
    at_spine = {f"spine{number}": width * (number + 1) / (spines + 1) for number in range(spines)}
    cables = [(at_host[row[0]], 2.0, at_leaf[row[1]], 3.0) for row in rows]
    cables += [(x, 3.0, top, 4.0) for x in at_leaf.values() for top in at_spine.values()]
    traces = [
        _cables(cables),
        _boxes(
            "switch",
            "c6",
            [*((x, 4.0, name) for name, x in at_spine.items()), *((x, 3.0, name) for name, x in at_leaf.items())],
        ),
        _boxes("host", "ink-3", [(x, 2.0, name) for name, x in at_host.items()]),
        _ranks("rank before", "ink-3", 1.0, [(at_host[row[0]], row[2]) for row in rows if row[2] != "–"], filled=False),
        _ranks("rank now", "c1", 0.0, [(at_host[row[0]], row[3]) for row in rows if row[3] != "–"], filled=True),
    ]
    return _picture(traces, result, width, bool(at_spine))


def _picture(traces: list[dict[str, Any]], result: ProbeResult, width: int, spines: bool) -> dict[str, Any]:
    levels = {0.0: "now", 1.0: "before", 2.0: "hosts", 3.0: "leaves" if spines else "switch"} | (
        {4.0: "spines"} if spines else {}
    )
    hidden = {"showgrid": False, "zeroline": False, "fixedrange": True}
    y = figures.names(
        type="linear",
        autorange=False,
        range=[-0.55, max(levels) + 0.6],
        tickvals=list(levels),
        ticktext=list(levels.values()),
    )
    alt = (
        "Hosts under leaves under spines with the ranks before and now; "
        f"{result.readings['hops_before'].value} switches around the ring before, "
        f"{result.readings['hops_now'].value} now"
    )
    x = {**hidden, "showticklabels": False, "range": [-0.5, width + 0.5]}
    return figures.frame(traces, alt=alt, rows=6, x=x, y=y)


def _cables(cables: list[tuple[float, float, float, float]]) -> dict[str, Any]:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for x0, y0, x1, y1 in cables:
        xs += [x0, x1, None]
        ys += [y0, y1, None]
    line = {"color": "role:ink-3@0.5", "width": 1.5}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "hoverinfo": "skip",
        "showlegend": False,
        "line": line,
    }


def _boxes(name: str, role: str, places: list[tuple[float, float, str]]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [p[0] for p in places],
        "y": [p[1] for p in places],
        "text": [_short(p[2]) for p in places],
        "textposition": "middle center",
        "hovertext": [p[2] for p in places],
        "hoverinfo": "text",
        "showlegend": False,
        "textfont": {"family": "role:mono", "size": 12, "color": "role:ink"},
        "marker": {
            "symbol": "square",
            "size": 30,
            "color": "role:card",
            "line": {"width": 1.5, "color": f"role:{role}"},
        },
    }


def _short(name: str) -> str:
    return name[0].upper() + name.lstrip("abcdefghijklmnopqrstuvwxyz")


def _ranks(name: str, role: str, level: float, places: list[tuple[float, str]], *, filled: bool) -> dict[str, Any]:
    fill, ink = (f"role:{role}", "role:card") if filled else ("role:card", "role:ink")
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": name,
        "x": [p[0] for p in places],
        "y": [level] * len(places),
        "text": [p[1] for p in places],
        "textposition": "middle center",
        "hovertext": [f"{name}: {p[1]}" for p in places],
        "hoverinfo": "text",
        "showlegend": False,
        "textfont": {"family": "role:mono", "size": 13, "color": ink},
        "marker": {"symbol": "circle", "size": 26, "color": fill, "line": {"width": 2, "color": f"role:{role}"}},
    }


PROBE = Probe(
    id="placement-map",
    title="Placement map",
    group="Fabric",
    question="Do ring neighbours sit as close together as before?",
    price_min=10,
    stops_job=False,
    parameters={},
    experiment=_job.on_job,
    findings={
        "as-before": "The ring crosses as many switches as in the healthy run.",
        "more-hops": "The ring crosses more switches than in the healthy run.",
        "another-leaf": "The ring crosses as many switches as before, and ranks hang on a leaf that had none of them.",
        "inconclusive": "The placement of one of the runs is not known.",
    },
    decisive=(Decisive("extra_hops", "linear"), Decisive("new_leaves", "linear")),
    deterministic=True,
    tells=("placement",),
    reads="configuration",
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "The scheduler knows: scontrol show job and topology.conf under Slurm, node labels under Kubernetes, "
        "the provider's topology API for the network block of an instance. Map hosts to leaves with "
        "ibnetdiscover or LLDP and compare with the healthy run's list. Inside a node nvidia-smi topo -m tells "
        "NVLink from PCIe. NCCL orders its rings by the topology it detects inside nodes, but between nodes it "
        "follows rank order: a bad list of hosts makes a bad ring. Here the ring is always in rank order."
    ),
)
