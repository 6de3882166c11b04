"""The contract of the grader's room: NumPy, SciPy, pint, pydantic, and what of Python neither acts nor asks."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import grader

FOLDER = Path(grader.__file__).parent
LIBRARIES = {"numpy", "scipy", "pint", "pydantic", "pydantic_core"}
# Modules of the standard library that read, write, wait, draw or tell the time.
ACTING = {"asyncio", "datetime", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib", "random"} | {
    "secrets", "shutil", "socket", "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
CALLS = {"open", "print", "input", "eval", "exec"}
FILES = sorted(FOLDER.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """The top packages that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_a_module_imports_only_what_the_room_may(file):
    allowed = LIBRARIES | {"grader", "__future__"} | (set(sys.stdlib_module_names) - ACTING)
    assert sorted(set(imported(ast.parse(file.read_text()))) - allowed) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_a_module_reads_and_writes_nothing(file):
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert sorted(calls & CALLS) == []


def test_the_contract_would_see_what_it_forbids():
    seen = set(imported(ast.parse("import os.path\ndef f():\n    from django.db import models\n    import torch")))
    assert seen == {"os", "django", "torch"}
    assert "os" in ACTING and not {"django", "torch"} & LIBRARIES


def test_every_file_of_the_room_is_looked_at():
    assert {"grade.py", "history.py", "overrides.py", "rule_outs.py"} <= {file.name for file in FILES}
