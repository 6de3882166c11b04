"""What the stored runs say: does each fault show where it should, and leave alone what it should. Pure.

A faulted run *separates* when the finding is neither the healthy one nor inconclusive. The healthy finding of a
variant is the one that most healthy runs of the same setting gave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from gpu_worker.matrix.readings import Taken, Unreadable, variants_reading
from gpu_worker.matrix.store import Failed
from gpu_worker.matrix.trials import Pair, in_launch
from gpu_worker.probes import PROBES
from gpu_worker.probes.base import INCONCLUSIVE
from gpu_worker.specs import ExperimentSpec, parse_key

IN_TWENTY = 19 / 20
FALSE_FINDINGS_LIMIT = 0.01
INCONCLUSIVE_LIMIT = 0.05
UNREADABLE = "unreadable"

Get = Callable[[ExperimentSpec], Taken | Failed | None]


@dataclass(frozen=True)
class Observed:
    """What one variant of a step read in one run: its finding, and the readings that decided it."""

    finding: str
    decisive: Mapping[str, float]


@dataclass(frozen=True)
class Side:
    """All runs of one spec as one variant reads them. `failures` are the reasons of runs that gave no measurement."""

    observed: Mapping[int, Observed | None]  # by launch; None where it failed
    failures: tuple[str, ...] = ()

    @property
    def finding(self) -> str:
        """The finding of most runs; empty where there is none."""
        counted = Counter(one.finding for one in self.observed.values() if one)
        return counted.most_common(1)[0][0] if counted else ""

    def middle(self, reading: str) -> float | None:
        """The median of a decisive reading."""
        values = [one.decisive[reading] for one in self.observed.values() if one and reading in one.decisive]
        return median(values) if values else None


@dataclass(frozen=True)
class Cell:
    """One fault and one variant, held against the healthy runs of the same setting. `by_launch`: did it hold?"""

    pair: Pair
    healthy: Side
    faulted: Side
    by_launch: Mapping[int, bool]

    @property
    def runs(self) -> int:
        return len(self.by_launch)

    @property
    def held(self) -> int:
        return sum(self.by_launch.values())

    @property
    def holds(self) -> bool:
        return self.runs > 0 and bool(self.healthy.finding) and self.held >= IN_TWENTY * self.runs

    @property
    def reading(self) -> str:
        """The decisive reading that the fault moves most."""
        return max((d.reading for d in PROBES[parse_key(self.pair.variant)[0]].decisive), key=self._moved)

    @property
    def effect(self) -> float | None:
        """Faulted over healthy of that reading; None where the healthy one is zero or either is not known."""
        before, after = self.healthy.middle(self.reading), self.faulted.middle(self.reading)
        return after / before if before and after is not None else None

    def _moved(self, reading: str) -> float:
        scale = next(d for d in PROBES[parse_key(self.pair.variant)[0]].decisive if d.reading == reading)
        before, after = self.healthy.middle(reading), self.faulted.middle(reading)
        if before is None or after is None:
            return 0.0
        return abs(scale.to_scale(after) - scale.to_scale(before))


@dataclass(frozen=True)
class FaultVerdict:
    """One fault over all its cells. `separated` counts launches in which at least one step showed it."""

    id: str
    shows: tuple[Cell, ...]
    spares: tuple[Cell, ...]
    runs: int
    separated: int

    @property
    def declared(self) -> bool:
        return bool(self.shows)

    @property
    def holds(self) -> bool:
        shown = self.runs > 0 and self.separated >= IN_TWENTY * self.runs
        return self.declared and shown and all(cell.holds for cell in self.spares)


@dataclass(frozen=True)
class Pool:
    """Every probe on every healthy run of the matrix, configuration reads left out: they cannot err by chance."""

    readings: int
    false: Mapping[str, int]  # by variant: another finding than the healthy one
    inconclusive: Mapping[str, int]
    unreadable: Mapping[str, int]

    @property
    def false_share(self) -> float:
        return sum(self.false.values()) / max(1, self.readings)

    @property
    def inconclusive_share(self) -> float:
        return sum(self.inconclusive.values()) / max(1, self.readings)

    @property
    def holds(self) -> bool:
        """Within both limits, with nothing unreadable and something read."""
        within = self.false_share <= FALSE_FINDINGS_LIMIT and self.inconclusive_share <= INCONCLUSIVE_LIMIT
        return self.readings > 0 and within and not self.unreadable


@dataclass(frozen=True)
class Matrix:
    faults: tuple[FaultVerdict, ...]
    healthy: Pool

    @property
    def holds(self) -> bool:
        return all(fault.holds for fault in self.faults) and self.healthy.holds


def judge(ids: Sequence[str], wanted: Sequence[Pair], runs: int, get: Get) -> Matrix:
    """Reads the stored runs of `runs` launches. What was not run counts neither way, and nothing holds without runs."""
    return Matrix(
        faults=tuple(_fault(id, [pair for pair in wanted if pair.fault == id], runs, get) for id in ids),
        healthy=pool([pair.healthy for pair in wanted], runs, get),
    )


def pool(healthy: Iterable[ExperimentSpec], runs: int, get: Get) -> Pool:
    """Every measuring probe that reads a healthy spec's experiment, on each of its runs."""
    readings, false, unclear, unreadable = 0, Counter[str](), Counter[str](), Counter[str]()
    for spec in {one.model_dump_json(by_alias=True): one for one in healthy}.values():
        taken = [run for n in range(runs) if isinstance(run := get(in_launch(spec, n)), Taken)]
        for variant in measuring_variants(spec.key):
            found = [one.finding for run in taken if (one := _observed(run, variant))]
            usual = Counter(found).most_common(1)[0][0] if found else ""
            readings += len(found)
            false[variant] += sum(one not in (usual, INCONCLUSIVE, UNREADABLE) for one in found)
            unclear[variant] += found.count(INCONCLUSIVE)
            unreadable[variant] += found.count(UNREADABLE)
    return Pool(readings, +false, +unclear, +unreadable)


def measuring_variants(key: str) -> list[str]:
    """Variants of all steps that read the experiment of this key, configuration reads left out."""
    return [variant for variant in variants_reading(key) if not PROBES[parse_key(variant)[0]].deterministic]


def _fault(id: str, own: Sequence[Pair], runs: int, get: Get) -> FaultVerdict:
    cells = [_cell(pair, runs, get) for pair in own]
    shows = tuple(cell for cell in cells if cell.pair.role == "shows")
    # A launch counts once all its runs are there: an interrupted matrix judges what it has.
    complete = set.intersection(*(set(cell.by_launch) for cell in shows)) if shows else set()
    separated = sum(any(cell.by_launch[n] for cell in shows) for n in complete)
    return FaultVerdict(id, shows, tuple(c for c in cells if c.pair.role == "spares"), len(complete), separated)


def _cell(pair: Pair, runs: int, get: Get) -> Cell:
    healthy, faulted = _side(pair.healthy, pair.variant, runs, get), _side(pair.faulted, pair.variant, runs, get)
    spared = {healthy.finding, INCONCLUSIVE}  # an inconclusive reading accuses nobody, and shows nothing either
    not_shown = spared | {UNREADABLE}
    by_launch = {
        number: one is not None and (one.finding not in not_shown if pair.role == "shows" else one.finding in spared)
        for number, one in faulted.observed.items()
    }
    return Cell(pair, healthy, faulted, by_launch)


def _side(spec: ExperimentSpec, variant: str, runs: int, get: Get) -> Side:
    observed: dict[int, Observed | None] = {}
    failures = []
    for number in range(runs):
        run = get(in_launch(spec, number))
        if isinstance(run, Failed):
            observed[number] = None
            failures.append(run.reason)
        elif run and (one := _observed(run, variant)):
            observed[number] = one
    return Side(observed, tuple(failures))


def _observed(run: Taken, variant: str) -> Observed | None:
    """None where this variant of the run is not known."""
    try:
        values = run.decisive(variant)
    except Unreadable:
        return Observed(UNREADABLE, {})
    return None if values is None else Observed(PROBES[parse_key(variant)[0]].classify(values), values)
