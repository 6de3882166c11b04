"""Finding a cause by typing, with no list at hand: by beginnings of words, other names among them. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from scenarios.causes import CAUSES, Cause

WORD = re.compile(r"[a-z0-9]+")
LONGEST_QUERY = 100
# What a word of the query may hit, and what that is worth: the name, another name, the description.
IN_NAME, IN_ALSO, IN_TEXT = 4, 3, 1
SMALL_WORDS = frozenset({"a", "an", "and", "in", "is", "of", "on", "one", "or", "the", "to"})


def find(typed: str, causes: Iterable[Cause] = (), *, limit: int = 8) -> list[Cause]:
    """The causes that match every word typed, the best first; all of the list's where no others are given.

    A word matches where some word of the cause begins with it. Nothing typed finds nothing.
    """
    wanted = words(typed[:LONGEST_QUERY])
    telling = [word for word in wanted if word not in SMALL_WORDS] or wanted
    if not telling:
        return []
    scored = [(worth(cause, telling, " ".join(wanted)), cause) for cause in causes or CAUSES.values()]
    found = sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1].title))
    return [cause for _, cause in found[:limit]]


def worth(cause: Cause, wanted: list[str], phrase: str) -> float:
    """0 where some word is not found; more for names than for descriptions, most for what begins as it was typed."""
    name, also, text = vocabulary(cause)
    each = [
        IN_NAME * any(word.startswith(part) for word in name)
        or IN_ALSO * any(word.startswith(part) for word in also)
        or IN_TEXT * any(word.startswith(part) for word in text)
        for part in wanted
    ]
    if not all(each):
        return 0.0
    return sum(each) / len(each) + any(begins(known, phrase) for known in (cause.id, cause.title, *cause.also))


def begins(known: str, phrase: str) -> bool:
    return " ".join(words(known)).startswith(phrase)


@functools.lru_cache(maxsize=1024)
def vocabulary(cause: Cause) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The words of its name, of its other names, and of what is said of it."""
    name = words(f"{cause.id} {cause.title}")
    return frozenset(name), frozenset(words(" ".join(cause.also))), frozenset(words(cause.description))


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())
