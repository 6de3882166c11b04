"""One sitting: which functions of `grader/` are still to be tried, and a pytest session that tries them."""

from __future__ import annotations

import argparse
import gc
import importlib
import time
from pathlib import Path

import hypothesis
import pytest

from tests.mutants.kept import Results
from tests.mutants.making import units
from tests.mutants.reaching import Reach
from tests.mutants.swapping import Live
from tests.mutants.trying import Place, Trials

ROOT = Path(__file__).parents[2]
GRADER = ROOT / "grader"
REACH = ROOT / ".mutants" / "reach.json"
# What plays hundreds of attempts, or torch in a process of its own, is too slow to be asked for every mutant; what is
# about files or about the tests themselves reaches nothing.
LEFT_OUT = (
    "physics/test_torch_agrees.py",
    "test_every_scenario.py",
    "test_fuzz.py",
    "test_goldens.py",
    "test_grade_command.py",
    "test_linear.py",
    "test_orderings.py",
    "test_pure.py",
    "test_reliability.py",
    "napkin/test_command.py::test_a_shell_gets_the_exit_code_and_one_line_of_complaint",
    "test_inference.py::test_the_posterior_is_calibrated",
    "test_tables.py::test_normal_runs_pass_the_fit_about_as_often_as_the_test_says",
    "test_tables.py::test_reading_tables_does_not_load_the_statistics",
    "test_tables.py::test_the_upper_bound_covers_the_truth_about_nineteen_times_in_twenty",
)
# Few examples and always the same: a mutant must be killed by what a test says, not by luck.
EXAMPLES = 12


class Run:
    """A pytest session that tries mutants in place of running its tests."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked, self.results = asked, Results()
        self.until = time.monotonic() + asked.seconds
        self.finished = False
        self.checked: set[Place] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        places = _places(self.asked.modules)
        for place in _places([]):
            importlib.import_module(place.module)
        live = Live(GRADER)
        reach = Reach(REACH, ROOT)
        if not reach.look(session.items, live, self.until):
            print("looked at what some tests reach; the next run looks at the rest")
            return True
        gc.collect()
        gc.freeze()
        trials = Trials(session.items, reach, live, self.asked.tests_within)
        self.finished = all(self._try_module(trials, place) for place in places)
        return True

    def _try_module(self, trials: Trials, place: Place) -> bool:
        """Whether all of a module is done."""
        file, results, began = str(place.file.relative_to(ROOT)), self.results, time.monotonic()
        if began >= self.until:
            return False
        made = units(place.file)
        results.drop(file, {unit.name for unit in made})
        for unit in made:
            numbers, argued = None, {}
            if results.is_current(file, unit):
                living = results.living(file, unit)
                numbers = {number for number, is_argued in living.items() if not is_argued}
                argued = dict.fromkeys(set(living) - numbers, "survived")
                if not numbers or not self.asked.survivors:
                    continue
            if place not in self.checked:
                trials.check(place, unit)
                self.checked.add(place)
            ended = trials.run(place, unit, numbers, self.until)
            if ended is None:
                return False
            results.keep(file, unit, {**argued, **ended})
            results.save()
        tally = results.tally(file)
        print(f"{file}: {tally.killed} of {tally.mutants} killed, {time.monotonic() - began:.0f} s", flush=True)
        return True


def _places(modules: list[str]) -> list[Place]:
    """Modules by path or part of it (`inference`, `criteria/`, `grader/units.py`), in that order; else all."""
    every = {str(file.relative_to(ROOT)): file for file in sorted(GRADER.rglob("*.py"))}
    chosen = dict.fromkeys(name for one in modules or [""] for name in every if one in name)
    return [Place(every[name], _module(every[name])) for name in chosen]


def _module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sit(asked: argparse.Namespace) -> Run:
    """Tries what is to be tried within the time. Raises SystemExit where pytest could not begin."""
    run = Run(asked)
    hypothesis.settings.register_profile("mutants", derandomize=True, max_examples=EXAMPLES, deadline=None)
    hypothesis.settings.load_profile("mutants")
    left_out = [f"--{'deselect' if '::' in name else 'ignore'}=tests/grader/{name}" for name in LEFT_OUT]
    code = pytest.main(["-q", "-s", "-p", "no:xdist", *left_out, "tests/grader"], plugins=[run])
    if code not in (0, 5):
        raise SystemExit(int(code))
    run.results.save()
    return run
