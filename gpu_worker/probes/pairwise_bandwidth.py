"""The bandwidth between pairs of hosts, without a collective, and whether one host explains the slow ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from gpu_worker import figures
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.readable import say
from gpu_worker.specs import WholeRun, experiment_key

LOW, HIGH = 0.75, 0.85
Pair = tuple[int, int]


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """The rate of each direction of each measured pair over the nominal access rate, and what is left of the slow pairs
    once one host, two hosts or one pair is set aside.
    """
    transfers = run.recorded.get("transfers")
    if run.spec.experiment != "pairwise" or not transfers:
        raise ValueError(f"run of {run.spec.key}: this probe reads transfers between pairs of ranks")
    rates = {(one["source"], one["target"]): 8 * run.size_bytes / one["seconds"] for one in transfers}
    nominal = run.spec.setting.topology.link_rate
    shares = _worse_ways({way: rate / nominal for way, rate in rates.items()})
    hosts = run.fabric["placement"]
    lowest = min(shares, key=lambda pair: shares[pair])
    first, second = _suspects(shares)
    readings = {
        "pairs": Reading(len(shares), "count", "Pairs measured, each in both directions"),
        "nominal": Reading(nominal, "bit/s", "Nominal rate of a host's access link"),
        "lowest_pair": Reading(_names(lowest, hosts), "text", "Slowest pair, by its slower direction"),
        "lowest_share": Reading(shares[lowest], "ratio", "Its rate over nominal"),
        "highest_share": Reading(max(shares.values()), "ratio", "Fastest pair over nominal"),
        "worst_host": Reading(_name(first, hosts), "text", "Host whose best pair is the slowest of all hosts' best"),
        "worst_host_best": Reading(_best(shares, first, ()), "ratio", "Best pair of that host over nominal"),
        "rest_without_host": Reading(_rest(shares, {first}), "ratio", "Slowest pair without that host"),
        "second_host_best": Reading(
            _best(shares, second, {first}), "ratio", "Best pair of the next such host, the first set aside"
        ),
        "rest_without_hosts": Reading(_rest(shares, {first, second}), "ratio", "Slowest pair without either host"),
        "rest_without_pair": Reading(
            min((share for pair, share in shares.items() if pair != lowest), default=1.0),
            "ratio",
            "Slowest pair without the slowest one",
        ),
    }
    return ProbeResult(readings, {"pairs": _table(rates, nominal, hosts, transfers)})


def _worse_ways(ways: Mapping[Pair, float]) -> dict[Pair, float]:
    """By pair (lower rank first): the share of its slower direction."""
    pairs: dict[Pair, float] = {}
    for (a, b), share in ways.items():
        pair = (min(a, b), max(a, b))
        pairs[pair] = min(share, pairs.get(pair, share))
    return pairs


def _suspects(shares: Mapping[Pair, float]) -> tuple[int | None, int | None]:
    """The rank whose best pair is slowest, and the next one without it. A rank with a single pair is not accused."""
    ranks = {rank for pair in shares for rank in pair}
    seen = {rank for rank in ranks if sum(rank in pair for pair in shares) >= 2}
    first = min(seen, key=lambda rank: _best(shares, rank, ()), default=None)
    others = {rank for rank in seen - {first} if any(rank in pair and first not in pair for pair in shares)}
    return first, min(others, key=lambda rank: _best(shares, rank, {first}), default=None)


def _best(shares: Mapping[Pair, float], rank: int | None, aside: Collection[int | None]) -> float:
    return max(
        (share for pair, share in shares.items() if rank in pair and not set(pair) & set(aside)),
        default=max(shares.values()),
    )


def _rest(shares: Mapping[Pair, float], aside: Collection[int | None]) -> float:
    return min((share for pair, share in shares.items() if not set(pair) & set(aside)), default=max(shares.values()))


def _name(rank: int | None, hosts: list[int]) -> str:
    return "none" if rank is None else f"host{hosts[rank]}"


def _names(pair: Pair, hosts: list[int]) -> str:
    return " – ".join(_name(rank, hosts) for rank in pair)


def _table(rates: Mapping[Pair, float], nominal: float, hosts: list[int], transfers: list[dict[str, Any]]) -> Series:
    rows = tuple(
        (_name(a, hosts), _name(b, hosts), f"{a} → {b}", rates[a, b], rates[a, b] / nominal) for a, b in sorted(rates)
    )
    rounds = 1 + max(one["round"] for one in transfers)
    return Series(
        ("from", "to", "ranks", "rate", "rate over nominal"),
        ("text", "text", "text", "bit/s", "ratio"),
        rows,
        f"Taken in {rounds} rounds; in each, no host is in two pairs and no leaf is left by two flows at once.",
    )


def classify(values: Mapping[str, float]) -> str:
    """By what is left once a host, two hosts or a pair is set aside: even from 0.85 of nominal, low under 0.75."""
    low = {name: value < LOW for name, value in values.items()}
    high = {name: value >= HIGH for name, value in values.items()}
    if high["lowest_share"]:
        return "even"
    if not low["lowest_share"]:
        return INCONCLUSIVE
    if low["highest_share"]:
        return "all-low"
    if low["worst_host_best"]:
        return _by_hosts(low, high)
    if not high["worst_host_best"]:
        return INCONCLUSIVE
    return _of(low["rest_without_pair"], high["rest_without_pair"], "one-pair-low")


def _by_hosts(low: Mapping[str, bool], high: Mapping[str, bool]) -> str:
    if high["rest_without_host"]:
        return "one-host-low"
    if not low["rest_without_host"]:
        return INCONCLUSIVE
    if low["second_host_best"]:
        return _of(low["rest_without_hosts"], high["rest_without_hosts"], "two-hosts-low")
    return "some-pairs-low" if high["second_host_best"] else INCONCLUSIVE


def _of(low: bool, high: bool, explained: str) -> str:
    """`explained` where the rest is fine, `some-pairs-low` where it is not."""
    if high:
        return explained
    return "some-pairs-low" if low else INCONCLUSIVE


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """A matrix: from each host (rows) to each other (columns)."""
    rows = result.series["pairs"].rows
    order = sorted({name for row in rows for name in row[:2]}, key=lambda name: int(name.removeprefix("host")))
    by_way = {row[:2]: row for row in rows}
    cells = [[by_way.get((a, b)) for b in order] for a in order]
    trace = figures.matrix(
        order,
        order,
        [[cell[4] if cell else None for cell in line] for line in cells],
        [[say(cell[4], "ratio") if cell else "" for cell in line] for line in cells],
        [[f"{cell[0]} → {cell[1]}: {say(cell[3], 'bit/s')}" if cell else "" for cell in line] for line in cells],
    )
    lowest = result.readings["lowest_pair"].value
    alt = (
        f"Rate from each host to each other over nominal, {result.readings['pairs'].value} pairs; slowest {lowest} "
        f"at {say(result.readings['lowest_share'].value, 'ratio')}"
    )
    x = figures.names(side="top", autorange=True, title={"text": "to", "font": {"size": 13, "color": "role:ink-3"}})
    return figures.frame([trace], alt=alt, rows=len(order) + 1, x=x, y=figures.names(order))


PROBE = Probe(
    id="pairwise-bandwidth",
    title="Pairwise bandwidth",
    group="Fabric",
    question="Which pairs of hosts are slow, and does one host explain them?",
    price_min=20,
    stops_job=True,
    parameters={"scope": ("disjoint-pairs", "by-leaf", "suspects")},
    experiment=lambda with_: experiment_key("pairwise", dict(with_)),
    findings={
        "even": "Every measured pair runs near the nominal rate of its links.",
        "one-host-low": "Every pair of one host is slow, and all pairs without it are not.",
        "two-hosts-low": "Every pair of two hosts is slow, and all pairs without either are not.",
        "one-pair-low": "Exactly one measured pair is slow, and no host has all of its pairs slow.",
        "some-pairs-low": "Several pairs are slow, and neither one host nor two explain them.",
        "all-low": "Every measured pair is slow: no host or link stands out.",
        INCONCLUSIVE: "The slowest pairs lie between: neither near nominal nor clearly below it.",
    },
    decisive=tuple(
        Decisive(name)
        for name in (
            "lowest_share",
            "highest_share",
            "worst_host_best",
            "rest_without_host",
            "second_host_best",
            "rest_without_hosts",
            "rest_without_pair",
        )
    ),
    deterministic=False,
    tells=("link",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "Run nccl-tests sendrecv_perf or all_reduce_perf on two nodes at a time, disjoint pairs at once, then "
        "another pairing: n − 1 rounds see every pair, two rounds with a known-good partner clear or accuse a node. "
        "ib_write_bw between the same two NICs leaves NCCL out of it, and tells the wire from the library. One slow "
        "pair does not accuse a node: a node is slow when its every pair is, and two slow nodes make most pairs slow. "
        "Pairs that run at once can meet on a spine (look at the switches' counters), so a low pair is measured again "
        "alone. Here the pairs use the library's own TCP connections, and those that leave a leaf take turns."
    ),
)
