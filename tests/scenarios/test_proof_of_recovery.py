"""What is proved of incidents about saving and resuming, on a small incident whose tables are certain."""

from __future__ import annotations

from grader.index import index_of
from grader.knowledge import Knowledge
from scenarios import library
from scenarios.proof import claims_of, page, recovery, search, work
from scenarios.proof.base import Subject
from tests.grader import recovery as small

RESUMED = library.named("resume-diverges")
STALLED = library.named("saving-stalls-training")
OF_RECOVERY = ("schedule-lost", "generations-mixed")


def told(knowledge: Knowledge, scenario=RESUMED) -> Subject:
    """The scenario as if these were its tables; the claims of recovery read nothing else of a calibration."""
    return Subject(scenario, None, knowledge, index_of(knowledge))  # type: ignore[arg-type]


def made(*, causes=tuple(small.CAUSES), **changed) -> Knowledge:
    """The small incident with some of its causes, and other fields of some steps."""
    known = small.knowledge()
    runs = {"replay": {"experiment": "resume-replay"}, **changed}
    return known.model_copy(
        update={
            "causes": tuple(one for one in known.causes if one.id in causes),
            "steps": tuple(one.model_copy(update=runs.get(one.step.replace("-", "_"), {})) for one in known.steps),
        }
    )


def showing(step: str, **finding: str) -> Knowledge:
    """The small incident where a step clearly shows another finding under some causes."""
    known = made(causes=OF_RECOVERY)
    (one,) = (s for s in known.steps if s.step == step)
    usual = {cause: max(cell.p, key=cell.p.__getitem__) for cause, cell in one.cells.items()}
    row = small.step(step, one.price_min, one.tells, {**usual, **{c.replace("_", "-"): f for c, f in finding.items()}})
    row = row.model_copy(update={"findings": tuple(dict.fromkeys(row.findings)), "experiment": one.experiment})
    return known.model_copy(update={"steps": tuple(row if s.step == step else s for s in known.steps)})


def test_an_incident_is_held_to_the_claims_of_its_track_and_to_no_others():
    of_speed, of_recovery = claims_of(library.get("slow-all-reduce")), claims_of(RESUMED)
    alone = {search.splits_first, search.bisects, work.compute_spares_the_fabric}
    assert set(of_speed) - set(of_recovery) == alone
    assert {claim.__module__ for claim in set(of_recovery) - set(of_speed)} == {recovery.__name__}
    assert len(set(of_recovery) - alone) == len(of_recovery) > len(of_speed)


def test_no_claim_of_recovery_is_no_question_for_an_incident_of_recovery():
    known = made(causes=OF_RECOVERY)
    lines = [claim(told(known)) for claim in claims_of(RESUMED) if claim.__module__ == recovery.__name__]
    assert {line.verdict for line in lines if line.id != "audits-on"} == {"holds"}


def test_a_search_that_begins_with_speed_is_refused():
    assert recovery.audits_first(told(made())).verdict == "holds"
    cheap = made(step_times={"price_min": 0.5})
    line = recovery.audits_first(told(cheap))
    assert line.verdict == "fails" and "step-times" in line.figure


def test_a_sound_first_reading_is_followed_by_an_audit_or_the_storage_and_not_by_speed():
    # What is saved is looked at first; of what it leaves, the schedule is dear to read.
    dear = {
        "contents": {"price_min": 1},
        "schedule": {"price_min": 60},
        "replay": {"price_min": 60, "experiment": "resume-replay"},
    }
    line = recovery.audits_on(told(made(**dear)))
    assert (line.verdict, "after loss-jumps, one-step: step-times" in line.figure) == ("fails", True)
    assert recovery.audits_on(told(made(**dear, step_times={"tells": ("storage",)}))).verdict == "holds"


def test_a_reading_of_speed_that_tells_the_cause_is_refused_and_named():
    line = recovery.speed_tells_nothing(told(made()))
    assert line.verdict == "fails" and [detail.partition(":")[0] for detail in line.details] == ["step-times"]
    assert recovery.speed_tells_nothing(told(made(causes=OF_RECOVERY))).verdict == "holds"


def test_a_generation_that_stays_unclear_under_a_cause_is_refused():
    unclear = showing("contents", schedule_lost="inconclusive")
    line = recovery.generation_is_told(told(unclear))
    assert line.verdict == "fails" and line.details[0].startswith("schedule-lost: 0.0")
    none = made(contents={"tells": ("checkpoint",)})
    assert recovery.generation_is_told(told(none)).verdict == "fails"


def test_a_restart_that_reads_as_sound_under_a_cause_is_refused_and_another_reading_may_show_it():
    line = recovery.replay_tells(told(made()))
    assert line.verdict == "fails" and line.details == ("slow-store: a restart reads as sound",)
    beside = made(step_times={"experiment": "resume-replay"})
    line = recovery.replay_tells(told(beside))
    assert line.verdict == "holds" and "2 of 3 causes show in it, slow-store in step-times" in line.figure


def test_of_saves_that_stall_a_replay_has_to_repeat_the_log_in_healthy_runs_alone():
    assert recovery.replay_tells(told(made(), STALLED)).verdict == "holds"
    known = made()
    steps = tuple(half_as_sure(one) if one.step == "replay" else one for one in known.steps)
    assert recovery.replay_tells(told(known.model_copy(update={"steps": steps}), STALLED)).verdict == "fails"


def half_as_sure(step):
    """The step where half of the healthy runs show something else."""
    healthy = step.cells["healthy"]
    top = max(healthy.p, key=lambda name: healthy.p[name])
    p = {name: 0.5 if name == top else 0.5 / (len(healthy.p) - 1) for name in healthy.p}
    return step.model_copy(update={"cells": {**step.cells, "healthy": healthy.model_copy(update={"p": p})}})


def test_the_page_says_what_stands_in_the_place_of_what():
    for said in ("tells a straggler from the network", "reads what was saved or what came back"):
        assert said in page.HEAD
