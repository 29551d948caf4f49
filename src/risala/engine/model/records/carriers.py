"""Stored data of carriers: an operator's gates and overrides, and receipts that match nothing."""

from __future__ import annotations

from dataclasses import dataclass


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
    carrier: str
    carrier_id: str
    state: str
    raw: str
    recipient: str | None
    why: str
    received_at: int
    """UTC epoch milliseconds."""
