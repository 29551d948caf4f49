"""The errors of a stick: its codes, what each means for a message, and what is raised. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from risala.plugins.contract import (
    Cause,
    HealthState,
    Outcome,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)

UNSUPPORTED: Final = 100002
NO_RIGHTS: Final = 100003
BUSY: Final = 100004
BAD_REQUEST: Final = 100005
SMS_BUSY: Final = 113018
SMS_FULL: Final = 113053
ALREADY_IN: Final = 108003
LOCKED_OUT: Final = 108007
WRONG_PASSWORDS: Final = frozenset({108001, 108002, 108006})
STALE: Final = frozenset({125001, 125002, 125003})
"""The session or its token is no longer good: nothing was done."""
BUSY_S: Final = 5.0

UNNAMED: Final = "The stick wants a password. Set password_env."
UNPROVED: Final = (
    "The stick refuses the user or the password. It is not tried again, since the stick locks "
    "itself after some tries: correct the setting, and restart."
)
LOCKED: Final = "The stick takes no password for some minutes: too many wrong ones were tried."
SOMEBODY: Final = "Somebody else is signed in to the stick; it takes one at a time."


class StickError(Exception):
    """The stick answered with an error.

    Args:
        code: as the stick writes it; a negative one is the status of HTTP.
    """

    def __init__(self, code: int) -> None:
        super().__init__(str(code))
        self.code = code


class LinkError(Exception):
    """A request has no answer. ``text`` is a sentence for the operator."""

    def __init__(self, kind: str, text: str, *, left: bool) -> None:
        super().__init__(kind)
        self.kind = kind
        self.text = text
        self.left = left
        """Whether some of the request may have reached the stick."""


class UnreadyError(Exception):
    """The stick answers, and cannot be used. ``text`` is a sentence for the operator."""

    def __init__(self, state: HealthState, text: str, again_s: float) -> None:
        super().__init__(text)
        self.state = state
        self.text = text
        self.again_s = again_s
        """Seconds until the stick is looked at again."""


_MEANINGS: Final[Mapping[int, Outcome]] = {
    BUSY: Throttled("100004", "The stick is busy.", BUSY_S, Cause.BUSY),
    SMS_BUSY: Throttled("113018", "The stick is busy with another message.", BUSY_S, Cause.BUSY),
    BAD_REQUEST: Refused(
        Scope.CARRIER, "100005", "The stick does not take this number or text.", Cause.UNSUPPORTED
    ),
    SMS_FULL: Refused(
        Scope.NOW, "113053", "The stick's storage is full; nothing was sent.", Cause.DEVICE_FAULT
    ),
    NO_RIGHTS: Unsent("100003"),
}


def outcome_of(fault: StickError | LinkError | UnreadyError) -> Outcome:
    """What a submit came to whose request failed so."""
    if isinstance(fault, UnreadyError):
        return Unsent("")
    if isinstance(fault, LinkError):
        return Uncertain(fault.kind) if fault.left else Unsent(fault.kind, fault.text)
    known = _MEANINGS.get(fault.code)
    if known is not None:
        return known
    if fault.code in STALE:
        return Unsent(str(fault.code))
    if fault.code < 0:
        return Uncertain(f"HTTP {-fault.code}")
    return Refused(Scope.NOW, str(fault.code), cause=Cause.DEVICE_FAULT)
