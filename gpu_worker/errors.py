"""What can go wrong in the lab, as types. Each carries `reason`: one sentence for a person."""

from __future__ import annotations


class LabError(Exception):
    """Any failure of an experiment; `reason` says what happened and, where there is one, the repair."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __reduce__(self) -> tuple[type[LabError], tuple[str]]:
        return (type(self), (self.reason,))


class BadSpec(LabError):
    """The spec asks for something that does not exist or is out of bounds; nothing was run."""


class LabUnavailable(LabError):
    """This machine cannot run the lab, or another experiment holds it."""


class FaultDidNotFire(LabError):
    """The run shows no proof that its fault really happened; its readings are void."""


class RunDisturbed(LabError):
    """Too much processor time went elsewhere while the run measured; its readings are void."""


class RunFailed(LabError):
    """The run ended without a result: a rank died, or the deadline passed."""
