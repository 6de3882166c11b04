"""Healthy runs on real fabrics: near the floor, even, overlapped, and every byte accounted for."""

from __future__ import annotations

import gzip
import itertools
import multiprocessing

import pytest

from gpu_worker.lab import run as lab
from gpu_worker.probes import PROBES
from gpu_worker.specs import ExperimentSpec, Setting, Topology, WholeRun
from tests.gpu_worker.lab.conftest import JOB_SIZE, spec_for

pytestmark = pytest.mark.lab


def fraction_of_floor(run: WholeRun) -> float:
    return float(PROBES["microbenchmark"].read(run, dict(run.spec.with_)).readings["fraction_of_floor"].value)


def findings(run: WholeRun, *probes: str) -> dict[str, str]:
    return {probe: PROBES[probe].finding(PROBES[probe].read(run, {})) for probe in probes}


@pytest.mark.parametrize("kind", ["leaf-spine", "flat"])
def test_a_healthy_all_reduce_runs_near_its_wire_floor(run, kind):
    taken = run("microbenchmark", setting=Setting(topology=Topology(kind=kind)))
    assert 0.85 < fraction_of_floor(taken) < 1.0
    assert len(taken.iterations) == 3 and all(len(one["by_rank"]) == 4 for one in taken.iterations)


def test_eight_ranks_run_on_a_fabric_of_their_size(run):
    setting = Setting(topology=Topology(hosts_per_leaf=4), placement=tuple(range(8)))
    assert 0.8 < fraction_of_floor(run("microbenchmark", setting=setting)) < 1.0


def test_packed_ranks_do_not_touch_the_fabric(run):
    taken = run("microbenchmark", **{"with": {"placement": "packed", "size": "job"}})
    assert taken.fabric["placement"] == [0, 0, 0, 0]
    assert fraction_of_floor(taken) > 1.0
    assert all(counters["bytes"] < 100_000 for counters in taken.fabric["counters"].values())


def test_a_healthy_job_is_even_overlapped_and_clean(run):
    taken = run("job")
    probes = ("host-telemetry", "overlap-trace", "link-error-counters", "library-choices")
    assert findings(taken, *probes) == {
        "host-telemetry": "even",
        "overlap-trace": "overlapped",
        "link-error-counters": "clean",
        "library-choices": "fabric-interface",
    }
    assert len(taken.ranks) == 4 and all(len(rank["steps"]) == 3 for rank in taken.ranks)


def test_the_phases_of_a_step_add_up_and_its_buckets_hold_the_gradient(run):
    for rank in run("job").ranks:
        for step in rank["steps"]:
            phases = sum(step[f"{name}_s"] for name in ("input", "forward", "backward", "exposed", "optimizer"))
            assert phases == pytest.approx(step["total_s"], abs=0.001)
            assert sum(entry["bytes"] for entry in step["collectives"]) == run("job").size_bytes
            assert all(entry["launch"] < entry["done"] for entry in step["collectives"])


def test_the_loss_is_one_of_a_model_that_learns_bytes(run):
    losses = [step["loss"] for rank in run("job").ranks for step in rank["steps"]]
    assert all(2.0 < loss < 5.7 for loss in losses)  # log 256 = 5.55 is guessing


def test_the_paths_that_were_found_carry_the_bytes_of_the_ring(run):
    taken = run("microbenchmark")
    counters, wanted = taken.fabric["counters"], 3 * 1.5 * taken.size_bytes
    for path in taken.fabric["paths"]:
        nodes = path_nodes(path["via"], taken.fabric["placement"][path["src_rank"]])
        for source, target in itertools.pairwise(nodes):
            assert counters[f"{source}->{target}"]["bytes"] > 0.95 * wanted, path


def path_nodes(via: list[str], host: int) -> list[str]:
    """[host0-leaf0, leaf0-spine1, …] from host 0 on -> [host0, leaf0, spine1, …]."""
    nodes = [f"host{host}"]
    for link in via:
        ends = link.split("-")
        ends.remove(nodes[-1])
        nodes += ends
    return nodes


def test_no_two_flows_of_the_ring_share_an_uplink_direction(run):
    for path in run("job").fabric["paths"]:
        assert path["via"]
    up = [path["via"][1] for path in run("job").fabric["paths"] if len(path["via"]) == 4]
    assert len(up) == 2 and up[0].split("-")[0] != up[1].split("-")[0]


def test_rates_are_read_back_from_the_kernel(run):
    links = {link["id"]: link for link in run("job").fabric["links"]}
    assert links["host0-leaf0"]["rate"] == {"host0->leaf0": 400_000_000, "leaf0->host0": 400_000_000}
    assert links["leaf2-spine1"]["nominal"] == Topology().far_uplink_rate


def test_a_stored_job_run_is_small_and_comes_back_whole(run):
    text = run("job").model_dump_json(by_alias=True)
    assert len(gzip.compress(text.encode())) < 60_000
    assert WholeRun.model_validate_json(text) == run("job")


def test_provenance_says_what_took_the_run(run):
    facts = run("job").provenance
    assert facts["backend"] == "gloo" and facts["world_size"] == 4
    assert facts["namespaces"] in ("root", "user") and facts["torch"].startswith("2.")
    assert facts["steal_share"] >= 0 and facts["foreign_cpu_share"] >= 0


def test_progress_is_told_from_the_fabric_to_the_last_iteration(run):
    told: list[dict] = []
    lab.run_experiment(spec_for("microbenchmark", **{"with": {**JOB_SIZE, "size": "small"}}), progress=told.append)
    assert told[0]["phase"] == "fabric"
    assert told[-1] == {"done": 3, "total": 3, "phase": "measuring"}


def test_a_daemonic_pool_child_runs_experiments_although_its_parent_has_a_launcher(run):
    run("microbenchmark")  # the parent's launcher is warm
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_run_and_tell, args=(spec_for("microbenchmark"), answers), daemon=True)
    child.start()
    try:
        assert answers.get(timeout=60) == "microbenchmark"
        child.join(timeout=30)
        assert child.exitcode == 0
    finally:
        child.kill()
        child.join()
    assert lab._launcher().usable


def _run_and_tell(spec: ExperimentSpec, answers) -> None:
    answers.put(lab.run_experiment(spec).spec.experiment)
    lab.close()
