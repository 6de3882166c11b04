"""What saving costs, how often to save, and what failures take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from grader.physics.numbers import Values, more_than_zero, plain, whole, zero_or_more


@dataclass(frozen=True)
class CheckpointPause:
    """Seconds of a blocking save, and which side sets them (`writers` or `storage`)."""

    time_s: Values
    limited_by: Values


@dataclass(frozen=True)
class CheckpointOverhead:
    """Share of time lost to saving, to work done again and restarts, and to both."""

    share: Values
    save_share: Values
    failure_share: Values


def checkpoint_size(params: ArrayLike, weight_bytes: ArrayLike = 2, optimizer_bytes: ArrayLike = 12) -> Values:
    """Bytes of (2 + 12)Ψ: weights in BF16, an FP32 master copy and Adam's two moments. Gradients are not saved."""
    each = more_than_zero("weight_bytes", weight_bytes) + zero_or_more("optimizer_bytes", optimizer_bytes)
    return more_than_zero("params", params) * each


def checkpoint_pause(
    size_bytes: ArrayLike,
    writers: ArrayLike,
    writer_rate_bits_per_s: ArrayLike,
    storage_rate_bits_per_s: ArrayLike,
) -> CheckpointPause:
    """size over the smaller of the writers' rates together and the storage's. A gather to rank 0 has one writer."""
    written = whole("writers", writers) * more_than_zero("writer_rate_bits_per_s", writer_rate_bits_per_s)
    stored = more_than_zero("storage_rate_bits_per_s", storage_rate_bits_per_s)
    time_s = more_than_zero("size_bytes", size_bytes) * 8 / plain(np.minimum(written, stored))
    return CheckpointPause(time_s, plain(np.where(np.asarray(written) < stored, "writers", "storage")))


def young_daly(mtbf_s: ArrayLike, save_s: ArrayLike) -> Values:
    """√(2·MTBF·save), seconds of work between saves; good while a save is far shorter than the MTBF (Young 1974)."""
    return plain(np.sqrt(2 * more_than_zero("mtbf_s", mtbf_s) * more_than_zero("save_s", save_s)))


def availability_interval(mtbf_s: ArrayLike, save_s: ArrayLike, restart_s: ArrayLike) -> Values:
    """save + √(2(mtbf + restart)·save + save²), seconds from save to save, the save included (arXiv 2410.18124)."""
    mtbf, save = more_than_zero("mtbf_s", mtbf_s), more_than_zero("save_s", save_s)
    return save + plain(np.sqrt(2 * (mtbf + zero_or_more("restart_s", restart_s)) * save + save**2))


def cluster_mtbf(gpus: ArrayLike, reference_gpus: ArrayLike, reference_mtbf_s: ArrayLike) -> Values:
    """Inverse in the number of parts, seconds: parts that fail on their own, at one rate, each ending the job."""
    parts = whole("gpus", gpus) / whole("reference_gpus", reference_gpus)
    return more_than_zero("reference_mtbf_s", reference_mtbf_s) / parts


def checkpoint_overhead(
    save_s: ArrayLike, interval_s: ArrayLike, mtbf_s: ArrayLike, restart_s: ArrayLike
) -> CheckpointOverhead:
    """save/interval + (interval/2 + restart)/mtbf, to first order: shares far below one add up, larger ones do not.

    A failure costs on average half an interval of work and a restart.
    """
    save, interval = zero_or_more("save_s", save_s), more_than_zero("interval_s", interval_s)
    saving = save / interval
    failing = (interval / 2 + zero_or_more("restart_s", restart_s)) / more_than_zero("mtbf_s", mtbf_s)
    return CheckpointOverhead(saving + failing, saving, failing)
