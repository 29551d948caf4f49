"""Figures of an organization, its first steps, and what waits for an operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import JsonName
from risala.engine.model.records.keys import ApiKey
from risala.engine.model.records.message_lists import Listed

SESSIONS_MAX: Final = 5000
"""Sessions in one funnel, the latest of its time: a few milliseconds."""
SENT_MAX: Final = 2000
"""Messages of one sender that are counted, so that all names of a page take a few milliseconds."""
DECIDING_MAX: Final = 100
"""The limit of each count for an operator: a page shows "99+", and counting stays cheap."""


@dataclass(frozen=True, slots=True)
class HourFigures:
    """What was accepted in an hour, and its result until now."""

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
    """Sessions, how many of them were answered, and how many were approved."""

    sessions: int
    tried: int
    approved: int
    expired: int
    pending: int
    is_cut: Annotated[bool, JsonName("latestOnly")]
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
    """A webhook endpoint, and when its first event arrived; None: not yet."""

    endpoint_id: str
    mode: str
    delivered_at: int | None


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """The first object of each step; None: the step is not done."""

    key: ApiKey | None
    delivered: bool
    """A message has reached a phone, or the end of a test."""
    message: Listed | None
    """A message that was delivered, else the newest."""
    session: FirstSession | None
    webhook: FirstHook | None
    paid: bool
    """Money came in, by a top-up or from the operator."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """How much waits; :data:`DECIDING_MAX` stands for that many or more."""

    senders: int
    """Requests that are neither cleared nor denied."""
    payments: int
    """Those that their customers reported as paid, and that an operator settles."""


WAITING: Final = Ask("console.waiting", Deciding)
