"""Authored Markdown into HTML that is safe to place in a page."""

from __future__ import annotations

import functools

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS = {
    "p",
    "strong",
    "em",
    "code",
    "pre",
    "ul",
    "ol",
    "li",
    "a",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "br",
    "h3",
    "h4",
}
_PARSER = MarkdownIt("commonmark").enable("table")


@functools.lru_cache(maxsize=256)
def html(text: str) -> SafeString:
    """Markdown -> cleaned HTML: no scripts, no styles, no raw tags beyond the listed ones."""
    return mark_safe(nh3.clean(_PARSER.render(text), tags=TAGS, attributes={"a": {"href"}}))
