"""What a refused form held, so that the page can give it back with its errors beside the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from practice.orders import Post


class Nothing:
    """A form that was not sent."""

    def get(self, name: str, default: str, /) -> Any:
        return default

    def getlist(self, name: str, /) -> Sequence[Any]:
        return []


@dataclass(frozen=True)
class Typed:
    """`kind` of order, what was sent, and the sentences by field ("" for the whole form)."""

    kind: str = ""
    post: Post = field(default_factory=Nothing)
    slips: Mapping[str, str] = field(default_factory=dict)

    def of(self, kind: str) -> Typed:
        """This, if it is about that kind of order; else an empty one."""
        return self if self.kind == kind else Typed()

    def error(self, name: str = "") -> str:
        return self.slips.get(name, "")

    def value(self, name: str, longest: int = 4000) -> str:
        """What was typed in a field: kept whole unless it is absurdly long."""
        return str(self.post.get(name, "") or "")[:longest]
