"""A training script watched to its end, whatever that is: it finishes, raises, dies or hangs.

What is kept in `recorded`:

`ranks`: one a rank: {rank, host, end: {how: finished|left|raised|died|hung, at_s, signal?, exit_code?, exception?,
text?}, steps, log: [[at_s, line]], dumps: [{at_s, stack: [frames, innermost first], waits: bool, threads,
collectives, last} | null] (the last two times that all living ranks were asked), at_exit: {collectives, last} | null
(what the rank dumped as it raised)};
`stalled`: whether they were asked because nothing moved any more; `torchfrtrace`: {raw, lines, failed};
`timeout_s`: of the library. Times are seconds since the first step. Frames are `function file:line`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_worker.experiments.base import Experiment, Phase, Setup

if TYPE_CHECKING:
    from gpu_worker.lab.plan import RunPlan

BODY = "gpu_worker.jobs.watched:run_watched"
STEPS, SAVE_EVERY, ASK_AT_STEP = 36, 12, 16
# A hang ends by the library's own time-out of a few seconds; past this, whoever still runs is found hanging.
HANG_AFTER_S = 20.0
RECORDED_ENTRIES = 2000
LINES_KEPT, TEXT_KEPT = 60, 1000
KNOWN_PATH = re.compile(r"/(?:[^/\s\"':\[\]]+/)+((?:torch|gpu_worker|gloo)/[\w./-]+)")
OTHER_PATH = re.compile(r"(?<![\w./-])/(?:[^/\s\"':\[\]]+/)+([\w.-]+\.\w+)")
FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>.+)$')
OUR_FRAMES = ("/jobs/", "/distributed/", "/launcher/channel.py", "/ranks/")


def phases(setup: Setup) -> tuple[Phase, ...]:
    return (
        Phase(
            name="hang",
            hosts=setup.hosts,
            job=setup.job.model_copy(update={"flight_recorder_entries": RECORDED_ENTRIES}),
            rank_job=setup.rank_job,
            body=BODY,
            fed=True,
            arguments={"steps": STEPS, "save_every": SAVE_EVERY, "ask_at_step": ASK_AT_STEP},
            hang_after_s=HANG_AFTER_S,
        ),
    )


def record(plan: RunPlan, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The raw results of the watch, with names, roundings and only the frames that matter."""
    ranks = raw["ranks"]
    trace = ranks[0]["torchfrtrace"]
    return {
        "recorded": {
            "ranks": [_rank(number, plan.placement[number], rank) for number, rank in enumerate(ranks)],
            "stalled": any(rank["stalled"] for rank in ranks),
            "torchfrtrace": {**trace, "lines": [without_places(line) for line in trace["lines"] if _is_ours(line)]},
            "timeout_s": plan.job.collective_timeout_s,
        }
    }


def _rank(number: int, host: int, rank: Mapping[str, Any]) -> dict[str, Any]:
    end = {
        name: without_places(value)[:TEXT_KEPT] if isinstance(value, str) else value
        for name, value in rank["end"].items()
        if name != "at"
    }
    return {
        "rank": number,
        "host": host,
        "end": {**end, "at_s": round(rank["end"]["at"], 4)},
        "steps": rank["steps_done"],
        "log": [[round(at, 4), without_places(line)[:TEXT_KEPT]] for at, line in rank["log"][-LINES_KEPT:]],
        "dumps": [_dump(dump) for dump in rank["dumps"]],
        "at_exit": rank["at_exit"],
    }


def _dump(dump: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if dump is None:
        return None
    flight = dump["flight"] or {"collectives": 0, "last": []}
    stack = main_stack(dump["stacks"])
    return {"at_s": round(dump["at"], 4), "stack": stack, "threads": dump["threads"], **flight}


def main_stack(text: str) -> list[str]:
    """Of what faulthandler wrote the stack of the thread that trains, innermost first, `function file:line`."""
    for block in re.split(r"\n(?=(?:Current t|T)hread )", text):
        frames = [match for line in block.splitlines() if (match := FRAME.match(line))]
        if any(match["function"] == "run_rank" for match in frames):
            kept = [match for match in frames if any(part in match["file"] for part in OUR_FRAMES)]
            return [f"{m['function']} {m['file'].rpartition('/')[2]}:{m['line']}" for m in kept]
    return []


def _is_ours(line: str) -> bool:
    """Whether a line of the analysis is about the script: its stack traces go down to the lab that forked it."""
    return not any(part in line for part in ("/launcher/", "/ranks/", "runpy"))


def without_places(line: str) -> str:
    """The line with every path cut to what a reader needs, and no place of this machine: `torch/distributed/x.py`."""
    return OTHER_PATH.sub(r"\1", KNOWN_PATH.sub(r"\1", line))


EXPERIMENT = Experiment(
    id="hang",
    title="The training script, watched to its end",
    nominal_s=15.0,
    choices={},
    phases=phases,
    record=record,
)
