"""Drills about saving: what it costs, how often, and what failures take."""

from __future__ import annotations

import math

from grader.drills.base import DAY_S, Law, Sketch, figures
from grader.drills.picking import Pick
from grader.drills.slips import bits_for_bytes, slip
from grader.drills.template import template
from grader.quantities.checkpoints import (
    AVAILABILITY_INTERVAL,
    CHECKPOINT_OVERHEAD,
    CHECKPOINT_PAUSE,
    CHECKPOINT_SIZE,
    CLUSTER_MTBF,
    YOUNG_DALY,
)
from grader.units import format_quantity as say

TITLE = "Checkpoints and failures"
SAVED = "BF16 weights and Adam's state, an FP32 copy with two moments"
HOUR_S = 3600.0


@template(CHECKPOINT_SIZE, 1)
def size_direct(pick: Pick, law: Law) -> Sketch:
    params = pick.billions(1, 3, 7, 8, 13, 30, 34, 70, 175, 405)
    size = law(params=params)["size"]
    return Sketch(
        f"A checkpoint of {params} parameters holds {SAVED}. How large is it?",
        "data",
        size,
        (
            "Two bytes of weight, twelve of optimizer state: 14 bytes a parameter. Gradients are not saved.",
            f"14 · {params} = {say(size, 'data')}.",
        ),
        (
            slip("gradients-saved", params * 16),
            slip("weights-alone", params * 2),
            slip("other-definition", params * 12, "That is the optimizer's state without the weights."),
        ),
    )


@template(CHECKPOINT_SIZE, 2)
def shard_direct(pick: Pick, law: Law) -> Sketch:
    params, ranks = pick.billions(7, 13, 34, 70, 180, 405), pick.count(64, 128, 256, 512, 1024)
    size = law(params=params)["size"]
    return Sketch(
        f"{ranks} ranks each write an equal shard of a checkpoint of {params} parameters: {SAVED}. "
        "How much does a rank write?",
        "data",
        size / ranks,
        (
            f"The whole checkpoint: 14 · {params} = {say(size, 'data')}.",
            f"Divided among {ranks} ranks: {say(size / ranks, 'data')}.",
        ),
        (
            slip("per-rank-for-total", size, "That is the whole checkpoint; each rank writes its shard."),
            slip("gradients-saved", params * 16 / ranks),
            slip("weights-alone", params * 2 / ranks),
        ),
    )


@template(CHECKPOINT_SIZE, 3)
def parameters_that_fit(pick: Pick, law: Law) -> Sketch:
    params, kept = pick.hide(pick.billions(5, 10, 20, 50, 100, 200)), pick.count(2, 3, 4, 5)
    quota = pick.told("data", law(params=params)["size"] * kept)
    return Sketch(
        f"The storage has room for {quota}, and {kept} whole checkpoints shall always lie there: {SAVED}. "
        "How many parameters may the model have?",
        "count",
        params,
        (
            f"One checkpoint may have {quota} / {kept} = {say(quota / kept, 'data')}.",
            f"At 14 bytes a parameter: {say(params, 'count')} parameters.",
        ),
        (
            slip("gradients-saved", quota / kept / 16),
            slip("weights-alone", quota / kept / 2),
            slip("step-left-out", quota / 14, "Several checkpoints share the room."),
        ),
    )


@template(CHECKPOINT_PAUSE, 1)
def pause_direct(pick: Pick, law: Law) -> Sketch:
    size, writers = pick.data("GB", 100, 200, 420, 980, 2300), pick.count(8, 16, 64, 128)
    writer_rate, storage_rate = pick.rate("GB/s", 1, 2, 2.5), pick.rate("GB/s", 20, 50, 100)
    found = law(size=size, writers=writers, writer_rate=writer_rate, storage_rate=storage_rate)
    time, written = found["time"], writers * writer_rate
    return Sketch(
        f"{writers} ranks save a checkpoint of {size} together, each at up to {writer_rate}; the storage takes "
        f"{storage_rate} in all. How long does the save stop the job?",
        "time",
        time,
        (
            f"The writers could send {writers} · {writer_rate} = {written / 8e9:.4g} GB/s.",
            f"The storage takes {storage_rate}; the slower side, the {found['limited_by']}, sets the pace.",
            f"{size} over {min(written, storage_rate) / 8e9:.4g} GB/s: {say(time, 'time')}.",
        ),
        (
            slip("averaged", size * 8 / max(written, storage_rate), "That is the faster side; the slower one decides."),
            slip("per-rank-for-total", size * 8 / writer_rate, "All ranks write at once."),
            slip("other-definition", size * 8 / (written + storage_rate), "Two sides of one flow do not add up."),
            bits_for_bytes(time),
        ),
    )


@template(CHECKPOINT_PAUSE, 2)
def pause_of_parameters(pick: Pick, law: Law) -> Sketch:
    params, writers = pick.billions(7, 13, 34, 70, 180), pick.count(16, 64, 128, 256)
    writer_rate, storage_rate = pick.rate("GB/s", 0.5, 1, 2), pick.rate("Gb/s", 200, 400, 800, 1600)
    size = figures(CHECKPOINT_SIZE, params=params)["size"]
    found = law(size=size, writers=writers, writer_rate=writer_rate, storage_rate=storage_rate)
    time = found["time"]
    other = size * 8 / max(writers * writer_rate, storage_rate)
    return Sketch(
        f"A sharded save of {params} parameters ({SAVED}) is written by {writers} ranks at up to {writer_rate} each, "
        f"over a network that carries {storage_rate} to the storage in all. How long does it take?",
        "time",
        time,
        (
            f"14 bytes a parameter: {say(size, 'data')}.",
            f"Writers: {say(writers * writer_rate, 'rate')}. Network: {storage_rate}. The slower of the two decides.",
            f"{say(size, 'data')} are {size * 8 / 1e9:.4g} Gb: {say(time, 'time')}.",
        ),
        (
            slip("averaged", other, "That is the faster side; the slower one decides."),
            bits_for_bytes(time, 1 / 8),
            bits_for_bytes(time),
            slip("gradients-saved", time * 16 / 14),
            slip("weights-alone", time / 7),
        ),
    )


@template(CHECKPOINT_PAUSE, 3)
def storage_needed(pick: Pick, law: Law) -> Sketch:
    size, writers = pick.data("GB", 420, 980, 2300, 5600), pick.count(128, 256, 512)
    storage_rate = pick.hide(pick.rate("GB/s", 10, 20, 40, 50, 80, 100))
    found = law(size=size, writers=writers, writer_rate=16e9, storage_rate=storage_rate)
    time = pick.told("time", found["time"])
    return Sketch(
        f"{writers} ranks can write 2 GB/s each. A checkpoint of {size} shall stop the job for at most {time}. "
        "What rate does the storage have to take in all?",
        "rate",
        storage_rate,
        (
            f"The writers can do {writers * 2:.0f} GB/s: they are not what limits it.",
            f"{size} in {time}: {storage_rate / 8e9:.4g} GB/s.",
        ),
        (
            bits_for_bytes(storage_rate, 1 / 8),
            slip("other-definition", writers * 16e9, "That is what the writers can do; less is needed."),
            slip("total-for-per-rank", storage_rate / writers, "That is what one writer needs."),
        ),
    )


@template(YOUNG_DALY, 1)
def interval_direct(pick: Pick, law: Law) -> Sketch:
    mtbf, save = pick.time("h", 2, 4, 6, 8, 12, 24, 48), pick.time("s", 10, 20, 30, 40, 60, 90, 120)
    interval = law(mtbf=mtbf, save=save)["interval"]
    return Sketch(
        f"A job fails every {mtbf} on average; a save stops it for {save}. By Young's rule, how much work should lie "
        "between two saves?",
        "time",
        interval,
        (
            f"√(2 · MTBF · save) = √(2 · {float(mtbf):.0f} s · {save}).",
            f"That is {interval:.4g} s, {say(interval, 'time')}.",
        ),
        (
            slip("root", interval / math.sqrt(2)),
            slip("root", interval * math.sqrt(2), "The root takes 2·MTBF·save, not four times it."),
            slip("step-left-out", math.sqrt(2 * mtbf / HOUR_S * save), "Hours and seconds under one root: turn both."),
        ),
    )


@template(YOUNG_DALY, 2)
def interval_of_a_larger_job(pick: Pick, law: Law) -> Sketch:
    reference, gpus = pick.count(256, 512, 1024), pick.count(2048, 4096, 8192, 16384)
    measured, save = pick.time("h", 8, 12, 24, 48, 72), pick.time("s", 20, 30, 40, 60, 90)
    mtbf = figures(CLUSTER_MTBF, gpus=gpus, reference_gpus=reference, reference_mtbf=measured)["mtbf"]
    interval = law(mtbf=mtbf, save=save)["interval"]
    unscaled = figures(YOUNG_DALY, mtbf=measured, save=save)["interval"]
    return Sketch(
        f"Jobs of {reference} GPUs fail every {measured} on average. One of {gpus} GPUs, whose parts fail as often, "
        f"stops {save} for a save. How much work should lie between saves, by Young's rule?",
        "time",
        interval,
        (
            f"MTBF shrinks with the number of parts: {measured} · {reference}/{gpus} = {say(mtbf, 'time')}.",
            f"√(2 · {mtbf:.0f} s · {save}) = {say(interval, 'time')}.",
        ),
        (
            slip("step-left-out", unscaled, "A larger job fails more often: scale the MTBF first."),
            slip("root", interval / math.sqrt(2)),
            slip("upside-down", unscaled**2 / interval, "More parts fail more often, not less."),
        ),
    )


@template(YOUNG_DALY, 3)
def save_that_fits_an_interval(pick: Pick, law: Law) -> Sketch:
    mtbf, save = pick.time("h", 3, 4, 6, 8, 12, 24), pick.hide(pick.time("s", 10, 20, 30, 45, 60, 90))
    interval = pick.told("time", law(mtbf=mtbf, save=save)["interval"])
    return Sketch(
        f"A job that fails every {mtbf} saves after every {interval} of work. For how long a save is that the best "
        "interval, by Young's rule?",
        "time",
        save,
        (
            "interval = √(2 · MTBF · save), so save = interval² / (2 · MTBF).",
            f"({float(interval):.4g} s)² / (2 · {float(mtbf):.0f} s) = {say(save, 'time')}.",
        ),
        (
            slip("root", save * 2, "The root takes twice the product: divide by 2·MTBF."),
            slip("root", save / 2, "Divide by 2·MTBF once."),
        ),
    )


@template(AVAILABILITY_INTERVAL, 1)
def availability_direct(pick: Pick, law: Law) -> Sketch:
    mtbf, save = pick.time("h", 0.5, 1, 2, 4, 8), pick.time("s", 60, 120, 180, 300)
    restart = pick.time("min", 10, 15, 30)
    interval = law(mtbf=mtbf, save=save, restart=restart)["interval"]
    young = figures(YOUNG_DALY, mtbf=mtbf, save=save)["interval"]
    return Sketch(
        f"A job fails every {mtbf} on average, a save stops it for {save}, and a restart takes {restart}. Which "
        "interval from save to save, the save included, gives the most availability?",
        "time",
        interval,
        (
            "save + √(2·(mtbf + restart)·save + save²), all in seconds.",
            f"{save} + √(2 · {mtbf + restart:.0f} s · {save} + ({save})²) = {say(interval, 'time')}.",
        ),
        (
            slip("other-definition", young, "That is Young's interval: work alone, and no restart in it."),
            slip("step-left-out", interval - save, "From save to save the save itself counts too."),
            slip("root", save + (interval - save) / math.sqrt(2)),
        ),
    )


@template(AVAILABILITY_INTERVAL, 2)
def availability_of_a_size(pick: Pick, law: Law) -> Sketch:
    size, rate = pick.data("TB", 1, 2, 4, 8), pick.rate("GB/s", 10, 20, 25, 40)
    mtbf, restart = pick.time("h", 1, 2, 3, 6, 12), pick.time("min", 5, 10, 20)
    save = size * 8 / rate
    interval = law(mtbf=mtbf, save=save, restart=restart)["interval"]
    return Sketch(
        f"A blocking save of {size} goes to storage that takes {rate}. The job fails every {mtbf}, a restart takes "
        f"{restart}. Which interval from save to save, the save included, gives the most availability?",
        "time",
        interval,
        (
            f"A save takes {size} / {rate} = {say(save, 'time')}.",
            f"save + √(2·({mtbf + restart:.0f} s)·{say(save, 'time')} + save²) = {say(interval, 'time')}.",
        ),
        (
            bits_for_bytes(figures(AVAILABILITY_INTERVAL, mtbf=mtbf, save=save * 8, restart=restart)["interval"], 1),
            bits_for_bytes(figures(AVAILABILITY_INTERVAL, mtbf=mtbf, save=save / 8, restart=restart)["interval"], 1),
            slip("other-definition", figures(YOUNG_DALY, mtbf=mtbf, save=save)["interval"], "That is Young's."),
            slip("step-left-out", interval - save, "From save to save the save itself counts too."),
        ),
    )


@template(AVAILABILITY_INTERVAL, 3)
def failures_that_fit_an_interval(pick: Pick, law: Law) -> Sketch:
    mtbf = pick.hide(pick.time("h", 2, 3, 4, 5, 6, 8, 10, 12))
    save = pick.time("s", 30, 60, 90, 120)
    interval = pick.told("time", law(mtbf=mtbf, save=save, restart=0)["interval"])
    return Sketch(
        f"Saves of {save} are best taken every {interval}, the save included, when restarts cost next to nothing. "
        "For which mean time between failures was that computed?",
        "time",
        mtbf,
        (
            "(interval − save)² = 2·mtbf·save + save².",
            f"mtbf = ({interval - save:.4g}² − {float(save):.0f}²) / (2 · {float(save):.0f}) s = {say(mtbf, 'time')}.",
        ),
        (
            slip("step-left-out", interval**2 / (2 * save), "Take the save off the interval first."),
            slip("root", (interval - save) ** 2 / save, "The root takes 2·mtbf·save: divide by two saves."),
        ),
    )


@template(CLUSTER_MTBF, 1)
def mtbf_of_a_larger_job(pick: Pick, law: Law) -> Sketch:
    reference, gpus = pick.count(256, 512, 1024), pick.count(2048, 4096, 8192, 16384)
    measured = pick.time("h", 8, 12, 24, 36, 48)
    mtbf = law(gpus=gpus, reference_gpus=reference, reference_mtbf=measured)["mtbf"]
    return Sketch(
        f"A job of {reference} GPUs fails every {measured} on average. If parts fail on their own and equally often, "
        f"what is the mean time between failures of {gpus} GPUs?",
        "time",
        mtbf,
        (
            "Rates of failure add up, so the time is inverse in the number of parts.",
            f"{measured} · {reference}/{gpus} = {say(mtbf, 'time')}.",
        ),
        (
            slip("upside-down", measured * gpus / reference, "More parts fail more often."),
            slip("root", measured * math.sqrt(reference / gpus), "Inverse in the number, not in its root."),
        ),
    )


@template(CLUSTER_MTBF, 2)
def mtbf_from_interruptions(pick: Pick, law: Law) -> Sketch:
    days, failures = pick.time("d", 20, 30, 54, 60), pick.count(40, 60, 90, 120, 180)
    reference, gpus = pick.count(1024, 2048, 4096), pick.count(512, 8192, 16384, 24576)
    mtbf = law(gpus=gpus, reference_gpus=reference, reference_mtbf=days / failures)["mtbf"]
    return Sketch(
        f"In {days} a job of {reference} GPUs was interrupted {failures} times. What mean time between failures would "
        f"{gpus} such GPUs have?",
        "time",
        mtbf,
        (
            f"{days} / {failures} = {say(days / failures, 'time')} between failures.",
            f"Times {reference}/{gpus}: {say(mtbf, 'time')}.",
        ),
        (
            slip("step-left-out", days / failures, "That is the job that was watched; the other has other parts."),
            slip("upside-down", days / failures * gpus / reference, "More parts fail more often."),
            slip("step-left-out", days * reference / gpus, "Divide by the number of failures."),
        ),
    )


@template(CLUSTER_MTBF, 3)
def gpus_for_an_mtbf(pick: Pick, law: Law) -> Sketch:
    reference, measured = pick.count(512, 1024, 2048), pick.time("h", 12, 24, 48, 60)
    gpus = pick.hide(pick.count(4096, 6144, 8192, 12288, 16384))
    least = pick.told("time", law(gpus=gpus, reference_gpus=reference, reference_mtbf=measured)["mtbf"])
    return Sketch(
        f"Jobs of {reference} GPUs fail every {measured}. A job shall run {least} between failures on average. "
        "About how many such GPUs may it have at most?",
        "count",
        gpus,
        (
            "Time between failures times GPUs stays the same.",
            f"{measured} · {reference} / {least} = {gpus:.0f}.",
        ),
        (
            slip("upside-down", reference * least / measured, "Failing more often allows more parts, not fewer."),
            slip("root", reference * math.sqrt(measured / least), "Inverse in the number, not in its root."),
        ),
    )


@template(CHECKPOINT_OVERHEAD, 1)
def overhead_direct(pick: Pick, law: Law) -> Sketch:
    save, interval = pick.time("s", 20, 30, 60, 120), pick.time("min", 20, 30, 40, 60)
    mtbf, restart = pick.time("h", 6, 8, 12, 24), pick.time("min", 5, 10, 15)
    found = law(save=save, interval=interval, mtbf=mtbf, restart=restart)
    lost = found["lost_share"]
    return Sketch(
        f"A save of {save} every {interval}, a failure every {mtbf} on average, {restart} for a restart. To first "
        "order, which share of the time is lost?",
        "ratio",
        lost,
        (
            f"Saving: {save} / {interval} = {say(found['save_share'], 'ratio')}.",
            f"A failure costs half an interval and a restart: ({interval}/2 + {restart}) / {mtbf} = "
            f"{say(found['failure_share'], 'ratio')}.",
            f"Together {say(lost, 'ratio')}.",
        ),
        (
            slip("step-left-out", found["save_share"], "That is saving alone; failures cost work and a restart."),
            slip("step-left-out", found["failure_share"], "That is failures alone; saves stop the job too."),
            slip("averaged", lost + interval / 2 / mtbf, "On average half an interval is lost, not all of it."),
            slip("step-left-out", lost - restart / mtbf, "A failure costs its restart as well."),
        ),
    )


@template(CHECKPOINT_OVERHEAD, 2)
def lost_of_a_day(pick: Pick, law: Law) -> Sketch:
    size, rate = pick.data("TB", 1, 2, 2.4, 4), pick.rate("GB/s", 20, 40, 50)
    interval, failures = pick.time("min", 30, 45, 60, 90), pick.count(2, 3, 4)
    restart = pick.time("min", 10, 15, 20)
    save, mtbf = size * 8 / rate, DAY_S / failures
    found = law(save=save, interval=interval, mtbf=mtbf, restart=restart)
    lost = found["lost_share"] * DAY_S
    return Sketch(
        f"Every {interval} a blocking save of {size} goes to storage that takes {rate}. The job fails {failures} "
        f"times a day and needs {restart} to restart. How much of a day is lost, to first order?",
        "time",
        lost,
        (
            f"A save takes {size} / {rate} = {say(save, 'time')}; {DAY_S / interval:.3g} a day: "
            f"{say(found['save_share'] * DAY_S, 'time')}.",
            f"A failure costs half an interval and the restart, {say(interval / 2 + restart, 'time')}; "
            f"{failures} a day: {say(found['failure_share'] * DAY_S, 'time')}.",
            f"Together {say(lost, 'time')}.",
        ),
        (
            slip("step-left-out", found["save_share"] * DAY_S, "That is saving alone."),
            slip("step-left-out", found["failure_share"] * DAY_S, "That is failures alone."),
            slip("averaged", lost + failures * interval / 2, "On average half an interval is lost, not all of it."),
            bits_for_bytes(found["failure_share"] * DAY_S + found["save_share"] * DAY_S * 8, 1),
        ),
    )


@template(CHECKPOINT_OVERHEAD, 3)
def shortest_interval(pick: Pick, law: Law) -> Sketch:
    save, most = pick.time("s", 10, 20, 30, 40, 60, 90), pick.percent(0.5, 1, 1.5, 2, 2.5, 4)
    interval = save / most
    law(save=save, interval=interval, mtbf=HOUR_S * 8, restart=0)
    return Sketch(
        f"A save stops the job for {save}. Saving may take {most} of the time and no more. "
        "What is the shortest interval from save to save?",
        "time",
        interval,
        (
            "Saving takes save / interval of the time.",
            f"{save} / {most} = {say(interval, 'time')}.",
        ),
        (
            slip("upside-down", save * (1 - most), "A small share of a long interval is the save: divide."),
            slip("step-left-out", save * 100 * most, "Per cent of the save is not a time between saves."),
        ),
    )
