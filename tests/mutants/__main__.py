"""`python -m tests.mutants [MODULE …] [--seconds N] [--survivors]`: tries mutants of `grader/` and writes the page.

It goes on where it stopped: a function whose source has not changed is not tried again, unless its survivors are asked
for. Without modules it takes all. `--page` needs none of the packages that trying does.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.mutants import page
from tests.mutants.kept import FOLDER, Results

ROOT = Path(__file__).parents[2]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", help="parts of paths below grader/; none: all")
    parser.add_argument("--seconds", type=float, default=600, help="stop at a whole state after so long")
    parser.add_argument("--survivors", action="store_true", help="try again what had survived")
    parser.add_argument("--tests-within", type=float, default=4, help="seconds of tests for each mutant, at most")
    parser.add_argument("--page", action="store_true", help="only write the page")
    asked = parser.parse_args(argv)
    os.chdir(ROOT)
    if not asked.page:
        from tests.mutants.sitting import sit

        finished = sit(asked).finished
        print("all is tried" if finished else "stopped in time; the next run goes on from here")
    (FOLDER.parent / "mutants.md").write_text(page.page(Results()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
