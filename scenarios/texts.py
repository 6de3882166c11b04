"""Authored texts: Markdown, and nothing that a page would have to clean away or fill in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import BaseModel

TEMPLATE = re.compile(r"\{\{|\{%|\{#")
# Without this reading it as Markdown, which takes a millisecond a text, can find nothing.
SUSPECT = re.compile(r"<[a-zA-Z!/?]|\]\s*[(:\[]")
_PARSER = MarkdownIt("commonmark").enable("table")

Where = tuple[str | int, ...]


def faults(part: BaseModel) -> Iterator[tuple[Where, str]]:
    """What is wrong with any text of a scenario, as (where, what and how to repair it)."""
    for where, text in texts_of(part):
        if TEMPLATE.search(text):
            yield where, "the text holds a template; numbers of the brief stand in single braces, like {mfu_now}"
        for token in _tokens(text) if SUSPECT.search(text) else ():
            if token.type in ("html_block", "html_inline"):
                said = (
                    f"the text holds HTML ({token.content.strip()[:40]}); write Markdown, or `code` for what is literal"
                )
                yield where, said
            elif token.type in ("image", "link_open") and not is_web(token):
                yield where, f"the text links to {address(token)}; link to https:// addresses only, and to no images"


def texts_of(value: Any, where: Where = ()) -> Iterator[tuple[Where, str]]:
    """Every text inside, with its path in the file."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from texts_of(getattr(value, name), (*where, name))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts_of(inner, (*where, key))
    elif isinstance(value, tuple | list):
        for at, inner in enumerate(value):
            yield from texts_of(inner, (*where, at))


def _tokens(text: str) -> Iterator[Token]:
    for token in _PARSER.parse(text):
        yield token
        yield from token.children or ()


def address(token: Token) -> str:
    return str(token.attrGet("href") or token.attrGet("src") or "nothing")


def is_web(token: Token) -> bool:
    return token.type == "link_open" and address(token).startswith(("https://", "http://"))
