"""YAML with the line of everything in it, for errors that name file, line and repair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, RootModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.scalarbool import ScalarBoolean

from scenarios.errors import ScenarioError, ScenarioErrors, did_you_mean

# The largest of the library has 22 kB. Reading one of this size takes seconds, which is all that a broken one may cost.
LARGEST_FILE_BYTES = 200_000
# Aliases are references until they are copied out: a few lines can stand for billions of values.
MOST_VALUES, DEEPEST = 20_000, 30
# The parser would take seconds to find out.
TOO_DEEP = re.compile(rf"(?:[\[{{]\s*){{{DEEPEST + 1}}}")

Model = TypeVar("Model", bound=BaseModel)
Loc = Sequence[str | int]


def read(path: Path) -> CommentedMap:
    """The file's mapping, with line numbers. Raises ScenarioError for what is no YAML mapping."""
    text = read_text(path)
    if nest := TOO_DEEP.search(text):
        line = text.count("\n", 0, nest.start()) + 1
        raise ScenarioError(path, line, f"values are nested deeper than {DEEPEST}; flatten them")
    try:
        refuse_recursion(path, text)
        tree = YAML(typ="rt", pure=True).load(text)
    except RecursionError:
        raise ScenarioError(path, None, f"values are nested deeper than {DEEPEST}; flatten them") from None
    except DuplicateKeyError as twice:
        raise ScenarioError(path, mark_line(twice), key_twice(twice)) from None
    except MarkedYAMLError as broken:
        raise ScenarioError(path, mark_line(broken), f"no valid YAML: {broken.problem}{repair(broken)}") from None
    except ReaderError as broken:
        line = text.count("\n", 0, broken.position) + 1
        raise ScenarioError(path, line, f"character {broken.character!r} may not stand in YAML; delete it") from None
    except (YAMLError, ValueError) as broken:
        raise ScenarioError(path, None, f"no valid YAML: {broken}") from None
    if not isinstance(tree, CommentedMap):
        raise ScenarioError(path, 1, "a scenario is a mapping of fields to values; start with `key:`")
    refuse_unsafe(path, tree)
    return tree


def read_text(path: Path) -> str:
    """The file's text. Raises ScenarioError for one that is too large, cannot be opened, or is not UTF-8."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE_BYTES:
            said = f"the file has {size} bytes and may have {LARGEST_FILE_BYTES}; shorten its texts"
            raise ScenarioError(path, None, said)
        raw = path.read_bytes()
    except OSError as unreadable:
        raise ScenarioError(path, None, f"the file cannot be read: {unreadable.strerror}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as foreign:
        line = raw.count(b"\n", 0, foreign.start) + 1
        said = f"byte 0x{raw[foreign.start]:02x} is not UTF-8; save the file in that encoding"
        raise ScenarioError(path, line, said) from None


def mark_line(broken: MarkedYAMLError) -> int | None:
    mark = broken.problem_mark or broken.context_mark
    return mark.line + 1 if mark else None


def key_twice(twice: DuplicateKeyError) -> str:
    """ruamel's own words hold both values, whatever their length."""
    found = re.search(r'duplicate key "([^"]*)"', str(twice.problem))
    return f'key "{found[1] if found else "?"}" stands twice in one mapping; leave one out'


def repair(broken: MarkedYAMLError) -> str:
    """What to do about YAML's commonest slips; empty where nothing better can be said."""
    problem = str(broken.problem)
    if "\\t" in problem:
        return "; indent with spaces, not tabs"
    if "mapping values are not allowed" in problem:
        return "; put a text with a colon in quotes, or indent as the line above"
    if "undefined alias" in problem:
        return "; write its anchor (&name) above it"
    if "expected <block end>" in problem:
        return "; indent it as its neighbours"
    if "single document" in str(broken.context):
        return "; leave out the second `---`"
    return ""


def refuse_recursion(path: Path, text: str) -> None:
    """Raises ScenarioError for an alias inside its own anchor, which the loader would quietly make nothing of."""
    if "&" not in text or "*" not in text:
        return
    open_anchors: list[str | None] = []
    for event in YAML(typ="rt", pure=True).parse(text):
        if isinstance(event, CollectionStartEvent):
            open_anchors.append(event.anchor)
        elif isinstance(event, CollectionEndEvent):
            open_anchors.pop()
        elif isinstance(event, AliasEvent) and event.anchor in open_anchors:
            line = event.start_mark.line + 1
            raise ScenarioError(path, line, f"alias *{event.anchor} stands inside its own anchor; write the value out")


def refuse_unsafe(path: Path, tree: CommentedMap) -> None:
    """Raises ScenarioError for tags, and for more or deeper values than a scenario may have."""
    left = MOST_VALUES

    def walk(node: Any, line: int, depth: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            said = f"the file stands for more than {MOST_VALUES} values once its aliases are written out; use fewer"
            raise ScenarioError(path, line, said)
        if depth >= DEEPEST:
            raise ScenarioError(path, line, f"values are nested deeper than {DEEPEST}; flatten them")
        tag = getattr(getattr(node, "tag", None), "value", None)
        if tag is not None:
            raise ScenarioError(path, line, f"tag {tag} is not allowed; write a plain value")
        if isinstance(node, CommentedMap):
            for key, value in node.items():
                walk(value, line_under(node, key, line), depth + 1)
        elif isinstance(node, CommentedSeq):
            for at, value in enumerate(node):
                walk(value, line_under(node, at, line), depth + 1)

    walk(tree, 1, 0)


def line_under(node: CommentedMap | CommentedSeq, part: Any, above: int) -> int:
    """The line (from 1) of one entry; that of what holds it where it has none of its own, as a merged key."""
    try:
        place = node.lc.key(part) if isinstance(node, CommentedMap) else node.lc.item(part)
    except (KeyError, IndexError, TypeError, AttributeError):
        return above
    return int(place[0]) + 1 if place else above


def plain(node: Any) -> Any:
    """The same value in plain dicts and lists."""
    if isinstance(node, dict):
        return {str(key): plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [plain(value) for value in node]
    if isinstance(node, bool | ScalarBoolean):
        return bool(node)
    return str(node) if isinstance(node, str) else node


def line_of(tree: Any, loc: Loc) -> int:
    """The line (from 1) of the deepest part of `loc` that the tree holds."""
    node, line = tree, 1
    for part in loc:
        if not holds(node, part):
            break
        line = line_under(node, part, line)
        node = node[part]
    return line


def holds(node: Any, part: str | int) -> bool:
    if isinstance(node, CommentedSeq):
        return isinstance(part, int) and part < len(node)
    return isinstance(node, CommentedMap) and part in node


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
        return ScenarioError(path, line, f"{where} is {short(fault['input'])}; it must be {fault['ctx']['expected']}")
    if fault["type"] == "string_type":
        said = f"{where} is {short(fault['input'])}; it must be text, with its unit if it is a quantity"
        return ScenarioError(path, line, said)
    if fault["type"] == "string_pattern_mismatch":
        return ScenarioError(
            path, line, f"{where} is {short(fault['input'])}; {pattern_words(fault['ctx']['pattern'])}"
        )
    if fault["msg"].startswith("Input should"):
        said = f"{where} is {short(fault['input'])}; it{fault['msg'].removeprefix('Input')}"
        return ScenarioError(path, line, said)
    return ScenarioError(path, line, f"{where}: {fault['msg'].removeprefix('Value error, ')}")


def short(value: Any) -> str:
    """The value as a message holds it: never more than a line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def pattern_words(pattern: str) -> str:
    if pattern.startswith("^http"):
        return "it should be an address that begins with https://"
    if pattern.startswith("^[a-z]"):
        return "it should be lower-case words joined by hyphens, like slow-all-reduce"
    return f"it should match {pattern}"


def fields_at(model: type[BaseModel], loc: Loc) -> list[str]:
    """Names of the fields that may stand at `loc`; of the whole file where that is not a model of ours."""
    current: Any = model
    for part in loc:
        if isinstance(part, int) or not (isinstance(current, type) and issubclass(current, BaseModel)):
            continue
        if issubclass(current, RootModel):  # a mapping: any key may stand there
            current = innermost_model(current.model_fields["root"].annotation)
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
