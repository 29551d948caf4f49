"""The values by which alerts are judged, from the database."""

from __future__ import annotations

from risala.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LowBalance:
    """An organization whose balance is below its limit."""

    organization_id: str
    name: str
    balance: int
    currency: str


@dataclass(slots=True)
class NetworkHour:
    """How one network did in one hour, all organizations together."""

    accepted: int = 0
    delivered: int = 0
    sessions: int = 0
    approved: int = 0
