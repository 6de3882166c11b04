"""Where every rank is, twice: its Python stack and what the kernel says of the thread that trains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_worker import figures
from gpu_worker.probes import _hang
from gpu_worker.probes.base import INCONCLUSIVE, Decisive, Probe, ProbeResult, Reading, Series
from gpu_worker.specs import WholeRun

# Being asked wakes a thread a time or two; one that trains sleeps and wakes dozens of times between two looks.
STILL_SWITCHES, MOVING_SWITCHES = 4, 8
LIBRARY = (
    "distributed_c10d.py",
    "c10d_logger.py",
    "channel.py",
    "body.py",
    "conductor.py",
    "blackbox.py",
    "storage.py",
)
ENDED = "at the end of the script"
FRAMES_SHOWN = 6


@dataclass(frozen=True)
class Where:
    """One rank at the second look. `switches` is how often its training thread gave up its core since the first."""

    rank: int
    stack: tuple[str, ...]
    switches: int | None
    same: bool
    waits_in: str
    threads: tuple[tuple[str, str, str], ...] = ()

    @property
    def gone(self) -> bool:
        return not self.stack

    @property
    def still(self) -> bool:
        return not self.gone and self.same and (self.place == ENDED or (self.switches or 0) <= STILL_SWITCHES)

    @property
    def moving(self) -> bool:
        return not self.gone and not self.still and (not self.same or (self.switches or 0) >= MOVING_SWITCHES)

    @property
    def place(self) -> str:
        """The innermost frame of the training script, with its caller's line; where it has left it, that it waits."""
        script = [frame for frame in self.stack if not any(name in frame for name in LIBRARY)]
        in_script = script and not script[0].startswith("run_watched")
        return " < ".join(script[:2]) if in_script else ENDED


def read(run: WholeRun, params: Mapping[str, str]) -> ProbeResult:
    """How many ranks stand still, in how many places, and how many have no process any more."""
    places = [_where(run, rank) for rank in _hang.hang_ranks(run)]
    return ProbeResult(_readings(places), _series(places))


def _readings(places: list[Where]) -> dict[str, Reading]:
    still = [where for where in places if where.still]
    usual = _hang.majority([where.place for where in still]) if still else ""
    return {
        "gone_ranks": Reading(sum(w.gone for w in places), "count", f"Ranks without a process, of {len(places)}"),
        "still_ranks": Reading(len(still), "count", "Ranks that stand still between two looks"),
        "moving_ranks": Reading(sum(w.moving for w in places), "count", "Ranks that get on between two looks"),
        "unclear_ranks": Reading(
            sum(not (w.gone or w.still or w.moving) for w in places), "count", "Ranks that hardly get on"
        ),
        "odd_ranks": Reading(
            sum(w.place != usual for w in still), "count", "Of those that stand still, ranks in another place than most"
        ),
        "usual_place": Reading(usual or "none", "text", "Where most of them stand"),
    }


def _series(places: list[Where]) -> dict[str, Series]:
    table = tuple(
        (
            f"rank {w.rank}",
            "gone" if w.gone else w.place,
            "gone" if w.gone else "still" if w.still else "moving" if w.moving else "unclear",
            w.switches,
            w.waits_in,
        )
        for w in places
    )
    frames = tuple(
        (f"rank {w.rank}", depth, frame) for w in places for depth, frame in enumerate(w.stack[:FRAMES_SHOWN])
    )
    threads = tuple((f"rank {w.rank}", *thread) for w in places for thread in w.threads)
    return {
        "places": Series(
            ("rank", "place", "between two looks", "switches", "kernel waits in"),
            ("text", "text", "text", "count", "text"),
            table,
            "The training thread of each rank: innermost lines of the script, and its switches between two looks.",
        ),
        "stacks": Series(
            ("rank", "depth", "frame"), ("text", "count", "text"), frames, "Python frames, the innermost first."
        ),
        "threads": Series(
            ("rank", "thread", "state", "kernel waits in"),
            ("text", "text", "text", "text"),
            threads,
            "All threads of each rank: R runs, S sleeps; and the kernel's function that it sleeps in.",
        ),
    }


def _where(run: WholeRun, rank: Mapping[str, Any]) -> Where:
    dumps = _hang.asked(run, rank)
    if len(dumps) < 2:
        return Where(rank["rank"], (), None, False, "")
    first, second = dumps
    # The first thread of a process is the one that trains.
    before, after = first["threads"][0], second["threads"][0]
    return Where(
        rank=rank["rank"],
        stack=tuple(second["stack"]),
        switches=after["switches"] - before["switches"],
        same=first["stack"] == second["stack"],
        waits_in=after["waits_in"] or after["state"],
        threads=tuple((thread["name"], thread["state"], thread["waits_in"]) for thread in second["threads"]),
    )


def classify(values: Mapping[str, float]) -> str:
    """Ranks without a process first; then whether anybody moves, and whether those who do not stand together."""
    if values["gone_ranks"] >= 1:
        return "ranks-gone"
    if values["unclear_ranks"] >= 1:
        return INCONCLUSIVE
    if values["still_ranks"] < 1:
        return "moving"
    if values["odd_ranks"] >= 1:
        return "ranks-apart"
    return "one-works-others-wait" if values["moving_ranks"] >= 1 else "all-in-one-place"


def figure(result: ProbeResult, params: Mapping[str, str]) -> dict[str, Any]:
    """Switches of each rank's training thread between the two looks, with the place where it stands."""
    rows = result.series["places"].rows
    labels = [row[0] for row in rows]
    values = [float(row[3] or 0) for row in rows]
    said = [f"{row[0]}: {row[2]}, {row[1]}" for row in rows]
    bars = figures.bars("switches", "c1", labels, values, said, **figures.written([row[1][:60] for row in rows]))
    alt = "Where each rank stands: " + "; ".join(f"{row[0]} {row[2]} {row[1]}" for row in rows)
    top = 2.5 * max(10.0, *values)
    x = figures.numbers("times it gave up its core between two looks", high=top)
    return figures.frame([bars], alt=alt, rows=len(rows), x=x, y=figures.names(labels))


PROBE = Probe(
    id="stack-dump",
    title="Stacks of the ranks",
    group="Ranks and hosts",
    question="Where does every rank stand, and does it get on between two looks?",
    price_min=5,
    stops_job=False,
    parameters={},
    experiment=_hang.on_hang,
    findings={
        "moving": "Every rank gets on between the two looks; nothing hangs.",
        "all-in-one-place": "No rank gets on, and all stand in the same place of the script.",
        "ranks-apart": "Ranks that do not get on stand in different places of the script.",
        "one-works-others-wait": "At least one rank works on while the others stand together and wait for it.",
        "ranks-gone": "At least one rank has no process any more, so that nothing of it can be dumped.",
        "inconclusive": "Between the two looks some ranks moved so little that they may or may not hang.",
    },
    decisive=(
        Decisive("gone_ranks", "linear"),
        Decisive("still_ranks", "linear"),
        Decisive("moving_ranks", "linear"),
        Decisive("unclear_ranks", "linear"),
        Decisive("odd_ranks", "linear"),
    ),
    deterministic=False,
    tells=("hang",),
    read=read,
    classify=classify,
    figure=figure,
    on_nccl=(
        "py-spy dump --pid of every rank (--native adds C++ frames); faulthandler.register on a signal costs nothing "
        "and needs no right to trace, and TORCH_FR_CPP_STACK=1 puts C++ frames into the Flight Recorder. "
        "Kernels are "
        "launched without waiting, so a rank stands where it first needs a result (loss.item(), a barrier, "
        "cudaStreamSynchronize), often a collective or more after the one that hangs; gloo blocks in the very call, so "
        "here the line is exact. A spinning GPU shows 100 % utilisation while it waits inside NCCL. Look twice: one "
        "dump cannot tell a slow rank from a hanging one. For the device side, cuda-gdb or "
        "CUDA_ENABLE_USER_TRIGGERED_COREDUMP gives the kernels in flight."
    ),
)
