"""The mutants of one file: every change that mutmut's operators make inside a function or to a module's constant.

mutmut itself leaves out the methods of decorated classes, and nearly all of the grader's are dataclasses; so its
operators are applied here to every function, whatever stands above it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

# What mutmut leaves alone as well: the length of something, or its type, has no near miss.
NEVER = {"len", "isinstance"}
DIGEST_LENGTH = 12


@dataclass(frozen=True)
class Mutant:
    """One change, seen first on `line`. `source` is the whole module with it; `is_text`: it changes a string."""

    number: int
    line: int
    was: str
    now: str
    is_text: bool
    source: str

    @property
    def change(self) -> str:
        return f"{self.was} → {self.now}"


@dataclass(frozen=True)
class Unit:
    """A function by its qualified name, or a constant of the module, with the digest of its source."""

    name: str
    line: int
    last_line: int
    is_constant: bool
    digest: str
    mutants: tuple[Mutant, ...]


def units(file: Path) -> list[Unit]:
    """Every unit of a file that has a mutant, in order."""
    text = file.read_text()
    wrapper = MetadataWrapper(cst.parse_module(text))
    positions = wrapper.resolve(PositionProvider)
    found = []
    for name, node, is_constant in _parts(wrapper.module.body, ""):
        place = positions[node]
        lines = text.splitlines(keepends=True)
        # A function's position begins at its `def`; what is above it, decorators too, stays as it is.
        own = "".join(lines[place.start.line - 1 : place.end.line])
        made = tuple(_mutants(wrapper.module, node, lines, place.start.line, place.end.line))
        if made:
            digest = hashlib.sha256(own.encode()).hexdigest()[:DIGEST_LENGTH]
            found.append(Unit(name, place.start.line, place.end.line, is_constant, digest, made))
    return found


def _parts(body: object, prefix: str) -> Iterator[tuple[str, cst.CSTNode, bool]]:
    """(qualified name, node, is a constant) of functions, methods, and constants of the module."""
    for statement in body:  # type: ignore[attr-defined]
        if isinstance(statement, cst.FunctionDef):
            yield prefix + statement.name.value, statement, False
        elif isinstance(statement, cst.ClassDef):
            yield from _parts(statement.body.body, f"{prefix}{statement.name.value}.")
        elif not prefix and (name := _constant(statement)):
            yield name, statement, True


def _constant(statement: object) -> str:
    """The name, or names, that a statement of the module sets to a value written out.

    What is made by a call (a criterion, a quantity) is a declaration, which others took in while it was imported.
    """
    if not isinstance(statement, cst.SimpleStatementLine):
        return ""
    only = statement.body[0]
    if isinstance(only, cst.Assign):
        target, value = only.targets[0].target, only.value
    elif isinstance(only, cst.AnnAssign) and only.value is not None:
        target, value = only.target, only.value
    else:
        return ""
    targets = [element.value for element in target.elements] if isinstance(target, cst.Tuple) else [target]
    name = ", ".join(one.value for one in targets if isinstance(one, cst.Name))
    of_others = [one for one in m.findall(value, m.Name()) if not _is_written_out(one)]
    return name if name.isupper() and not of_others and not m.findall(value, m.Call()) else ""


def _is_written_out(name: object) -> bool:
    """A constant's own name, or None, True and False: not a class, a function or a variable."""
    return isinstance(name, cst.Name) and (name.value.isupper() or name.value in ("None", "True", "False"))


def _mutants(module: cst.Module, node: cst.CSTNode, lines: list[str], first: int, last: int) -> Iterator[Mutant]:
    before, after = "".join(lines[: first - 1]), "".join(lines[last:])
    bare = node.with_changes(leading_lines=())
    if isinstance(bare, cst.FunctionDef):
        bare = bare.with_changes(lines_after_decorators=(), decorators=())
    indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
    plain = _code(module, bare, indent)
    finder = _Finder()
    bare.visit(finder)
    seen = {plain}
    for old, new in finder.changes:
        code = _code(module, bare.deep_replace(old, new), indent)
        if code in seen:
            continue
        seen.add(code)
        at, was, now = _first_difference(plain, code)
        yield Mutant(len(seen) - 1, first + at, was, now, isinstance(old, cst.BaseString), before + code + after)


def _code(module: cst.Module, node: cst.CSTNode, indent: str) -> str:
    """A statement as it is written at its own depth."""
    block = cst.Module(body=[node], default_indent=module.default_indent).code  # type: ignore[list-item]
    return "".join(indent + line if line.strip() else line for line in block.splitlines(keepends=True))


def _first_difference(plain: str, code: str) -> tuple[int, str, str]:
    """Which line differs first, and that line before and after."""
    both = zip_longest(plain.splitlines(), code.splitlines(), fillvalue="")
    return next((at, was.strip(), now.strip()) for at, (was, now) in enumerate(both) if was != now)


class _Finder(cst.CSTVisitor):
    """Every (node, changed node) below a statement."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[tuple[cst.CSTNode, cst.CSTNode]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.Decorator):
            return False
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in NEVER:
            return False
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                self.changes += [(node, changed) for changed in operator(node)]
        return True
