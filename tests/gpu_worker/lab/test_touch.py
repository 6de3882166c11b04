"""A fault is left out of a run only where nothing in the run reads what it changes."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from gpu_worker.experiments import EXPERIMENTS
from gpu_worker.lab.plan import plan_run
from gpu_worker.lab.touch import READ_BY_THE_STEP, is_touched, trains
from gpu_worker.matrix.digest import _source_of, closure
from gpu_worker.specs import ExperimentSpec, Fault, Job, Setting, Topology

SETTING = Setting(topology=Topology(hosts_per_leaf=3), placement=(0, 3, 1, 4), baseline_placement=(0, 3, 1, 4))
EVERY = [
    (experiment.id, dict(zip(experiment.choices, values, strict=True)))
    for experiment in EXPERIMENTS.values()
    for values in product(*experiment.choices.values())
]


def spec_of(experiment: str, with_: dict[str, str], *faults: Fault) -> ExperimentSpec:
    return ExperimentSpec.model_validate(
        {"experiment": experiment, "with": with_, "setting": SETTING, "faults": faults}
    )


@pytest.mark.parametrize(("experiment", "with_"), EVERY)
def test_what_is_said_to_be_read_by_the_step_alone_is_read_by_no_other_body(experiment, with_):
    bodies = {
        phase.body.partition(":")[0] for phase in plan_run(spec_of(experiment, with_)).phases if not trains(phase)
    }
    for module in closure(bodies):
        looked_up = {
            node.slice.value
            for node in ast.walk(ast.parse(_source_of(module)))
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        }
        assert not looked_up & READ_BY_THE_STEP, module


def test_every_field_of_that_list_is_one_of_the_job():
    assert set(Job.model_fields) >= READ_BY_THE_STEP


PACKED = ("placement", "packed")
TRAINING = ["job", "synthetic-batch", "single-node-baseline"]
FED = [*TRAINING, "hang", "save", "resume-replay"]
ALONE = ["sweep", "pairwise", "microbenchmark"]
TOUCHED = [
    (Fault(cause="no-overlap"), TRAINING, ["hang", "save", "resume-replay", "storage-throughput", *ALONE]),
    (Fault(cause="skewed-shard", place="rank:1"), TRAINING, ["hang", "save", "resume-replay", *ALONE]),
    (Fault(cause="shared-storage"), FED, ["storage-throughput", *ALONE]),
    (Fault(cause="throttled-rank", place="rank:1"), [*FED, *ALONE, "storage-throughput"], []),
    (Fault(cause="pinned-cores"), [*FED, "storage-throughput"], []),
    (Fault(cause="degraded-link", place="link:leaf0-spine1"), [*FED, *ALONE], []),
    (Fault(cause="path-collision"), [*FED, *ALONE], []),
    (Fault(cause="fallback-transport"), [*FED, *ALONE], []),
    (Fault(cause="worse-placement", place="rank:1"), [*FED, *ALONE], []),
]


@pytest.mark.parametrize(("fault", "touched", "untouched"), TOUCHED, ids=lambda part: getattr(part, "cause", None))
def test_a_fault_touches_what_reads_what_it_changes(fault, touched, untouched):
    wanted = [*touched, *untouched]
    found = {
        id: is_touched(spec_of(id, with_, fault)) for id, with_ in EVERY if id in wanted and PACKED not in with_.items()
    }
    assert found == dict.fromkeys(touched, True) | dict.fromkeys(untouched, False)


def test_a_loopback_knows_no_links():
    slow = Fault(cause="degraded-link", place="link:leaf0-spine1")
    assert not is_touched(spec_of("microbenchmark", {"placement": "packed", "size": "job"}, slow))
    assert not is_touched(
        spec_of("microbenchmark", {"placement": "packed", "size": "job"}, Fault(cause="path-collision"))
    )
    assert not is_touched(spec_of("job", {}))
