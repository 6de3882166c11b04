"""YAML with the line of everything in it, for errors that name file, line and repair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from scenarios.errors import ScenarioError, ScenarioErrors, did_you_mean

LARGEST_FILE_BYTES = 1_000_000

Model = TypeVar("Model", bound=BaseModel)
Loc = Sequence[str | int]


def read(path: Path) -> CommentedMap:
    """The file's mapping, with line numbers. Raises ScenarioError for what is no YAML mapping."""
    if path.stat().st_size > LARGEST_FILE_BYTES:
        raise ScenarioError(path, None, f"the file is larger than {LARGEST_FILE_BYTES} bytes")
    try:
        tree = YAML(typ="rt", pure=True).load(path.read_text(encoding="utf-8"))
    except MarkedYAMLError as broken:
        mark = broken.problem_mark or broken.context_mark
        raise ScenarioError(path, mark.line + 1 if mark else None, f"no valid YAML: {broken.problem}") from None
    except (YAMLError, UnicodeDecodeError) as broken:
        raise ScenarioError(path, None, f"no valid YAML: {broken}") from None
    if not isinstance(tree, CommentedMap):
        raise ScenarioError(path, 1, "a scenario is a mapping of fields to values; start with `key:`")
    return tree


def plain(node: Any) -> Any:
    """The same value in plain dicts and lists."""
    if isinstance(node, dict):
        return {str(key): plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [plain(value) for value in node]
    return str(node) if isinstance(node, str) else node


def line_of(tree: Any, loc: Loc) -> int:
    """The line (from 1) of the deepest part of `loc` that the tree holds."""
    node, line = tree, 1
    for part in loc:
        if isinstance(node, CommentedMap) and part in node:
            line = node.lc.key(part)[0] + 1
        elif isinstance(node, CommentedSeq) and isinstance(part, int) and part < len(node):
            line = node.lc.item(part)[0] + 1
        else:
            break
        node = node[part]
    return line


def value_at(tree: Any, loc: Loc) -> Any:
    """What lies at `loc`, or as near to it as the tree goes."""
    for part in loc:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            break
    return tree


def validate(path: Path, tree: CommentedMap, model: type[Model]) -> Model:
    """The model of the tree. Raises ScenarioErrors with one error a fault, each with its line."""
    try:
        return model.model_validate(plain(tree))
    except ValidationError as invalid:
        raise ScenarioErrors([located(path, tree, model, fault) for fault in invalid.errors()]) from None


def located(path: Path, tree: Any, model: type[BaseModel], fault: Any) -> ScenarioError:
    loc = [part for part in fault["loc"] if part != "__root__"]
    line = line_of(tree, loc)
    where = ".".join(str(part) for part in loc) or "the scenario"
    if fault["type"] == "extra_forbidden":
        siblings = fields_at(model, loc[:-1])
        return ScenarioError(path, line, f'field "{loc[-1]}" is unknown{did_you_mean(str(loc[-1]), siblings)}')
    if fault["type"] == "missing":
        inside = ".".join(map(str, loc[:-1])) or "the file"
        return ScenarioError(path, line, f'field "{loc[-1]}" is missing in {inside}')
    if fault["type"] == "literal_error":
        return ScenarioError(path, line, f"{where} is {fault['input']!r}; it must be {fault['ctx']['expected']}")
    if fault["type"] == "string_type":
        said = f"{where} is {fault['input']!r}; it must be text, with its unit if it is a quantity"
        return ScenarioError(path, line, said)
    return ScenarioError(path, line, f"{where}: {fault['msg'].removeprefix('Value error, ')}")


def fields_at(model: type[BaseModel], loc: Loc) -> list[str]:
    """Names of the fields that may stand at `loc`; of the whole file where that is not a model of ours."""
    current: Any = model
    for part in loc:
        if isinstance(part, int) or not (isinstance(current, type) and issubclass(current, BaseModel)):
            continue
        field = current.model_fields.get(part)
        current = innermost_model(field.annotation) if field else None
    if not (isinstance(current, type) and issubclass(current, BaseModel)):
        return []
    return [field.alias or name for name, field in current.model_fields.items()]


def innermost_model(annotation: Any) -> Any:
    """`tuple[Fix, ...]` -> Fix; `dict[str, Draw]` -> Draw."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if (found := innermost_model(argument)) is not None:
            return found
    return None
