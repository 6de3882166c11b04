"""What people type into design exercises: groups of ranks, and shapes of tensors. ValueError says what to mend."""

from __future__ import annotations

import re

LONGEST = 2000
MOST_DIMENSIONS = 6
LARGEST_SIDE = 1 << 40
BRACKETED = re.compile(r"[\[({]([^\[\](){}]*)[\])}]")  # one quantifier: what never closes costs one pass
RANK = re.compile(r"^(\d{1,6})(?:[-–](\d{1,6}))?$")
BETWEEN_SIDES = re.compile(r"[\s,;×x*]+")


def groups(text: str, world: int) -> list[list[int]]:
    """`world` ranks divided into groups: a group a line (or in brackets, or between semicolons), ranks by spaces or
    commas, `0-3` for four in a row.

    Raises ValueError for a word that is no rank, a rank that there is not, one in two groups or in none.
    """
    if len(text) > LONGEST:
        raise ValueError(f"That is {len(text):,} characters; {LONGEST:,} are read.")
    if not text.strip():
        raise ValueError("No group is drawn yet.")
    found = [_ranks(part, world) for part in _parts(text)]
    _each_once(found, world)
    return [group for group in found if group]


def _parts(text: str) -> list[str]:
    inner = BRACKETED.findall(text)
    return inner if inner else re.split(r"[\n;|]+", text)


def _ranks(part: str, world: int) -> list[int]:
    found: list[int] = []
    for word in re.split(r"[\s,]+", part.strip()):
        if word:
            found.extend(_rank_or_range(word, world))
    return found


def _rank_or_range(word: str, world: int) -> range:
    match = RANK.match(word)
    if not match:
        raise ValueError(f"I cannot read “{word[:24]}”: write ranks by their numbers, a group a line.")
    first, last = int(match[1]), int(match[2] or match[1])
    for rank in (first, last):
        if rank >= world:
            raise ValueError(f"There is no rank {rank}: the ranks are 0 to {world - 1}.")
    if last < first:
        raise ValueError(f"“{word}” runs backwards: write {last}-{first}.")
    return range(first, last + 1)


def _each_once(found: list[list[int]], world: int) -> None:
    placed = [rank for group in found for rank in group]
    for rank in placed:
        if placed.count(rank) > 1:
            raise ValueError(f"Rank {rank} stands there twice; each rank is in one group.")
    lacking = [rank for rank in range(world) if rank not in placed]
    if lacking:
        shown = ", ".join(map(str, lacking[:8])) + (" and others" if len(lacking) > 8 else "")
        raise ValueError(f"In no group yet: {shown}.")


def shape(text: str) -> tuple[int, ...]:
    """`[1024, 2, 512]`, `4096 2 1024` or `4096×2×1024`. Raises ValueError for what is no shape."""
    if len(text) > LONGEST:
        raise ValueError(f"That is {len(text):,} characters; a shape is shorter.")
    inner = text.strip().removeprefix("torch.Size").strip("[](){} \t\n")
    if not inner:
        raise ValueError("Nothing was typed. Write a shape like [1024, 2, 512].")
    sides = [side for side in BETWEEN_SIDES.split(inner) if side]
    if len(sides) > MOST_DIMENSIONS:
        raise ValueError(f"That has {len(sides)} dimensions; {MOST_DIMENSIONS} are the most here.")
    return tuple(_side(side) for side in sides)


def _side(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 14 and int(word) <= LARGEST_SIDE):
        raise ValueError(f"I cannot read “{word[:24]}”: write whole numbers, like [1024, 2, 512].")
    if int(word) == 0:
        raise ValueError("A side of 0 leaves nothing: write whole numbers from 1 on.")
    return int(word)
