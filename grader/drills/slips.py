"""Mistakes by name. One id a mistake, so that a person can be told which of them they make again and again."""

from __future__ import annotations

from grader.drills.base import Slip

# id: (name, what to do instead). A drill may say the second in words of its own.
NAMED: dict[str, tuple[str, str]] = {
    "bits-for-bytes": (
        "Bits for bytes",
        "A rate in b/s carries bits, an amount in B is bytes: a factor of 8 lies between.",
    ),
    "gib-for-gb": (
        "GiB taken for GB",
        "A GiB is 2³⁰ bytes, 7.4 % more than a GB; a MiB is 4.9 % more than a MB.",
    ),
    "prefix": ("A prefix off", "The digits are right and a prefix is not: it is a thousand, or a million, times off."),
    "ring-factor": (
        "2(n−1)/n forgotten",
        "An all-reduce sends 2(n−1)/n of the array over each link, not the array once.",
    ),
    "one-way-for-both": (
        "One way for both",
        "The whole has two halves (reduce and gather, forward and backward, there and back); one of them was counted.",
    ),
    "both-for-one-way": ("Both ways for one", "Only one half is asked for; both were counted."),
    "per-rank-for-total": ("Per rank against in total", "What one rank has and what all have together differ by n."),
    "total-for-per-rank": ("In total against per rank", "What all have together and what one rank has differ by n."),
    "upside-down": ("Upside down", "The ratio is turned round: ask which of the two has to be the smaller."),
    "precision": ("BF16 taken for FP32, or the reverse", "BF16 has two bytes a number, FP32 four."),
    "world-for-data-parallel": (
        "All ranks for data-parallel ranks",
        "Ranks that share a model replica read the same samples: divide the world by tensor and pipeline first.",
    ),
    "step-left-out": ("A step left out", "What is given had to be turned into what the formula takes first."),
    "other-definition": ("Another definition", "That is a true number, of something that is defined otherwise."),
    "averaged": ("Averaged", "Those who wait for each other run at the pace of the slowest, not at the average."),
    "latency-left-out": ("Latency left out", "Every round pays latency too, and for small messages it is most."),
    "gradients-saved": ("Gradients saved", "A checkpoint holds no gradients: the next step makes them again."),
    "weights-alone": ("Weights alone", "The optimizer's state is most of it: 12 bytes a parameter with Adam."),
    "linear-chance": ("Chances added up", "Chances of independent events do not add up: it is 1−(1−p)ⁿ."),
    "root": ("The 2 in the root", "The best interval is √(2·MTBF·save)."),
}


def slip(id: str, value: float, told: str = "") -> Slip:
    """A named mistake with the answer that it gives here."""
    name, usual = NAMED[id]
    return Slip(id, name, told or usual, float(value))


def bits_for_bytes(answer: float, times: float = 8.0) -> Slip:
    """The answer without the factor of 8, or with one too many: pass 1/8 for the former."""
    return slip("bits-for-bytes", answer * times)
