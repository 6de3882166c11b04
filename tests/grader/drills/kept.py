"""What a drill asks and says afterwards, whole for one seed of each template and as digests for many.

`pinned.json` holds the questions that stored seeds have to go on asking; here is also what is told once they were
answered: the way to the answer, and the slips with what each would have given. `python -m tests.grader.drills.pin`
writes both, so that a change of wording or of a figure shows in the difference of one file.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from grader.drills.base import Drill
from grader.drills.making import TEMPLATES, drill

FILE = Path(__file__).with_name("kept.json")
IDS = sorted(TEMPLATES)
# That of the drills which were worked out on paper.
WHOLE_SEED = 7
# So many that every number a template may pick is picked by one of them.
SEEDS = range(60)
DIGEST_LENGTH = 6


def told(made: Drill) -> dict[str, Any]:
    """Everything that a person is asked, judged by and told."""
    return {
        "text": made.text,
        "answer": f"{made.answer:.9g} {made.kind}",
        "within": "exact" if made.exact else made.tolerance,
        "args": {name: value if isinstance(value, str | bool) else _short(value) for name, value in made.args.items()},
        "steps": list(made.steps),
        "slips": [f"{slip.id} {slip.value:.9g}: {slip.told}" for slip in made.slips],
    }


def _short(value: Any) -> Any:
    return [_short(one) for one in value] if isinstance(value, list) else f"{value:.9g}"


def digests(id: str) -> str:
    """One short digest a seed, in order, without a space between."""
    return "".join(_digest(told(drill(id, seed))) for seed in SEEDS)


def _digest(one: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()[:DIGEST_LENGTH]


def first_difference(found: str, kept: str) -> int | None:
    """The first seed whose digest is another; None where all agree."""
    for at in SEEDS:
        one = slice(at * DIGEST_LENGTH, (at + 1) * DIGEST_LENGTH)
        if found[one] != kept[one]:
            return at
    return None


def main() -> None:
    now = {id: {**told(drill(id, WHOLE_SEED)), "digests": digests(id)} for id in IDS}
    FILE.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n")
