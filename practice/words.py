"""How ids read on a page, where no other room says it."""

from __future__ import annotations

FAMILIES = {
    "host": "Host",
    "input": "Input",
    "fabric": "Fabric",
    "job": "Job",
    "checkpoint": "Checkpoint",
    "comparison": "Comparison",
}
TRACKS = {"napkin-math": "Napkin math", "stragglers": "Stragglers", "fabric": "Fabric", "checkpoints": "Checkpoints"}
QUANTITIES = {
    "collective-floor": "floor",
    "bytes-on-the-wire": "bytes a rank moves",
    "fraction-of-floor": "fraction of floor, now",
    "checkpoint-bytes": "bytes of a checkpoint",
    "save-time": "least time of a save",
    "save-interval": "interval between saves",
    "lost-work": "work that a failure costs",
    "samples-by-step": "samples read by then",
}
SCALES = {"production": "production", "lab": "this lab"}
VERDICTS = {"at-floor": "at its floor: physics", "below-floor": "below its floor: a fault"}
PARAMETERS = {"size": "Message size", "placement": "Placement", "scope": "Scope"}
CHOICES = {
    "job": "the job’s size",
    "small": "small messages",
    "as-job": "placed as the job is",
    "packed": "packed under one leaf",
    "suspects": "suspects: the job’s own access links",
    "all": "the whole fabric",
}
AGAINST = {"floor": "the floor", "loss": "the loss"}


def parameter(name: str) -> str:
    return PARAMETERS.get(name, name.replace("-", " ").capitalize())


def choice(id: str) -> str:
    return CHOICES.get(id, id.replace("-", " "))


def with_text(with_: dict[str, str]) -> str:
    """A step's parameters in words: `the job's size, placed as the job is`."""
    return ", ".join(choice(with_[name]) for name in sorted(with_, reverse=True))
