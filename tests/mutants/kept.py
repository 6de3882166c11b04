"""What is kept in the repository: how the mutants of each function ended, and why some that live on may.

`docs/mutants/results.json` is written by the command; `docs/mutants/argued.json` by people: file, function, change, and
one line why no answer can show it. Under `everywhere` stand arguments for whatever changes nothing but what a pattern
finds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the page is made, and tested, without mutmut
    from tests.mutants.making import Unit

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "mutants"


@dataclass(frozen=True)
class Survivor:
    """A mutant that no test has noticed. `why`: the argument for it; empty where there is none yet."""

    file: str
    function: str
    number: int
    change: str
    is_text: bool
    why: str


@dataclass(frozen=True)
class Tally:
    """Of one file, or of all."""

    mutants: int = 0
    texts: int = 0
    survived: int = 0
    texts_survived: int = 0
    argued: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def killed(self) -> int:
        return self.mutants - self.survived

    @property
    def killed_share(self) -> float:
        return self.killed / self.mutants if self.mutants else 1.0


class Results:
    def __init__(self, folder: Path = FOLDER) -> None:
        self.path, self.argued_path = folder / "results.json", folder / "argued.json"
        self.files: dict[str, dict[str, Any]] = json.loads(self.path.read_text()) if self.path.is_file() else {}
        self.argued: dict[str, dict[str, Any]] = (
            json.loads(self.argued_path.read_text()) if self.argued_path.is_file() else {}
        )

    def is_current(self, file: str, unit: Unit) -> bool:
        return bool(self.files.get(file, {}).get(unit.name, {}).get("digest") == unit.digest)

    def living(self, file: str, unit: Unit) -> dict[int, bool]:
        """Numbers of the mutants that nothing had killed: whether it is argued why."""
        return {one.number: bool(one.why) for one in self.survivors(file) if one.function == unit.name}

    def keep(self, file: str, unit: Unit, ended: dict[int, str]) -> None:
        """The endings of all mutants of a unit, or of those that had survived until now."""
        before = self.files.get(file, {}).get(unit.name, {}) if len(ended) < len(unit.mutants) else {}
        cannot = sorted({number for number, end in ended.items() if end == "cannot"} | {*before.get("cannot", [])})
        made = {mutant.number: mutant for mutant in unit.mutants if mutant.number not in cannot}
        lives = [made[number] for number, end in sorted(ended.items()) if end in ("survived", "not reached")]
        self.files.setdefault(file, {})[unit.name] = {
            "digest": unit.digest,
            "mutants": len(made),
            "texts": sum(mutant.is_text for mutant in made.values()),
            **({"cannot": cannot} if cannot else {}),
            "survived": {str(m.number): ("text: " if m.is_text else "") + m.change for m in lives},
        }

    def drop(self, file: str, names: set[str]) -> None:
        """Functions that are no longer there."""
        for name in set(self.files.get(file, {})) - names:
            del self.files[file][name]

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.files, indent=1, sort_keys=True, ensure_ascii=False) + "\n")

    def untried(self) -> list[str]:
        """Modules with a function of which nothing is kept."""
        files = sorted((ROOT / "grader").rglob("*.py"))
        names = [str(file.relative_to(ROOT)) for file in files if "def " in file.read_text()]
        return [name for name in names if name not in self.files]

    def survivors(self, file: str) -> Iterator[Survivor]:
        for function, kept in self.files.get(file, {}).items():
            for number, said in kept["survived"].items():
                change = said.removeprefix("text: ")
                why = self.argued.get(file, {}).get(function, {}).get(change, "") or self._everywhere(change)
                yield Survivor(file, function, int(number), change, said != change, why)

    def _everywhere(self, change: str) -> str:
        was, _, now = change.partition(" → ")
        for pattern, why in self.argued.get("everywhere", {}).items():
            if re.sub(pattern, "", was) == re.sub(pattern, "", now):
                return str(why)
        return ""

    def tally(self, file: str) -> Tally:
        kept, lives = self.files.get(file, {}).values(), list(self.survivors(file))
        return Tally(
            mutants=sum(one["mutants"] for one in kept),
            texts=sum(one["texts"] for one in kept),
            survived=len(lives),
            texts_survived=sum(one.is_text for one in lives),
            argued=sum(bool(one.why) for one in lives),
        )
