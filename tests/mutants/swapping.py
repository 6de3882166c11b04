"""Puts a mutant into the running interpreter, where everything is imported already.

A function keeps its identity, whoever refers to it, and gets other code; so decorated ones and methods of dataclasses
are reached like any other.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from grader import index
from tests.mutants.making import Mutant, Unit

CO_NEWLOCALS = 0x2  # set for a function, not for the body of a class
# What remembers what the grader made. The calibration of the simulated incident is not forgotten: it takes seconds, and
# the tests of calibration make tables of their own.
REMEMBERING = ("grader.", "tests.grader.", "scenarios.rubrics", "scenarios.knowledge")
NOT_FORGOTTEN = {("tests.grader.simulated", "built"), ("tests.grader.simulated", "knowledge_of")}


class CannotSwap(Exception):
    """The mutant cannot be put in: neither killed nor survived."""


class Live:
    """The functions of `grader/` and the memories of the grader and its tests, as they are once all is imported."""

    def __init__(self, folder: Path) -> None:
        self.functions: dict[tuple[str, str], list[FunctionType]] = defaultdict(list)
        self.memories: list[functools._lru_cache_wrapper[Any]] = []
        for one in gc.get_objects():
            if type(one) is FunctionType and one.__code__.co_filename.startswith(str(folder)):
                self.functions[one.__code__.co_filename, one.__code__.co_qualname].append(one)
            elif type(one) is functools._lru_cache_wrapper and _is_forgotten(str(one.__module__), one.__name__):
                self.memories.append(one)

    def forget(self) -> None:
        for one in self.memories:
            one.cache_clear()
        index._cache.clear()

    def put_in(self, file: Path, module: str, unit: Unit, mutant: Mutant) -> None:
        """The mutant in place of the unit. What running its module raises passes through."""
        code = compile(mutant.source, str(file), "exec", dont_inherit=True)
        if unit.is_constant:
            _set_constants(code, module)
            return
        wanted = self.functions[str(file), unit.name]
        made = [one for one in _codes(code) if one.co_qualname == unit.name]
        if not wanted or len(made) != 1:
            raise CannotSwap(f"{len(wanted)} functions and {len(made)} codes are named {unit.name}")
        for one in wanted:
            one.__code__ = made[0]
        if any(one.__defaults__ or one.__kwdefaults__ for one in wanted):
            _set_defaults(code, module, unit.name, wanted)


def _is_forgotten(module: str, name: str) -> bool:
    return module.startswith(REMEMBERING) and (module, name) not in NOT_FORGOTTEN


def _set_defaults(code: CodeType, module: str, name: str, live: list[FunctionType]) -> None:
    """Defaults of arguments are made as the function is, so its module is run for them."""
    made: Any = _run(code, module)[name.split(".")[0]]
    for part in name.split(".")[1:]:
        made = vars(made)[part]
    made = getattr(made, "__wrapped__", made)
    if isinstance(made, FunctionType):
        for one in live:
            one.__defaults__, one.__kwdefaults__ = made.__defaults__, made.__kwdefaults__


def _set_constants(code: CodeType, module: str) -> None:
    """The new value, with those that the module reckons from it; also where the old one was imported by name."""
    live, made = vars(sys.modules[module]), _run(code, module)
    changed = {name for name in live if name.isupper() and _is_plain(live[name]) and live[name] != made[name]}
    for holder in [*sys.modules.values()]:
        if not holder.__name__.startswith(("grader", "tests.grader")):
            continue
        names = vars(holder)
        for name in changed & set(names):
            if names[name] is live[name] and holder is not sys.modules[module]:
                names[name] = made[name]
    live |= {name: made[name] for name in changed}


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(one) for pair in value.items() for one in pair)
    if isinstance(value, tuple | list | set | frozenset):
        return all(map(_is_plain, value))
    return isinstance(value, str | int | float | None)


def _run(code: CodeType, module: str) -> dict[str, Any]:
    """The names of a module as the code makes them, beside the ones in use."""
    scratch: dict[str, Any] = {"__name__": module, "__file__": code.co_filename}
    if path := getattr(sys.modules[module], "__path__", None):
        scratch["__path__"] = path
    exec(code, scratch)
    return scratch


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Of functions and methods. A function inside a function is replaced with the one around it."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            if not one.co_flags & CO_NEWLOCALS:
                yield from _codes(one)
