"""`scenario prove`: whether an incident can be solved as it is meant to be, from its stored calibration. Pure, quick.

One file a claim or two; each takes a Subject and returns Lines. docs/proofs.md keeps the table of what is shipped.
"""

from __future__ import annotations

from scenarios.format import Scenario
from scenarios.proof import apart, golden, healthy, recovery, search, work
from scenarios.proof.base import Claim, Line, Proof, subject_of

__all__ = ["Line", "Proof", "claims_of", "prove"]

# In the order in which a candidate meets them. What the order of a search has to be depends on the track: that of speed
# splits and bisects, that of recovery audits.
OF_SPEED: tuple[Claim, ...] = (search.splits_first, search.bisects)
OF_RECOVERY: tuple[Claim, ...] = (recovery.audits_first, recovery.audits_on)
SPEED_ELSEWHERE: tuple[Claim, ...] = (work.compute_spares_the_fabric,)
RECOVERY_ELSEWHERE: tuple[Claim, ...] = (
    recovery.speed_tells_nothing,
    recovery.generation_is_told,
    recovery.replay_tells,
)


def claims_of(scenario: Scenario) -> tuple[Claim, ...]:
    """What must hold of an incident of its track."""
    recovers = scenario.track == recovery.TRACK
    return (
        work.headline,
        *(OF_RECOVERY if recovers else OF_SPEED),
        search.ends_in_time,
        search.change_log_suggests,
        apart.told_apart,
        *(RECOVERY_ELSEWHERE if recovers else SPEED_ELSEWHERE),
        healthy.passes,
        golden.paths_pass,
    )


def prove(scenario: Scenario) -> Proof:
    """Every claim with its figure and verdict. Raises BankIncomplete where there is no calibration to prove it from."""
    subject = subject_of(scenario)
    lines = tuple(claim(subject) for claim in claims_of(scenario))
    return Proof(scenario.key, scenario.revision, subject.calibration.table, subject.calibration.digest, lines)
