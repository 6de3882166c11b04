"""Whole runs for the probes: plausible ones made by hand, exact to the last digit, and really measured ones."""

from __future__ import annotations

import gzip
import json
from importlib import import_module
from pathlib import Path

import pytest

from gpu_worker.fabric.paths import static_paths
from gpu_worker.fabric.plan import FABRIC_INTERFACE, MANAGEMENT_INTERFACE, FabricPlan, direction, plan_fabric
from gpu_worker.jobs.shape import GRADIENT_BYTES
from gpu_worker.specs import ExperimentSpec, Fault, Job, Setting, Topology, WholeRun, experiment_key

RUNS = Path(__file__).parent / "runs"
# Really taken: `python -m tests.gpu_worker.probes.take_healthy [KEY…]`.
HEALTHY = RUNS / "healthy"
CHECKPOINTS = RUNS / "checkpoint"
SETTING = Setting(
    topology=Topology(),
    placement=(0, 1, 2, 3),
    baseline_placement=(1, 0, 2, 3),
    job=Job(script="b", shuffle_seed=23, flight_recorder_entries=2000, gradient_as_bucket_view=True),
)
BUCKETS = 7
BUSY_BYTES = 130_000_000
FLOW_BYTES = round(0.985 * BUSY_BYTES * 1448 / 1514)
PHASES = {"input_s": 0.010, "forward_s": 0.120, "backward_s": 0.300, "optimizer_s": 0.030}


def made_job(
    *,
    slow: dict[int, dict[str, float]] | None = None,
    communication_s: float = 0.46,
    serial: bool = False,
    placement: tuple[int, ...] = SETTING.placement,
    interface: str = "fabric0",
    rates: dict[str, int] | None = None,
    samples: int = 8,
    stalled: dict[int, float] | None = None,
    memory: dict[int, dict[str, int]] | None = None,
    drops: dict[str, int] | None = None,
    spec: ExperimentSpec | None = None,
) -> WholeRun:
    """A job of four ranks and six steps. `slow` sets phases of a rank; everything waits for the last. `memory` sets, by
    rank, `peak_bytes` of its process and `growth_bytes` of each step.
    """
    spec = spec or ExperimentSpec(experiment="job", setting=SETTING)
    ranks = [_rank(rank, placement[rank], interface, (stalled or {}).get(rank, 0.02)) for rank in range(4)]
    start = 1000.0
    for number in range(6):
        start = _step(ranks, start, slow or {}, communication_s, serial, samples, number)
    for rank in ranks:
        _remember(rank, **(memory or {}).get(rank["rank"], {}))
    return WholeRun(
        spec=spec,
        fired={},
        provenance={"backend": "gloo", "torch": "2.13.0", "cores": 2},
        fabric=_fabric(placement, rates or {}, drops or {}, "management" if interface == "mgmt0" else "access"),
        ranks=ranks,
        size_bytes=GRADIENT_BYTES,
    )


def _rank(rank: int, host: int, interface: str, stalled: float) -> dict:
    telemetry = {
        "wall_s": 5.0,
        "compute_wall_s": 2.5,
        "cpu_s": 2.5 * (0.8 - stalled),
        "run_delay_s": 0.5,
        "voluntary_switches": 900,
        "involuntary_switches": 120,
        "tcp_retransmits": 0,
        "tcp_segments_out": 60_000,
    }
    return {"rank": rank, "host": host, "interface": interface, "steps": [], "telemetry": telemetry}


def _remember(rank: dict, peak_bytes: int = 380_000_000, growth_bytes: int = 0) -> None:
    """What the process had in RAM: 250 MB before the job, and tensors of 92 MB at their most."""
    held = {"parameters": GRADIENT_BYTES, "gradients": GRADIENT_BYTES, "optimizer": 2 * GRADIENT_BYTES, "buffers": 0}
    step = {**held, "activations": 17_000_000, "gathered": 0, "communication": 0, "other": 16_000_000}
    step["peak"] = sum(step.values())
    rank["memory"] = {"started_bytes": 250_000_000, "peak_bytes": peak_bytes, "held": held, "step": step}
    for number, one in enumerate(rank["steps"]):
        one["resident_bytes"] = 340_000_000 + number * growth_bytes


def _step(
    ranks: list[dict], start: float, slow: dict, communication_s: float, serial: bool, samples: int, number: int
) -> float:
    phases = {r["rank"]: {**PHASES, **slow.get(r["rank"], {})} for r in ranks}
    jitter = 1 + 0.01 * (number % 3)
    ready = {rank: _bucket_times(start, p, serial, jitter) for rank, p in phases.items()}
    done, free = [], start
    for bucket in range(BUCKETS):
        free = max(free, max(times[bucket] for times in ready.values())) + communication_s / BUCKETS
        done.append(free)
    for r in ranks:
        p = {name: value * jitter for name, value in phases[r["rank"]].items()}
        launched = start + p["input_s"] + p["forward_s"] + p["backward_s"]
        exposed = max(0.0, done[-1] - launched)
        total = p["input_s"] + p["forward_s"] + p["backward_s"] + exposed + p["optimizer_s"]
        r["steps"].append(
            {
                "start": start,
                **p,
                "exposed_s": exposed,
                "total_s": total,
                "loss": 5.0,
                "samples": samples,
                "input_bytes": samples * 8192,
                "collectives": [
                    {"bytes": GRADIENT_BYTES // BUCKETS, "launch": ready[r["rank"]][b], "done": done[b]}
                    for b in range(BUCKETS)
                ],
            }
        )
    return done[-1] + PHASES["optimizer_s"]


def _bucket_times(start: float, p: dict[str, float], serial: bool, jitter: float) -> list[float]:
    begin = start + (p["input_s"] + p["forward_s"]) * jitter
    backward = p["backward_s"] * jitter
    return [begin + backward * (1 if serial else (bucket + 1) / BUCKETS) for bucket in range(BUCKETS)]


def _fabric(
    placement: tuple[int, ...], rates: dict[str, int], drops: dict[str, int], busy_kind: str = "access"
) -> dict:
    plan = plan_fabric(SETTING.topology, rates)
    links, counters = [], {}
    for cable in plan.cables:
        ways = {direction(cable.a, cable.b): cable.a.rate, direction(cable.b, cable.a): cable.b.rate}
        ends = [cable.a.node, cable.b.node]
        links.append({"id": cable.id, "kind": cable.kind, "ends": ends, "rate": ways, "nominal": cable.nominal})
        busy = BUSY_BYTES if cable.kind == busy_kind and cable.a.node in {f"host{h}" for h in placement} else 0
        for way in ways:
            counters[way] = {
                "bytes": busy,
                "packets": busy // 1514,
                "drops": drops.get(way, 0),
                "overlimits": busy // 9000,
                "backlog_bytes": 0,
            }
    hosts = [{"host": host, "leaf": leaf} for host, leaf in enumerate(plan.leaf_of)]
    paths = _paths(plan, placement, busy_kind)
    _fill_uplinks(counters, paths)
    return {
        "hosts": hosts,
        "placement": list(placement),
        "links": links,
        "counters": counters,
        "paths": paths,
        "flows": [
            {
                "src": placement[path["src_rank"]],
                "dst": placement[path["dst_rank"]],
                "network": busy_kind,
                "bytes": FLOW_BYTES,
                "connections": 1,
            }
            for path in paths
        ],
    }


def _paths(plan: FabricPlan, placement: tuple[int, ...], kind: str) -> list[dict]:
    """The ring's flows; between leaves by spine 0 up from even leaves and by spine 1 from odd ones."""
    interface = MANAGEMENT_INTERFACE if kind == "management" else FABRIC_INTERFACE
    paths = []
    for path in static_paths(plan, placement, interface):
        via = list(path.via)
        if not path.known:
            low, high = (plan.leaf_of[placement[rank]] for rank in (path.source, path.target))
            via[1:1] = [f"leaf{low}-spine{low % 2}", f"leaf{high}-spine{low % 2}"]
        paths.append({"src_rank": path.source, "dst_rank": path.target, "via": via})
    return paths


def _fill_uplinks(counters: dict[str, dict[str, int]], paths: list[dict]) -> None:
    for path in paths:
        if len(path["via"]) == 4:
            up, down = path["via"][1:3]
            for way in ("->".join(up.split("-")), "->".join(reversed(down.split("-")))):
                counters[way]["bytes"] += BUSY_BYTES
                counters[way]["packets"] += BUSY_BYTES // 1514


def made_microbenchmark(
    fraction: float = 0.95, size_bytes: int = 14_000_000, size: str = "job", placement: str = "as-job"
) -> WholeRun:
    """Five iterations of four ranks at a fraction of the floor of 400 Mb/s."""
    floor = 1.5 * size_bytes * 8 / 400e6
    seconds = [floor / fraction * (1 + 0.004 * at) for at in range(5)]
    spec = ExperimentSpec(experiment="microbenchmark", with_={"size": size, "placement": placement}, setting=SETTING)
    return WholeRun(
        spec=spec,
        provenance={"backend": "gloo"},
        fabric=_fabric(SETTING.placement, {}, {}),
        iterations=[{"seconds": s, "by_rank": [s, s * 0.999, s * 0.998, s]} for s in seconds],
        size_bytes=size_bytes,
    )


MADE = {
    "healthy": lambda: made_job(),
    "throttled-rank": lambda: made_job(slow={2: {"forward_s": 0.3, "backward_s": 0.75}}, stalled={2: 0.5}),
    "slow-input-rank": lambda: made_job(slow={1: {"input_s": 0.6}}),
    "degraded-link": lambda: made_job(communication_s=1.5, rates={"leaf0-spine1": 120_000_000}),
    "worse-placement": lambda: made_job(communication_s=1.3, placement=(0, 5, 2, 3)),
    "fallback-transport": lambda: made_job(communication_s=1.3, interface="mgmt0"),
    "no-overlap": lambda: made_job(serial=True),
    "comparison-changed": lambda: made_job(samples=3),
}


@pytest.fixture
def made():
    """The plausible runs, one a cause, by name."""
    return {cause: make() for cause, make in MADE.items()}


@pytest.fixture
def made_microbenchmark_run():
    return made_microbenchmark


def measured_files() -> list[Path]:
    return sorted(RUNS.glob("*.json.gz"))


def load(path: Path) -> WholeRun:
    return WholeRun.model_validate(json.loads(gzip.decompress(path.read_bytes())))


@pytest.fixture
def measured():
    """(cause, run) of every really measured run in the folder."""
    return [(path.name.split("--")[0], load(path)) for path in measured_files()]


@pytest.fixture
def with_faults():
    """The same run whose spec and proof of firing tell another story."""

    def change(run: WholeRun, cause: str, place: str | None) -> WholeRun:
        fault = Fault(cause=cause, place=place, params={"rate": 1.0, "duty": 0.5})
        spec = run.spec.model_copy(update={"faults": (fault,)})
        return run.model_copy(update={"spec": spec, "fired": {cause: {"seen": place, "count": 12345}}})

    return change


@pytest.fixture
def run_for(made, made_microbenchmark_run):
    """(probe, parameters) -> a healthy run of the experiment that the probe reads.

    A run of an experiment of its own comes from `healthy()` of the module `made_<experiment>.py` beside this one.
    """

    def choose(probe, params):
        if probe.experiment(params).startswith("microbenchmark"):
            return made_microbenchmark_run(size=params["size"], placement=params["placement"])
        if probe.experiment(params) == experiment_key("job"):
            return made["healthy"]
        measured = HEALTHY / f"{probe.experiment(params)}.json.gz"
        if measured.exists():
            return load(measured)
        if (stored := CHECKPOINTS / f"healthy--{probe.experiment(params)}.json.gz").exists():
            return load(stored)
        name = probe.experiment(params).partition("[")[0].replace("-", "_")
        return import_module(f"{__package__}.made_{name}").healthy()

    return choose
