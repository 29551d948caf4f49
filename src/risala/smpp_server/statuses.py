"""Refusals of the engine as a ``command_status``: one table for every request of a customer.

The row is that of the refusal's class, else of its base classes. SMPP clients try again after 0x08,
0x14 and 0x58, and give a message up after any other: so these three are for temporary failures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from risala.engine.model.errors import (
    ClassNotPossible,
    Conflict,
    CountryNotOpen,
    Draining,
    EngineError,
    Forbidden,
    InsufficientBalance,
    Invalid,
    NotFound,
    Overloaded,
    RateLimited,
    RecipientOptedOut,
    Refusal,
    SenderNotApproved,
    SpendCapReached,
    Unauthorized,
    Unavailable,
)

ESME_ROK: Final = 0x00
ESME_RINVMSGLEN: Final = 0x01
ESME_RINVCMDID: Final = 0x03
ESME_RALYBND: Final = 0x05
ESME_RSYSERR: Final = 0x08
ESME_RINVSRCADR: Final = 0x0A
ESME_RINVDSTADR: Final = 0x0B
ESME_RINVMSGID: Final = 0x0C
ESME_RBINDFAIL: Final = 0x0D
ESME_RINVPASWD: Final = 0x0E
ESME_RCANCELFAIL: Final = 0x11
ESME_RREPLACEFAIL: Final = 0x13
ESME_RMSGQFUL: Final = 0x14
ESME_RINVSERTYP: Final = 0x15
ESME_RINVNUMDESTS: Final = 0x33
ESME_RINVESMCLASS: Final = 0x43
ESME_RSUBMITFAIL: Final = 0x45
ESME_RINVREPFLAG: Final = 0x54
ESME_RTHROTTLED: Final = 0x58
ESME_RINVSCHED: Final = 0x61
ESME_RINVEXPIRY: Final = 0x62
ESME_RINVDFTMSGID: Final = 0x63
ESME_RINVTLVVAL: Final = 0xC4
ESME_RINVDCS: Final = 0x104
"""A status of SMPP 5.0; clients of 3.4 read it as a final refusal."""
NO_BALANCE: Final = 0x400
"""Our own status (§5.1.3 leaves 0x400 to 0x4FF to vendors), like the next two."""
SPEND_CAP: Final = 0x401
OPTED_OUT: Final = 0x402

STATUS_OF: Final[Mapping[type[EngineError], int]] = {
    InsufficientBalance: NO_BALANCE,
    SpendCapReached: SPEND_CAP,
    RecipientOptedOut: OPTED_OUT,
    CountryNotOpen: ESME_RINVDSTADR,
    SenderNotApproved: ESME_RINVSRCADR,
    ClassNotPossible: ESME_RINVDCS,
    RateLimited: ESME_RTHROTTLED,
    Overloaded: ESME_RMSGQFUL,
    Draining: ESME_RSYSERR,
    Unavailable: ESME_RSYSERR,
    NotFound: ESME_RINVMSGID,
    Conflict: ESME_RSUBMITFAIL,
    Invalid: ESME_RSUBMITFAIL,
    Unauthorized: ESME_RINVPASWD,
    Forbidden: ESME_RSUBMITFAIL,
    Refusal: ESME_RSUBMITFAIL,
}
"""By the class of the engine's exception."""


def status_of(error: EngineError) -> int:
    """The ``command_status`` for a refusal of the engine; never 0."""
    return next(
        (STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF), ESME_RSYSERR
    )


class StatusRefusal(Exception):
    """A request that cannot be taken as it is; ``str()`` is a sentence for the customer."""

    def __init__(self, command_status: int, text: str) -> None:
        super().__init__(text)
        self.command_status = command_status
