"""`python -m tests.grader.drills.pin` keeps what drills ask and tell now as what they have to from here on."""

from __future__ import annotations

import json

from grader.drills.making import drill, fingerprint
from tests.grader.drills import kept
from tests.grader.drills.test_every_drill import IDS, PINNED

if __name__ == "__main__":
    now = {id: [fingerprint(drill(id, seed)) for seed in (0, 1, 2**31 - 1)] for id in IDS}
    PINNED.write_text(json.dumps(now, indent=1) + "\n")
    kept.main()
    print(f"{len(now)} templates pinned in {PINNED} and kept in {kept.FILE}")
