"""`manage.py lab`: what the lab can do, one run of it, its self-check, its sweeping."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from gpu_worker.errors import BadSpec, LabError
from gpu_worker.lab.request import Request, parameters_of, probe_of, spec_of
from gpu_worker.matrix import table
from gpu_worker.matrix.take import Told
from gpu_worker.probes.base import Probe, ProbeResult, Series
from gpu_worker.readable import say
from gpu_worker.specs import ExperimentSpec, WholeRun

DOES_NOT_HOLD, BAD_USAGE = 1, 2


class Command(BaseCommand):
    help = "What the lab can do, runs of it, its self-check. Exit codes: 0 fine, 1 does not hold, 2 bad input."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for name, text in {
            "capabilities": "what this machine can do, and why not",
            "probes": "the diagnostic measurements there are",
            "faults": "the faults that can be injected, with the bounds of their parameters",
            "self-check": "does this machine reproduce what readings must show? A minute or two; stores the result",
            "sweep": "removes what dead runs of ours left",
        }.items():
            actions.add_parser(name, help=text).add_argument("--json", action="store_true")
        _add_run(actions.add_parser("run", help="one experiment, read by one probe"))
        _add_matrix(
            actions.add_parser("matrix", help="every fault against the probes that should show it and those not")
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"do_{options['action'].replace('-', '_')}")(options)
        except BadSpec as problem:
            raise CommandError(problem.reason, returncode=BAD_USAGE) from None
        except LabError as problem:
            raise CommandError(problem.reason, returncode=DOES_NOT_HOLD) from None

    def show(self, options: Mapping[str, Any], found: Any, lines: list[str]) -> None:
        self.stdout.write(json.dumps(found, indent=2) if options["json"] else "\n".join(lines))

    def do_capabilities(self, options: Mapping[str, Any]) -> None:
        from gpu_worker.lab.capabilities import capabilities

        found = capabilities()
        lines = [
            f"{name:14} {'yes' if facts['available'] else 'no'}{_after(facts.get('how') or facts['reason'])}"
            for name, facts in found.items()
        ]
        self.show(options, found, lines)

    def do_probes(self, options: Mapping[str, Any]) -> None:
        from gpu_worker.probes import PROBES

        found = [_probe(probe) for probe in PROBES.values()]
        self.show(options, found, [f"{p['id']:24} {p['price_min']:3g} min  {p['question']}" for p in found])

    def do_faults(self, options: Mapping[str, Any]) -> None:
        from gpu_worker.faults import FAULTS, describe

        found = [describe(kind) for kind in FAULTS.values()]
        lines = [f"{f['id']:20} place: {f['place']:5} {_bounds(f['params'])}" for f in found]
        self.show(options, found, lines)

    def do_run(self, options: Mapping[str, Any]) -> None:
        from gpu_worker.lab import run as lab

        request = Request(**{name: options[name] for name in Request.__dataclass_fields__})
        probe, parameters, spec = probe_of(request), parameters_of(request), spec_of(request)
        try:
            run = lab.run_experiment(spec, progress=None if options["json"] else self._tell)
        finally:
            lab.close()
        result = probe.read(run, parameters)
        finding = probe.finding(result)
        lines = [f"{r.label}: {say(r.value, r.unit)}" for r in result.readings.values()]
        self.show(options, _report(probe, spec, run, result, finding), [*lines, f"finding: {finding}"])

    def do_self_check(self, options: Mapping[str, Any]) -> None:
        from gpu_worker.lab import run as lab
        from gpu_worker.lab.selfcheck import Verdict, check_and_store

        def tell(verdict: Verdict) -> None:
            if not options["json"]:
                again = "" if verdict.tries == 1 else f"try {verdict.tries}"
                said = _after("; ".join(filter(None, [verdict.why, again])))
                self.stdout.write(f"{'ok    ' if verdict.ok else 'not ok'} {verdict.name}{said}")

        try:
            stored = check_and_store(timezone.now(), tell=tell)
        finally:
            lab.close()
        if options["json"]:
            self.stdout.write(json.dumps({"ok": stored.ok, "machine": stored.machine, **stored.details}, indent=2))
        else:
            runs = stored.details["runs"]
            self.stdout.write(f"{runs['taken']} runs, {runs['disturbed']} of them disturbed and taken again")
        if not stored.ok:
            raise CommandError("this machine does not reproduce the lab's readings", returncode=DOES_NOT_HOLD)

    def do_matrix(self, options: Mapping[str, Any]) -> None:
        from gpu_worker.matrix.command import RunMatrix

        docs = settings.BASE_DIR / "docs" / "lab"
        folder = settings.DATA_DIR / "matrix"
        matrix = RunMatrix(options["faults"], options["runs"], folder, docs, options["only"])
        try:
            not_had = [] if options["judge_only"] else matrix.take(lambda told: self._told_run(told, options))
        except KeyboardInterrupt:
            raise CommandError("interrupted; the same command goes on from here", returncode=DOES_NOT_HOLD) from None
        judged = matrix.judge()
        self.show(options, table.as_json(judged), table.lines(judged))
        if options["write_docs"]:
            matrix.write_docs()
        if not_had:
            raise CommandError(f"{len(not_had)} runs could not be had: {not_had[0].why}; run it again", returncode=1)
        if not judged.holds:
            raise CommandError("the matrix does not hold; see what is marked above", returncode=DOES_NOT_HOLD)

    def _told_run(self, told: Told, options: Mapping[str, Any]) -> None:
        if not options["json"]:
            causes = ", ".join(fault.cause for fault in told.spec.faults) or "healthy"
            self.stdout.write(f"{told.done}/{told.total} {causes} {told.spec.key}{_after(told.why)}")
            self.stdout.flush()

    def do_sweep(self, options: Mapping[str, Any]) -> None:
        from gpu_worker.lab.sweep import sweep

        found = [vars(orphan) for orphan in sweep()]
        lines = [f"ended {one['pid']} of run {one['launcher']}: {one['what']}" for one in found]
        self.show(options, found, lines or ["nothing was left behind"])

    def _tell(self, progress: Mapping[str, Any]) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"{progress['phase']} {progress['done']}/{progress['total']}")


def _add_run(parser: CommandParser) -> None:
    parser.add_argument("probe", metavar="PROBE", help="an id of `lab probes`")
    parser.add_argument("--fault", action="append", default=[], dest="faults", metavar="CAUSE[:k=v,…]")
    parser.add_argument("--place", action="append", default=[], dest="places", help="rank:2, host:1, link:leaf0-spine1")
    parser.add_argument("--topology", help="leaf-spine, two-tier or flat")
    parser.add_argument("--ranks", type=int, help="4 without it")
    parser.add_argument("--size", help="of the message: 14MB, or small or job")
    parser.add_argument("--rate", help="of the fabric's links: 400Mbit")
    parser.add_argument("--placement", help="as-job or packed")
    parser.add_argument("--scope", help="for link-rates: suspects or all")
    parser.add_argument(
        "--job",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="a field of the job: warmup_steps=1, measured_steps=3, parallel.form=fsdp2",
    )
    parser.add_argument(
        "--with",
        action="append",
        default=[],
        dest="parameters",
        metavar="NAME=VALUE",
        help="any parameter that `lab probes --json` lists for the probe; may be repeated",
    )
    parser.add_argument("--repeats", type=int, default=5, help="kept iterations of the microbenchmark")
    parser.add_argument("--json", action="store_true")


def _add_matrix(parser: CommandParser) -> None:
    parser.add_argument("--runs", type=int, default=5, help="launches of every run")
    parser.add_argument("--fault", action="append", default=[], dest="faults", metavar="ID", help="only these faults")
    parser.add_argument("--only", choices=("shows", "spares"), help="steps that show a fault, or those that must not")
    parser.add_argument("--judge-only", action="store_true", help="judges what is stored and runs nothing")
    parser.add_argument("--write-docs", action="store_true", help="writes docs/lab/matrix.md and the readings of it")
    parser.add_argument("--json", action="store_true")


def _report(probe: Probe, spec: ExperimentSpec, run: WholeRun, result: ProbeResult, finding: str) -> dict[str, Any]:
    provenance = {**run.provenance, "experiment": spec.key, "topology": spec.setting.topology.kind, "live": True}
    return {
        "probe": probe.id,
        "fault": [fault.model_dump() for fault in spec.faults] or None,
        "fired": run.fired,
        "provenance": provenance,
        "readings": {name: {"value": r.value, "unit": r.unit} for name, r in result.readings.items()},
        "series": {name: _series(series) for name, series in result.series.items()},
        "finding": finding,
    }


def _series(series: Series) -> dict[str, Any]:
    return {
        "columns": list(series.columns),
        "units": list(series.units),
        "rows": [list(row) for row in series.rows],
        "caption": series.caption,
    }


def _probe(probe: Probe) -> dict[str, Any]:
    return {
        "id": probe.id,
        "title": probe.title,
        "question": probe.question,
        "price_min": probe.price_min,
        "stops_job": probe.stops_job,
        "parameters": {name: list(choices) for name, choices in probe.parameters.items()},
        "findings": dict(probe.findings),
    }


def _bounds(params: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(f"{n} {p['minimum']:g} to {p['maximum']:g} {p['unit']}".strip() for n, p in params.items())


def _after(text: str) -> str:
    return f"  ({text})" if text else ""
