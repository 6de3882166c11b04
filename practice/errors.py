"""Three kinds of errors, three types: the candidate's slip, a broken scenario, our own fault (anything else)."""

from __future__ import annotations

from collections.abc import Mapping


class Slip(Exception):
    """Something the candidate can mend: shown in place, beside the field it is about; nothing is lost or scored.

    `fields` maps a form field to its sentence; "" is the form as a whole.
    """

    status = 422

    def __init__(self, message: str, field: str = "", *, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.fields = dict(fields or {field: message})


class AttemptClosed(Slip):
    """An order that came after the close."""

    status = 409

    def __init__(self) -> None:
        super().__init__("This attempt is closed: its log takes nothing more. Its scorecard is where it ended.")


class NotNow(Slip):
    """An order that does not fit the attempt's present state: another one has to come first."""

    status = 409


class ScenarioBroken(Exception):
    """The scenario of an attempt cannot be read or answered; the attempt is set aside unharmed."""
