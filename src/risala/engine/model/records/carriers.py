"""What is stored of carriers: an operator's word about them, and receipts that match nothing."""

from __future__ import annotations

from dataclasses import dataclass


class TooManyNotes(Exception):
    """A driver has as many notes as the engine keeps for it."""


@dataclass(frozen=True, slots=True)
class CarrierGate:
    """Of one carrier; one that is open has none."""

    carrier: str
    gate: str
    changed_at: int
    """UTC epoch milliseconds."""
    who: str


@dataclass(frozen=True, slots=True)
class Override:
    """Of one carrier. None: the settings' own value holds."""

    carrier: str
    rate_per_s: float | None
    weight: int | None
    changed_at: int
    """UTC epoch milliseconds."""
    who: str


@dataclass(frozen=True, slots=True)
class UnmatchedReceipt:
    """A receipt that matched nothing in its time."""

    seq: int
    carrier: str
    carrier_id: str
    state: str
    raw: str
    recipient: str | None
    why: str
    received_at: int
    """UTC epoch milliseconds."""
