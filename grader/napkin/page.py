"""docs/napkin.md, made from the declarations."""

from __future__ import annotations

from grader.napkin.asking import answer
from grader.quantities import QUANTITIES
from grader.quantities.base import Argument, Quantity

HEAD = """# Napkin math

```
python manage.py napkin                                # every quantity with its arguments
python manage.py napkin ring-all-reduce                # one: formula, source, arguments, an example
python manage.py napkin ring-all-reduce ranks=1024 size=140GB rate=400Gbit/s
python manage.py napkin ring-all-reduce ranks=1024 size=140GB rate=400Gbit/s --json
```

Sizes are decimal unless written KiB, MiB, GiB. A rate is in bits a second when written in bits (`400Gbit/s`, `400Gb/s`,
`400Mbit`), in bytes when written in bytes (`50GB/s`). Times: `20us`, `40s`, `7.9h`, `54d`. Numbers: `1024`, `70B` or
`70billion` parameters, `1e12`. Shares: `93%` or `0.93`. Computing: `312TFLOP/s`. A list is separated by commas without
spaces. Arguments in brackets may be left out. With `--json`: `{"quantity", "results": {name: {"value", "unit"}},
"formula", "source"}`, values in s, B, bit/s, FLOP, d (days), ratio, count, text, bool or lists of ranks. Exit codes: 0
fine, 2 a question that cannot be answered, with one line that names the argument and the repair.

A quantity is declared once, in `grader/quantities/`; the function is in the file of the same name in `grader/physics/`.
This page is made by `python manage.py napkin --write-docs`.
"""


def page() -> str:
    """The whole page, as Markdown."""
    index = ["```", *listed(), "```", ""]
    return "\n".join([HEAD, *index, *(section(quantity) for quantity in QUANTITIES.values())])


def listed() -> list[str]:
    """Every quantity with its arguments, one a line."""
    return [f"{one.id}  {one.usage}" for one in QUANTITIES.values()]


def section(quantity: Quantity) -> str:
    """One quantity: formula, source, arguments, and its example with what it gives."""
    command = f"python manage.py napkin {quantity.id} {quantity.example}"
    example = [command, *answer(quantity, quantity.example.split()).lines()]
    note = [quantity.note, ""] if quantity.note else []
    return "\n".join(
        [
            f"## `{quantity.id}`",
            f"{quantity.title}.",
            "",
            f"**Formula** {quantity.formula}",
            "",
            f"**Source** {quantity.source}",
            "",
            *(_row(quantity, argument) for argument in quantity.arguments),
            "",
            *note,
            "```",
            *example,
            "```",
            "",
        ]
    )


def described(quantity: Quantity) -> list[str]:
    """The same in lines for a terminal."""
    wide = max(len(argument.name) for argument in quantity.arguments)
    wider = max(len(argument.kind) for argument in quantity.arguments)
    rows = [f"  {a.name:{wide}}  {a.kind:{wider}}  {_about(quantity, a)}" for a in quantity.arguments]
    return [
        f"{quantity.id}: {quantity.title}",
        f"formula  {quantity.formula}",
        f"source   {quantity.source}",
        *([f"note     {quantity.note}"] if quantity.note else []),
        "arguments",
        *rows,
        f"example  napkin {quantity.id} {quantity.example}",
        *(f"  {line}" for line in answer(quantity, quantity.example.split()).lines()),
    ]


def as_json(quantity: Quantity) -> dict[str, object]:
    """A declaration for programs: arguments with kind, choices and default, results with units."""
    return {
        "id": quantity.id,
        "title": quantity.title,
        "formula": quantity.formula,
        "source": quantity.source,
        "note": quantity.note,
        "arguments": [
            {
                "name": a.name,
                "kind": a.kind,
                "required": quantity.is_required(a),
                "default": None if quantity.is_required(a) else quantity.default_of(a),
                "choices": list(a.choices),
                "about": a.about,
            }
            for a in quantity.arguments
        ],
        "results": [{"name": r.name, "unit": r.unit, "about": r.about} for r in quantity.results],
        "example": quantity.example,
    }


def _row(quantity: Quantity, argument: Argument) -> str:
    return f"- `{argument.name}`, {argument.kind}: {_about(quantity, argument)}"


def _about(quantity: Quantity, argument: Argument) -> str:
    """What it means, what may be chosen, and what it is if left out."""
    choices = f" ({', '.join(argument.choices)})" if argument.choices else ""
    default = quantity.default_text(argument)
    return f"{argument.about}{choices}{f' [{default}]' if default else ''}"
