"""Finds plotly.js in the plotly package: one file of it, and without importing plotly."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

PREFIX = "plotly"
FILE = "plotly.min.js"


def package_data() -> Path:
    """The folder of plotly.js in the installed package. Raises ModuleNotFoundError where plotly is not installed."""
    spec = find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("plotly is not installed; run `make run` once to install everything")
    return Path(next(iter(spec.submodule_search_locations))) / "package_data"


class PlotlyFinder(BaseFinder):
    """Serves `plotly/plotly.min.js`, and nothing else of the package."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.storage = FileSystemStorage(location=package_data())
        # collectstatic copies to `prefix/path`.
        self.storage.prefix = PREFIX  # type: ignore[attr-defined]

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != f"{PREFIX}/{FILE}":
            return []
        found = self.storage.path(FILE)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        yield FILE, self.storage
