"""The matrix as JSON, as lines for a terminal, and as the page that the documentation keeps. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_worker.matrix.judge import (
    FALSE_FINDINGS_LIMIT,
    INCONCLUSIVE_LIMIT,
    Cell,
    FaultVerdict,
    Matrix,
    Pool,
    Side,
)
from gpu_worker.readable import three

HEAD = """\
# Lab matrix

Made by `python manage.py lab matrix --runs {runs} --write-docs`; do not edit. Taken on
{machines}.

A run *separates* when its finding is neither the healthy one nor inconclusive; a step is *spared* when the fault leaves
it at its healthy finding, or at most inconclusive. Readings are medians over the launches; the effect is the faulted
reading over the healthy one. Every launch takes other ports.
"""


def as_json(matrix: Matrix) -> dict[str, Any]:
    return {
        "faults": [_fault_json(fault) for fault in matrix.faults],
        "healthy": _pool_json(matrix.healthy),
        "not_declared": [fault.id for fault in matrix.faults if not fault.declared],
        "holds": matrix.holds,
    }


def lines(matrix: Matrix) -> list[str]:
    """One line a fault and an indented one for each of its steps; last the healthy runs."""
    return [line for fault in matrix.faults for line in _fault_lines(fault)] + [healthy_line(matrix.healthy)]


def page(matrix: Matrix, runs: int, machines: Mapping[str, int]) -> str:
    """The Markdown page. `machines`: how many runs each took."""
    taken = ";\n".join(f"{machine} ({count} runs)" for machine, count in sorted(machines.items()))
    parts = [HEAD.format(runs=runs, machines=taken or "no machine yet")]
    parts += ["## Shown", _markdown([cell for fault in matrix.faults for cell in fault.shows], "separates")]
    parts += ["## Spared", _markdown([cell for fault in matrix.faults for cell in fault.spares], "spared")]
    parts += ["## Each fault, on at least one step", "\n".join(f"- {fault_line(fault)}" for fault in matrix.faults)]
    parts += ["## Healthy runs", healthy_line(matrix.healthy) + "\n" + _pool_details(matrix.healthy)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def fault_line(fault: FaultVerdict) -> str:
    if not fault.declared:
        return f"`{fault.id}`: not declared (no `shows`)"
    if not fault.runs:
        return f"`{fault.id}`: not run"
    spared = [cell.pair.variant for cell in fault.spares if not cell.holds]
    more = f"; does not spare {', '.join(spared)}" if spared else ""
    verdict = "holds" if fault.holds else "DOES NOT HOLD"
    return f"`{fault.id}`: {verdict}, separates in {fault.separated} of {fault.runs}{more}"


def healthy_line(pool: Pool) -> str:
    return (
        f"{pool.readings} readings of healthy runs: {100 * pool.false_share:.2f} % false findings "
        f"(limit {100 * FALSE_FINDINGS_LIMIT:g} %), {100 * pool.inconclusive_share:.2f} % inconclusive "
        f"(limit {100 * INCONCLUSIVE_LIMIT:g} %)"
    )


def _fault_lines(fault: FaultVerdict) -> list[str]:
    return [fault_line(fault).replace("`", ""), *(f"    {_cell_line(c)}" for c in (*fault.shows, *fault.spares))]


def _cell_line(cell: Cell) -> str:
    role = "separates" if cell.pair.role == "shows" else "spared"
    failed = f"; {len(cell.faulted.failures)} gave nothing: {cell.faulted.failures[0]}" if cell.faulted.failures else ""
    return (
        f"{cell.pair.variant:46} {cell.reading} {_value(cell.healthy, cell)} -> {_value(cell.faulted, cell)}"
        f" {_effect(cell)}  {cell.healthy.finding or '–'} -> {cell.faulted.finding or '–'}"
        f"  {role} {cell.held}/{cell.runs}{failed}"
    )


def _markdown(cells: list[Cell], word: str) -> str:
    rows = [
        f"| fault | step | reading | healthy | faulted | effect | healthy finding | faulted finding | {word} |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for cell in cells:
        values = (
            f"`{cell.pair.fault}`",
            f"`{cell.pair.variant}`",
            cell.reading,
            _value(cell.healthy, cell),
            _value(cell.faulted, cell),
            _effect(cell),
            cell.healthy.finding or "–",
            cell.faulted.finding or "–",
            f"{cell.held}/{cell.runs}",
        )
        rows.append(f"| {' | '.join(values)} |")
    return "\n".join(rows)


def _value(side: Side, cell: Cell) -> str:
    middle = side.middle(cell.reading)
    return "–" if middle is None else three(middle)


def _effect(cell: Cell) -> str:
    return "–" if cell.effect is None else f"×{three(cell.effect)}"


def _pool_details(pool: Pool) -> str:
    said = []
    for word, counts in (("false", pool.false), ("inconclusive", pool.inconclusive), ("unreadable", pool.unreadable)):
        said += [f"- `{variant}`: {count} {word}" for variant, count in sorted(counts.items())]
    return "\n" + "\n".join(said) if said else ""


def _fault_json(fault: FaultVerdict) -> dict[str, Any]:
    return {
        "id": fault.id,
        "declared": fault.declared,
        "holds": fault.holds,
        "runs": fault.runs,
        "separated": fault.separated,
        "shows": [_cell_json(cell) for cell in fault.shows],
        "spares": [_cell_json(cell) for cell in fault.spares],
    }


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {
        "step": cell.pair.variant,
        "reading": cell.reading,
        "healthy": {"value": cell.healthy.middle(cell.reading), "finding": cell.healthy.finding},
        "faulted": {"value": cell.faulted.middle(cell.reading), "finding": cell.faulted.finding},
        "effect": cell.effect,
        "runs": cell.runs,
        "held": cell.held,
        "holds": cell.holds,
        "failures": list(cell.faulted.failures),
    }


def _pool_json(pool: Pool) -> dict[str, Any]:
    return {
        "readings": pool.readings,
        "false_share": pool.false_share,
        "inconclusive_share": pool.inconclusive_share,
        "false": dict(pool.false),
        "inconclusive": dict(pool.inconclusive),
        "unreadable": dict(pool.unreadable),
        "holds": pool.holds,
    }
