"""What saving costs, how often to save, and what failures take."""

from __future__ import annotations

from grader import physics
from grader.quantities.base import Argument, Quantity, Result
from grader.quantities.memory import OPTIMIZER_BYTES, WEIGHT_BYTES
from grader.quantities.transformers import PARAMS

MTBF = Argument("mtbf", "time", "mean time between failures of the whole job")
SAVE = Argument("save", "time", "that the job stops for a save")
RESTART = Argument("restart", "time", "from a failure to training again, lost work apart", may_be_zero=True)

CHECKPOINT_SIZE = Quantity(
    id="checkpoint-size",
    title="Bytes of a checkpoint",
    formula="(2 + 12)Ψ: weights in BF16, FP32 master copy and Adam's two moments",
    source="ZeRO (Rajbhandari et al. 2020) for bytes a parameter, less the gradients, which are not saved",
    compute=physics.checkpoint_size,
    arguments=(PARAMS, WEIGHT_BYTES, OPTIMIZER_BYTES),
    results=(Result("size", "data", "of all ranks together"),),
    example="params=70B",
)

CHECKPOINT_PAUSE = Quantity(
    id="checkpoint-pause",
    title="How long a blocking save stops the job",
    formula="size / min(writers·writer_rate, storage_rate)",
    source="conservation of bytes: the slower side sets the pace",
    compute=physics.checkpoint_pause,
    arguments=(
        Argument("size", "data", "of the whole checkpoint"),
        Argument("writers", "count", "that write at once; 1 where all is gathered to rank 0"),
        Argument("writer_rate", "rate", "of each writer"),
        Argument("storage_rate", "rate", "of the storage in all"),
    ),
    results=(
        Result("time", "time", "of the pause", "time_s"),
        Result("limited_by", "word", "sets it", "limited_by"),
    ),
    example="size=980GB writers=128 writer_rate=2GB/s storage_rate=100GB/s",
)

YOUNG_DALY = Quantity(
    id="young-daly",
    title="How much work between saves loses least",
    formula="√(2·MTBF·save)",
    source="Young 1974; Daly 2006 is the next order",
    compute=physics.young_daly,
    arguments=(MTBF, SAVE),
    results=(Result("interval", "time", "of work between saves, the save not counted"),),
    example="mtbf=7.9h save=40s",
    note="Good while a save is far shorter than the time between failures.",
)

AVAILABILITY_INTERVAL = Quantity(
    id="availability-interval",
    title="From save to save, for the most availability",
    formula="save + √(2(mtbf + restart)·save + save²)",
    source="arXiv 2410.18124",
    compute=physics.availability_interval,
    arguments=(MTBF, SAVE, RESTART),
    results=(Result("interval", "time", "from save to save, the save included"),),
    example="mtbf=7.9h save=40s restart=10min",
)

CLUSTER_MTBF = Quantity(
    id="cluster-mtbf",
    title="Mean time between failures of a larger job",
    formula="reference_mtbf · reference_gpus / gpus",
    source="independent failures at one rate each: rates add up",
    compute=physics.cluster_mtbf,
    arguments=(
        Argument("gpus", "count", "of the job"),
        Argument("reference_gpus", "count", "of the job that was measured"),
        Argument("reference_mtbf", "time", "that was measured"),
    ),
    results=(Result("mtbf", "time", "of the job"),),
    example="gpus=16384 reference_gpus=1024 reference_mtbf=7.9h",
    note="Published projections need not follow it: they count other failures, and repairs.",
)

CHECKPOINT_OVERHEAD = Quantity(
    id="checkpoint-overhead",
    title="Share of time that checkpoints and failures take",
    formula="save/interval + (interval/2 + restart)/mtbf",
    source="the first order of Young 1974: half an interval of work is done again",
    compute=physics.checkpoint_overhead,
    arguments=(
        Argument("save", "time", "that the job stops for a save; 0 s where it goes on", may_be_zero=True),
        Argument("interval", "time", "from save to save"),
        MTBF,
        RESTART,
    ),
    results=(
        Result("lost_share", "ratio", "of the time is lost", "share"),
        Result("save_share", "ratio", "to saving", "save_share"),
        Result("failure_share", "ratio", "to work done again and restarts", "failure_share"),
    ),
    example="save=40s interval=3h mtbf=7.9h restart=10min",
    note="Only good while the shares are far below one.",
)
