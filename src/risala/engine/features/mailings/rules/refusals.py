"""What a refused message means for its mailing: it is a matter of this row, or of all. Pure."""

from __future__ import annotations

from typing import Final

from risala.engine.features.mailings.records import MailingWait
from risala.engine.features.tables.records import RowFault
from risala.engine.model.errors import (
    CountryNotOpen,
    EngineError,
    Forbidden,
    InsufficientBalance,
    PolicyFailed,
    PolicyRefused,
    RateLimited,
    RecipientOptedOut,
    SenderNotApproved,
    SpendCapReached,
    Unavailable,
)

_OF_ROWS: Final[tuple[tuple[type[EngineError], RowFault], ...]] = (
    (RecipientOptedOut, RowFault.OPTED_OUT),
    (CountryNotOpen, RowFault.COUNTRY),
    (PolicyRefused, RowFault.POLICY),
)
_OF_MAILINGS: Final[tuple[tuple[type[EngineError], MailingWait], ...]] = (
    (InsufficientBalance, MailingWait.BALANCE),
    (SpendCapReached, MailingWait.SPEND_CAP),
    (RateLimited, MailingWait.LIMIT),
    (SenderNotApproved, MailingWait.SENDER),
    (Forbidden, MailingWait.SUSPENDED),
    (PolicyFailed, MailingWait.POLICY),
    (Unavailable, MailingWait.SERVICE),
)


def meaning_of(error: EngineError) -> RowFault | MailingWait:
    """Why a row is never sent, or what its mailing waits for."""
    for kind, fault in _OF_ROWS:
        if isinstance(error, kind):
            return fault
    for of_all, wait in _OF_MAILINGS:
        if isinstance(error, of_all):
            return wait
    return RowFault.OTHER
