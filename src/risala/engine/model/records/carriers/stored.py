"""Stored data of carriers: an operator's gates and overrides, and receipts that match nothing."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import JsonName, Moment


class TooManyNotes(Exception):
    """A driver has reached the engine's limit of notes."""


@dataclass(frozen=True, slots=True)
class CarrierGate:
    """The gate of one carrier; an open one has no row."""

    carrier: str
    gate: str
    changed_at: int
    """UTC epoch milliseconds."""
    who: str


@dataclass(frozen=True, slots=True)
class Override:
    """The override of one carrier. None: the settings' own value applies."""

    carrier: str
    rate_per_s: float | None
    weight: int | None
    changed_at: int
    """UTC epoch milliseconds."""
    who: str


@dataclass(frozen=True, slots=True)
class UnmatchedReceipt:
    """A receipt that matched nothing when it came."""

    seq: int
    received_at: Annotated[Moment, JsonName("at")]
    carrier: str
    carrier_id: Annotated[str, JsonName("id")]
    state: str
    raw: Annotated[str, JsonName("says")]
    recipient: str | None
    why: str


@dataclass(frozen=True, slots=True)
class UnmatchedReceipts:
    """Receipts that matched no message, the newest first."""

    receipts: tuple[UnmatchedReceipt, ...]
    next: int | None
    """The ``before`` of the next page; None: this is the last one."""


UNMATCHED: Final = Ask("receipts.unmatched", UnmatchedReceipts)
