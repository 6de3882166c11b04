"""Attempts written for what they are told: together they draw every sentence that a criterion has."""

from __future__ import annotations

from typing import Any

from tests.grader import orderings, recovery
from tests.grader.played import (
    A_LINK,
    BISECT,
    CHANGES,
    CLOSE,
    DIAGNOSE,
    FIX,
    FLOOR,
    FRACTION,
    LIBRARY,
    LINK,
    NO_STRAGGLER,
    NOT_THE_JOB,
    PREVENT,
    RATES,
    SOUND,
    SPLIT,
    SUCCESS,
    VERDICT,
    VERIFY,
    moved,
    swapped,
    transcript,
    without,
)

Attempt = dict[str, Any]
UNCLEAR = {"finding": "inconclusive"}
ARRIVALS = {"kind": "step", "step": "collective-arrivals", "finding": "together"}
TELEMETRY = {"kind": "step", "step": "host-telemetry", "finding": "even"}
INPUTS = {"kind": "step", "step": "input-timings", "finding": "even"}
PLACEMENT = {"kind": "step", "step": "placement-map", "finding": "as-before"}
OVERLAP = {"kind": "step", "step": "overlap-trace", "finding": "overlapped"}
PACKED = {**BISECT, "with": {"size": "job", "placement": "packed"}}
SMALL = {**BISECT, "with": {"size": "small", "placement": "as-job"}}
DRAIN = {"kind": "fix", "fix": "drain-host", "where": LINK}
REBOOT = {"kind": "fix", "fix": "reboot-switches"}
NOMINAL = {**RATES, "finding": "nominal"}
PHYSICS = [FLOOR, SPLIT, {**BISECT, "finding": "at-floor"}, OVERLAP, PLACEMENT, NOMINAL, TELEMETRY, INPUTS]
THROTTLED = {**SPLIT, "finding": "one-rank-slow-compute"}
AGAIN = {**DIAGNOSE, "causes": ["fallback-transport"], "where": None, "confidence": None}


def rule_out(*causes: str, because: Any = (), **more: Any) -> Attempt:
    return {"kind": "rule_out", "causes": list(causes), "because": list(because), **more}


def named(*causes: str, **changed: Any) -> list[Attempt]:
    return swapped(DIAGNOSE, {**DIAGNOSE, "causes": list(causes), **changed})


def bare(events: list[Attempt]) -> list[Attempt]:
    return [{name: value for name, value in event.items() if name != "finding"} for event in events]


def predict(step: Attempt, *said: tuple[str, str]) -> Attempt:
    expect = [{"causes": [cause], "finding": finding} for cause, finding in said]
    return {"kind": "predict", "step": step["step"], "with": step.get("with", {}), "expect": expect}


def alerts(*said: Attempt, measures: tuple[str, ...] = ()) -> list[Attempt]:
    full = [{"metric": "busbw", "threshold": 0.7, **one} for one in said]
    return swapped(PREVENT, {"kind": "prevent", "measures": list(measures), "alerts": full})


# By world: the simulated incident, and what `kept.worlds` makes of it.
SIMULATED: dict[str, Attempt] = {
    "dug-before-splitting": transcript([FLOOR, RATES, SPLIT, BISECT, DIAGNOSE, CLOSE]),
    "bisected-before-splitting": transcript(swapped(SPLIT, BISECT, SPLIT, events=without(BISECT))),
    "split-unclear": transcript(swapped(SPLIT, {**SPLIT, **UNCLEAR})),
    "dug-and-then-split-unclear": transcript([FLOOR, RATES, {**SPLIT, **UNCLEAR}, BISECT, DIAGNOSE, CLOSE]),
    "split-unclear-then-clear": transcript(swapped(SPLIT, {**SPLIT, **UNCLEAR}, ARRIVALS)),
    "bisection-unclear": transcript(swapped(BISECT, {**BISECT, **UNCLEAR})),
    "bisection-unclear-then-clear": transcript(swapped(BISECT, {**BISECT, **UNCLEAR}, BISECT)),
    "bisected-the-wrong-thing": transcript(swapped(BISECT, SMALL)),
    "only-the-fabric-left": transcript(
        [FLOOR, SPLIT, PACKED, RATES, {**DIAGNOSE, "causes": ["fallback-transport"], "where": None}, CLOSE]
    ),
    "a-straggler": transcript(
        [FLOOR, VERDICT, THROTTLED, rule_out("degraded-link", because=[2]),
         {**DIAGNOSE, "causes": ["throttled-rank"], "where": "rank:1"}, SUCCESS,
         {"kind": "fix", "fix": "add-gpus"}, VERIFY, {**DRAIN, "where": "rank:1"}, VERIFY, CLOSE],
        cause="throttled-rank", places={"throttled-rank": ["rank:1", "host:1"]}, symptom=None,
    ),
    "physics": transcript(
        [FLOOR, {"kind": "verdict", "collective": "at-floor"}, LIBRARY, CHANGES,
         {**DIAGNOSE, "causes": ["comparison-changed"], "where": None, "confidence": 0.9},
         {"kind": "fix", "fix": "accept-physics"}, CLOSE],
        cause="comparison-changed", truths={"fraction-of-floor": 0.95}, symptom="collective-at-floor",
    ),
    "physics-confirmed": transcript(
        [*PHYSICS, {**DIAGNOSE, "causes": ["comparison-changed"], "where": None}, CLOSE],
        cause="comparison-changed", truths={"fraction-of-floor": 0.8}, symptom="inconclusive",
    ),
    "physics-never-named": transcript([*PHYSICS, CLOSE], cause="comparison-changed", symptom="inconclusive"),
    "either-verdict": transcript(SOUND, symptom="inconclusive", truths={"fraction-of-floor": 0.8}),
    "no-symptom-no-cause": transcript([FLOOR, SPLIT, NO_STRAGGLER, DIAGNOSE, CLOSE], causes=[], symptom=None),
    "symptom-as-an-event": transcript(
        [{"kind": "step", "step": "symptom", "finding": "collective-below-floor"}, *SOUND], symptom=None
    ),
    "verdict-before-the-floor": transcript(moved(FLOOR, after=VERDICT)),
    "no-verdict": transcript(without(VERDICT)),
    "wrong-verdict": transcript(swapped(VERDICT, {"kind": "verdict", "collective": "at-floor"})),
    "floor-off-by-a-quarter": transcript(swapped(FLOOR, {**FLOOR, "value": "7 s"})),
    "floor-off-by-half": transcript(swapped(FLOOR, {**FLOOR, "value": "8.4 s"})),
    "floor-off-by-ten": transcript(swapped(FLOOR, {**FLOOR, "value": "56 s"})),
    "floor-under-another-assumption": transcript(
        swapped(FLOOR, {**FLOOR, "value": "0.69 s", "assuming": "8 NICs a host"})
    ),
    "floor-said-to-be-flat": transcript(swapped(FLOOR, {**FLOOR, "assuming": "a flat ring"})),
    "floor-off-by-nine-per-cent": transcript(swapped(FLOOR, {**FLOOR, "value": "6.1292 s"})),
    "floor-after-an-idle-fix": transcript([REBOOT, FLOOR, VERDICT, SPLIT, DIAGNOSE, CLOSE]),
    "floor-in-the-lab": transcript(
        swapped(FLOOR, {**FLOOR, "scale": "lab", "value": "0.45 s"}, {**FLOOR, "value": "56 s"})
    ),
    "floor-by-this-attempt": transcript(
        swapped(FLOOR, {**FLOOR, "value": "6 s"}), truths={"fraction-of-floor": 0.3, "collective-floor:production": 6.0}
    ),
    "bytes-as-working": transcript(
        swapped(FRACTION, {"kind": "estimate", "quantity": "bytes-on-the-wire", "value": "300 GB"})
    ),
    "no-working": transcript(without(FRACTION)),
    "unsure": transcript(named("degraded-link", confidence=0.3)),
    "no-confidence": transcript(named("degraded-link", confidence=None)),
    "too-sure-too-early": transcript([FLOOR, VERDICT, SPLIT, NO_STRAGGLER, {**DIAGNOSE, "confidence": 1.0}, CLOSE]),
    "wrong-place": transcript(named("degraded-link", where="link:host2-leaf1")),
    "no-place": transcript(named("degraded-link", where=None)),
    "two-causes": transcript(named("degraded-link", "worse-placement")),
    "two-families": transcript(named("degraded-link", "no-overlap", "slow-input-rank")),
    "an-unknown-cause": transcript(named("gremlins")),
    "the-less-supported": transcript(named("fallback-transport", where=None)),
    "an-unknown-cause-and-an-idle-fix": transcript(swapped(FIX, REBOOT, events=named("gremlins"))),
    "named-again-after-the-fix": transcript(swapped(VERIFY, VERIFY, AGAIN, DIAGNOSE)),
    "dear-but-telling": transcript([FLOOR, VERDICT, TELEMETRY, INPUTS, PLACEMENT, RATES, DIAGNOSE, FIX, VERIFY, CLOSE]),
    "every-read-there-is": transcript(swapped(RATES, PLACEMENT, OVERLAP, TELEMETRY, INPUTS, ARRIVALS, RATES)),
    "every-read-and-no-cause-known": transcript(
        [SPLIT, TELEMETRY, INPUTS, PLACEMENT, OVERLAP, LIBRARY, CHANGES, RATES, DIAGNOSE, CLOSE], causes=[]
    ),
    "dug-by-placement": transcript(swapped(BISECT, PLACEMENT, BISECT)),
    "confirmed-once-sure": transcript(swapped(RATES, RATES, PLACEMENT, OVERLAP)),
    "eased": transcript(swapped(FIX, DRAIN)),
    "made-worse": transcript(
        [FLOOR, THROTTLED, {**DIAGNOSE, "causes": ["throttled-rank"]}, {"kind": "fix", "fix": "add-gpus"}, CLOSE],
        cause="throttled-rank", symptom=None,
    ),
    "fixed-nowhere": transcript(swapped(FIX, {**FIX, "where": None})),
    "fixed-elsewhere": transcript(swapped(FIX, {**FIX, "where": "link:host2-leaf1"})),
    "fixed-at-the-second-try": transcript(swapped(FIX, REBOOT, VERIFY, FIX)),
    "fixed-two-at-once": transcript(swapped(FIX, REBOOT, FIX)),
    "fixed-by-guess": transcript([FLOOR, VERDICT, SUCCESS, FIX, VERIFY, SPLIT, BISECT, DIAGNOSE, CLOSE]),
    "fixed-what-was-supported": transcript(SOUND, cause="worse-placement"),
    "not-declared": transcript(without(SUCCESS)),
    "not-against-the-loss": transcript(swapped(VERIFY, {**VERIFY, "against": "floor"})),
    "not-against-the-floor": transcript(swapped(VERIFY, {**VERIFY, "against": ["loss", "sleep"]})),
    "never-verified": transcript(without(VERIFY)),
    "verified-and-still-ill": transcript(swapped(VERIFY, {**VERIFY, "finding": "below-floor"})),
    "verified-unclear": transcript(swapped(VERIFY, {**VERIFY, **UNCLEAR})),
    "findings-left-out": transcript(bare(SOUND)),
    "findings-left-out-and-not-cured": transcript(bare(swapped(FIX, REBOOT))),
    "struck-without-naming-one": transcript(
        swapped(NO_STRAGGLER, rule_out("throttled-rank"), rule_out("slow-input-rank", because=["per-rank-step-times"]))
    ),
    "struck-without-naming-any": transcript(
        [{**event, "because": []} if event["kind"] == "rule_out" else event for event in SOUND]
    ),
    "struck-by-family": transcript(swapped(NO_STRAGGLER, rule_out(because=[3], families=["host", "input", "fabric"]))),
    "struck-by-words-and-index": transcript(
        swapped(NO_STRAGGLER, rule_out("throttled-rank", because=["3", {"ref": "per-rank-step-times", "text": "even"}]))
    ),
    "struck-by-another-reading": transcript(
        swapped(RATES, rule_out("fallback-transport", because=["per-rank-step-times", "microbenchmark"]), RATES)
    ),
    "struck-the-cause": transcript(swapped(NO_STRAGGLER, NO_STRAGGLER, rule_out("degraded-link"))),
    "struck-the-cause-and-back": transcript(
        swapped(RATES, rule_out("degraded-link", because=[5]), {"kind": "restore", "causes": ["degraded-link"]}, RATES)
    ),
    "struck-what-the-readings-speak-for": transcript(swapped(A_LINK, A_LINK, rule_out("degraded-link", because=[7]))),
    "struck-another-and-then-the-cause": transcript(
        swapped(NO_STRAGGLER, NO_STRAGGLER, rule_out("fallback-transport"), rule_out("degraded-link"))
    ),
    "struck-by-three-readings-that-cannot": transcript(
        swapped(RATES, ARRIVALS, rule_out("worse-placement", because=[3, 5, 7]), RATES)
    ),
    "four-never-struck": transcript([event for event in SOUND if event not in (NOT_THE_JOB, A_LINK)]),
    "struck-late": transcript(
        swapped(LIBRARY, LIBRARY, NO_STRAGGLER, events=[event for event in SOUND if event is not NO_STRAGGLER])
    ),
    "struck-all-but-one": transcript([event for event in SOUND if event is not NOT_THE_JOB]),
    "predicted-well": transcript(
        swapped(RATES, predict(RATES, ("degraded-link", "one-link-lower"), ("no-overlap", "nominal")), RATES)
    ),
    "predicted-badly-and-twice": transcript(
        swapped(
            BISECT, predict(BISECT, ("degraded-link", "at-floor")), predict(BISECT, ("degraded-link", "below-floor")),
            predict(PLACEMENT, ("worse-placement", "more-hops")), BISECT,
        )
    ),
    "predicted-in-part": transcript(
        swapped(
            RATES, predict(RATES, ("degraded-link", "one-link-lower"), ("no-overlap", "one-link-lower")),
            predict(LIBRARY, ("degraded-link", "fabric-interface")), RATES, events=without(NO_STRAGGLER),
        )
    ),
    "predicted-of-nobody": transcript(swapped(BISECT, predict(BISECT, ("gremlins", "at-floor")), BISECT)),
    "a-curveball": transcript(
        swapped(VERIFY, VERIFY, {"kind": "curveball", "cause": "no-overlap"}, bare([VERIFY])[0],
                {**DIAGNOSE, "causes": ["degraded-link", "no-overlap"]}, {"kind": "fix", "fix": "restore-overlap"},
                bare([VERIFY])[0])
    ),
    "hinted": transcript([{"kind": "hint", "level": 2}, {"kind": "hint", "level": 1}, *SOUND]),
    "hinted-after-the-close": transcript([*SOUND, {"kind": "hint", "level": 3}]),
    "under-conditions": transcript([{"kind": "hint", "level": 3}, *SOUND], conditions={"time": "more", "mode": "mock"}),
    "of-a-newer-version": transcript(swapped(SPLIT, {"kind": "applause", "loud": True}, SPLIT)),
    "revealed": transcript(swapped(FIX, {"kind": "reveal"}, FIX)),
    "opened-together": transcript(
        swapped(SPLIT, {**SPLIT, "opened_at_s": 25.0, "at_s": 30.0}, {**ARRIVALS, "opened_at_s": 28.0, "at_s": 33.0})
    ),
    "measures-that-would-not-have-shown-it": transcript(
        swapped(PREVENT, {"kind": "prevent", "measures": ["placement-check", "step-time-distributions"]})
    ),
    "some-measures-idle": transcript(
        swapped(PREVENT, {"kind": "prevent", "measures": ["placement-check", "link-metrics", "link-metrics"]})
    ),
    "right-by-luck": transcript([FLOOR, VERDICT, DIAGNOSE, SUCCESS, FIX, VERIFY, CLOSE]),
}  # fmt: skip

ALERTED = {
    "caught-at-once": transcript(alerts({})),
    "caught-late": transcript(alerts({"window": 8})),
    "caught-in-part-of-the-window": transcript(alerts({"window": 10, "share": 0.6})),
    "missed": transcript(alerts({"threshold": 0.1})),
    "always-on": transcript(alerts({"threshold": 2.0})),
    "in-the-other-direction": transcript(alerts({"direction": "above", "threshold": 0.5})),
    "two-alerts-and-a-measure": transcript(alerts({}, {"threshold": 0.2}, measures=("link-metrics",))),
    "on-what-nobody-recorded": transcript(alerts({"metric": "fan-speed"})),
    "caught-what-was-supported": transcript(alerts({}), cause="worse-placement"),
    "alert-without-a-cause": transcript([event for event in alerts({}) if event is not DIAGNOSE], causes=[]),
}
SHORT_OF_TIME = {
    "out-of-time": transcript(SOUND),
    "out-of-time-hinted": transcript([*SOUND[:-1], {"kind": "hint", "level": 1}]),
}
BARE = {"nothing-to-do-about-it": transcript(without(LIBRARY, CHANGES, FIX, VERIFY, PREVENT))}
ELSEWHERE = {
    "a-search-by-the-rubric-of-recovery": transcript(SOUND),
    "no-number-by-it": transcript(orderings.no_floor()),
    "a-late-number-by-it": transcript(orderings.floor_after_the_first_step()),
    "a-wrong-number-by-it": transcript([orderings.SLIPPED_FLOOR, *without(FLOOR)]),
}

STEP_TIMES = {"kind": "step", "step": "step-times", "finding": "even"}
BROKEN = {"kind": "step", "step": "replay", "finding": "diverges"}
CONTENTS, SCHEDULE, REPLAY = recovery.CONTENTS, recovery.SCHEDULE, recovery.REPLAY


def resumed(*new: Attempt, at: Attempt | None = None, without: tuple[Attempt, ...] = ()) -> Attempt:
    """The sound audit with some events in place of one, and some left out."""
    events: list[Attempt] = []
    for event in recovery.SOUND:
        events += list(new) if event == at else [] if event in without else [event]
    return recovery.transcript(events)


RECOVERY = {
    "contents-unclear": resumed({**CONTENTS, **UNCLEAR}, at=CONTENTS),
    "contents-unclear-then-clear": resumed({**CONTENTS, **UNCLEAR}, CONTENTS, at=CONTENTS),
    "only-unclear-audits": recovery.transcript([{**CONTENTS, **UNCLEAR}, recovery.DIAGNOSE, recovery.FIX, CLOSE]),
    "judged-by-speed": resumed(
        STEP_TIMES, rule_out("generations-mixed", because=["step-times"]), SCHEDULE, at=SCHEDULE
    ),
    "named-by-speed": resumed(STEP_TIMES, {**recovery.DIAGNOSE, "because": ["step-times"]}, at=recovery.DIAGNOSE),
    "the-store-struck-by-speed": resumed(
        STEP_TIMES, rule_out("slow-store", because=["step-times"]), at=recovery.NOT_THE_STORE
    ),
    "only-speed": recovery.transcript(
        [STEP_TIMES, {**recovery.DIAGNOSE, "because": ["step-times"]}, recovery.TOLERANCE, recovery.FIX, CLOSE]
    ),
    "never-checked-the-generation": resumed(without=(CONTENTS, recovery.ONE_GENERATION)),
    "never-replayed": resumed(without=(REPLAY,)),
    "replayed-without-a-tolerance": resumed(without=(recovery.TOLERANCE,)),
    "tolerance-after-the-replay": resumed(REPLAY, recovery.TOLERANCE, at=REPLAY, without=(recovery.TOLERANCE,)),
    "only-the-broken-state-replayed": resumed(
        recovery.TOLERANCE, BROKEN, recovery.DIAGNOSE, at=recovery.DIAGNOSE, without=(REPLAY, recovery.TOLERANCE)
    ),
    "replayed-before-and-after": resumed(BROKEN, recovery.DIAGNOSE, at=recovery.DIAGNOSE),
    "replayed-and-never-fixed": resumed(
        BROKEN, recovery.DIAGNOSE, at=recovery.DIAGNOSE, without=(recovery.FIX, REPLAY)
    ),
}
