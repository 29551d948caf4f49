"""Figures of an organization, its first steps, and what waits for an operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from risala.engine.model.records.keys import ApiKey
from risala.engine.model.records.message_lists import Listed

SESSIONS_MAX: Final = 5000
"""Sessions that one funnel is made of, the latest of its time: a few milliseconds."""
SENT_MAX: Final = 2000
"""Messages of one sender that are counted, so that all names of a page take a few milliseconds."""
DECIDING_MAX: Final = 100
"""Of each that waits for an operator: a rail shows "99+", and a count must not grow with it."""


@dataclass(frozen=True, slots=True)
class HourFigures:
    """What was accepted in an hour, and what became of it until now."""

    hour: int
    """Since 1970-01-01."""
    accepted: int
    delivered: int
    undelivered: int
    failed: int
    canceled: int


@dataclass(frozen=True, slots=True)
class NetworkFigures:
    network: str
    accepted: int
    delivered: int
    undelivered: int
    failed: int
    canceled: int
    median_ms: int | None
    """Until delivery, within a factor of two; None: nothing was delivered."""


@dataclass(frozen=True, slots=True)
class Funnel:
    """Sessions, how many of them were answered at all, and how many were approved."""

    sessions: int
    tried: int
    approved: int
    expired: int
    pending: int
    is_cut: bool
    """There were more than :data:`SESSIONS_MAX`: these are the latest."""


@dataclass(frozen=True, slots=True)
class FirstSession:
    """A verification session that was approved, else one that waits for its code."""

    id: str
    status: str
    recipient: str
    mode: str
    created_at: int


@dataclass(frozen=True, slots=True)
class FirstHook:
    """A webhook endpoint, and when something arrived there; None: nothing has yet."""

    endpoint_id: str
    mode: str
    delivered_at: int | None


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """What there is of each step; None: nothing of it."""

    key: ApiKey | None
    delivered: bool
    """Something has reached a phone, or the end of a test."""
    message: Listed | None
    """A message that was delivered, else the newest."""
    session: FirstSession | None
    webhook: FirstHook | None
    paid: bool
    """Money has come, by a top-up or by the operator's hand."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """How much waits; :data:`DECIDING_MAX` stands for that many or more."""

    senders: int
    """Requests that are neither cleared nor denied."""
    payments: int
    """Those that their customers have claimed, and an operator's word settles."""
