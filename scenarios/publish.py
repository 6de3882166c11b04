"""Publishing a revision: it takes the place of the one that was offered, and never changes again."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from scenarios import library, released
from scenarios.format import Scenario


def publish(scenario: Scenario) -> Path:
    """Makes a revision the one that is offered and notes its digest; gives its file. All of it or nothing.

    What must hold of it before is the caller's to check: that the file is sound and its proof holds.
    """
    file = library.file_of(scenario.key, scenario.revision)
    offered = file.with_name(f"{scenario.key}.yaml")
    with ExitStack() as undo:
        if library.is_coming(scenario):
            if offered.is_file():
                move(offered, offered.with_name(f"{scenario.key}@{library.load(offered).revision}.yaml"), undo)
            move(file, offered, undo)
        released.record(scenario)
        undo.pop_all()
    return offered


def move(old: Path, new: Path, undo: ExitStack) -> None:
    undo.callback(lambda: new.rename(old) if new.is_file() and not old.is_file() else None)
    old.rename(new)
