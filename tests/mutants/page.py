"""docs/mutants.md, from what is kept."""

from __future__ import annotations

from tests.mutants.kept import Results, Survivor, Tally

HEAD = """# Mutants of the grader

Written by `make mutants`; [why and how](decisions/0044-mutants.md). A mutant is one small change to a function or a
constant of `grader/`: another operator, number or argument, a value lost, a string with other letters. It is *killed*
when a test fails under it. Where it *survived* no quick test saw it: then it cannot change an answer, which is *argued*
in one line, or it is *open*.

Not mutated: type annotations, docstrings, decorators, declarations (quantities, criteria), and what stands in the body
of a class (fields, their defaults and the sentences of a criterion). Mutants of *text* change the letters of a string;
they are counted with the others, and once more by themselves.
"""


def page(results: Results) -> str:
    tallies = {file: results.tally(file) for file in sorted(results.files)}
    whole = sum(tallies.values(), Tally())
    survivors = [one for file in tallies for one in results.survivors(file)]
    left = ", ".join(f"`{file}`" for file in results.untried())
    untried = [f"Not tried yet: {left}.", ""] if left else []
    return "\n".join([HEAD, *_table(tallies, whole), *untried, *_listed(survivors)]).rstrip() + "\n"


def _table(tallies: dict[str, Tally], whole: Tally) -> list[str]:
    plain = whole.mutants - whole.texts
    plain_killed = plain - (whole.survived - whole.texts_survived)
    return [
        f"**{whole.killed:,} of {whole.mutants:,} killed ({whole.killed_share:.1%})**; {whole.survived} survived, of "
        f"which {whole.argued} are argued and {whole.survived - whole.argued} open. Without those of text: "
        f"{plain_killed:,} of {plain:,} ({plain_killed / max(plain, 1):.1%}); of text alone "
        f"{whole.texts - whole.texts_survived} of {whole.texts}.",
        "",
        "| module | mutants | killed | survived | argued | open | of text |",
        "|---|---|---|---|---|---|---|",
        *[
            f"| `{file}` | {one.mutants} | {one.killed_share:.0%} | {one.survived} | {one.argued} "
            f"| {one.survived - one.argued} | {one.texts_survived} of {one.texts} survived |"
            for file, one in tallies.items()
        ],
        "",
    ]


def _listed(survivors: list[Survivor]) -> list[str]:
    lines: list[str] = []
    for title, chosen in (
        ("Argued", [one for one in survivors if one.why]),
        ("Open", [one for one in survivors if not one.why and not one.is_text]),
        ("Open, of text", [one for one in survivors if not one.why and one.is_text]),
    ):
        lines += [f"## {title}", "", *([] if chosen else ["None."])]
        home = ("", "")
        for one in chosen:
            if (one.file, one.function) != home:
                home = (one.file, one.function)
                lines += ["", f"`{one.file}`, `{one.function}`"] if lines[-1] else [f"`{one.file}`, `{one.function}`"]
                lines.append("")
            lines.append(f"- {_code(one.change)}{f': {one.why}' if one.why else ''}")
        lines.append("")
    return lines


def _code(change: str) -> str:
    return "``" + change.replace("``", "` `") + "``"
