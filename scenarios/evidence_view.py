"""What a candidate sees of one evidence. Pure: the stored run, the step and the evidence's own identity, nothing else.

Left out on purpose: the finding, the faults and that they fired, the instance, real start and end times and durations;
for banked evidence also when its run was taken, since the bank was filled cause after cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from gpu_worker import export
from gpu_worker.models import Evidence
from gpu_worker.specs import Topology, WholeRun
from scenarios import palette

# Of a run's provenance, what is alike for every run of a machine.
SHOWN_OF_RUN = ("machine", "kernel", "cores", "backend", "torch")

LIVE_CAPTION = "Measured for this attempt on the lab."
BANKED_CAPTION = "Measured beforehand under the same conditions and kept in the bank of runs."


@dataclass(frozen=True)
class EvidenceView:
    """One evidence as pages and JSON show it. `figure` is a Plotly dict, empty where the table says it all."""

    title: str
    step: str
    with_: dict[str, str]
    question: str
    readings: list[dict[str, Any]]
    series: dict[str, dict[str, Any]]
    figure: dict[str, Any]
    provenance: dict[str, Any]
    on_nccl: str
    live: bool
    caption: str


def build_view(evidence: Evidence, run: WholeRun) -> EvidenceView:
    """The view of shown evidence and the run that answers it."""
    probe = palette.probe_of(evidence.step)
    result = probe.read(run, evidence.with_params)
    return EvidenceView(
        title=probe.title,
        step=evidence.step,
        with_=dict(evidence.with_params),
        question=probe.question,
        readings=readings(export.readings_as_dict(result), run),
        series=export.series_as_dict(result),
        figure=probe.figure(result, evidence.with_params),
        provenance=provenance(evidence, run),
        on_nccl=probe.on_nccl,
        live=evidence.live,
        caption=" ".join(filter(None, (LIVE_CAPTION if evidence.live else BANKED_CAPTION, evidence.note))),
    )


def readings(named: dict[str, dict[str, Any]], run: WholeRun) -> list[dict[str, Any]]:
    """Readings in the probe's order, then the spread over repeats: it is a reading too, and varies with the cause."""
    shown = [{"name": name, **reading} for name, reading in named.items()]
    spread = spread_of(run)
    if spread is not None:
        label = "Spread over repeats: longest less shortest, over the median"
        shown.append({"name": "spread", "label": label, "value": spread, "unit": "share"})
    return shown


def spread_of(run: WholeRun) -> float | None:
    """How far the repeats lie apart: iterations of a microbenchmark, or steps of a job (median over ranks)."""
    if run.iterations:
        repeats = [one["seconds"] for one in run.iterations]
    else:
        steps = zip(*([step["total_s"] for step in rank["steps"]] for rank in run.ranks), strict=False)
        repeats = [median(over_ranks) for over_ranks in steps]
    return (max(repeats) - min(repeats)) / median(repeats) if len(repeats) > 1 else None


def provenance(evidence: Evidence, run: WholeRun) -> dict[str, Any]:
    """Where the reading comes from; never a parameter that a fault can change."""
    topology = run.spec.setting.topology
    shown = {
        "evidence": str(evidence.pk),
        "experiment": evidence.experiment,
        "source": "live" if evidence.live else "bank",
        "taken_at": evidence.ready_at.strftime("%Y-%m-%d %H:%M") if evidence.live else "for this release",
        "topology": topology_text(topology),
        "self_check": "passed on this machine" if evidence.live else "passed where the bank was measured",
        "world_size": len(run.fabric["placement"]),
        "link_rate_bits_per_s": topology.link_rate,
        "repeats": repeats_of(run),
    }
    return {**shown, **{name: run.provenance[name] for name in SHOWN_OF_RUN if name in run.provenance}}


def topology_text(topology: Topology) -> str:
    parts = (f"{topology.leaves} leaves", f"{topology.spines} spines", f"{topology.hosts_per_leaf} hosts a leaf")
    return ", ".join((topology.kind, *parts))


def repeats_of(run: WholeRun) -> int:
    """Kept iterations of a microbenchmark, or measured steps of a job; 1 for what is taken once and kept whole."""
    if run.iterations:
        return len(run.iterations)
    return len(run.ranks[0]["steps"]) if run.ranks else 1
