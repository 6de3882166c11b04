"""A proof as lines for a terminal, and all of them as the page that the documentation keeps. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenarios.proof.base import Line, Proof

HEAD = """\
# Proofs

Made by `python manage.py scenario prove --write-docs`; do not edit. Each shipped incident, proved from its stored
calibration: what must hold of it, the figure that this rests on, and the verdict. `no question` means that the incident
does not raise it. [Decision 40](decisions/0040-proofs.md) says why these and how each is judged.

Incidents about stragglers and the fabric are held to a sequence: a straggler is told from the network, then fabric from
job. One about saving and resuming has neither in it. In the place of three claims stand those of its own track
([decision 48](decisions/0048-checkpoints-proved.md)):
- for *the first step tells a straggler from the network*: the first step reads what was saved or what came back, and
  where that finds nothing wrong, the next one does so too or reads the storage;
- for *where ranks are even, the next step bisects*: whether all is of one generation is settled under every cause; a
  replay repeats the log when healthy, and a cause that changes a restart shows in it or in another reading of it;
- for *causes outside the fabric leave the microbenchmark at its floor*: no reading of performance tells of the cause.
"""
MARKS = {"holds": "ok", "fails": "not ok", "unknown": "unknown", "no question": "-"}


def lines(proof: Proof) -> Iterator[str]:
    """`ok       told-apart: nearest …`, with what is wrong below it."""
    yield f"{proof.key} revision {proof.revision}, table {proof.table} {proof.calibration}"
    for line in proof.lines:
        yield f"{MARKS[line.verdict]:<8} {line.claim}: {line.figure}"
        yield from (f"         {detail}" for detail in line.details)


def page(proofs: Sequence[Proof]) -> str:
    """The Markdown page of docs/proofs.md."""
    return "\n".join([HEAD, *(part for proof in proofs for part in section(proof))])


def section(proof: Proof) -> Iterator[str]:
    yield f"## `{proof.key}`, revision {proof.revision}\n"
    yield f"Table `{proof.table}`, calibration `{proof.calibration}`.\n"
    yield "| what must hold | figure | verdict |\n|---|---|---|"
    yield from (row(line) for line in proof.lines)
    yield ""


def row(line: Line) -> str:
    figure = "<br>".join([line.figure, *line.details])
    return f"| {line.claim} | {figure} | {line.verdict} |"
