"""The states of messages, segments and queues (contract §3)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

PRIORITY_CODE: Final = 0
"""Codes, and messages that are sent as urgently: they go first."""
PRIORITY_MESSAGE: Final = 1
"""Messages, single ones and those of a batch."""
PRIORITY_MAILING: Final = 2
"""Messages of a mailing: codes and messages of everybody overtake them."""


class Mode(StrEnum):
    """Whether a key sends for real, or through the simulated carrier."""

    LIVE = "live"
    TEST = "test"


class Status(StrEnum):
    """States of a message (contract §3)."""

    PENDING = "pending"
    PROCESSING = "processing"
    SENT = "sent"
    DELIVERED = "delivered"
    UNDELIVERED = "undelivered"
    FAILED = "failed"
    CANCELED = "canceled"


class SessionState(StrEnum):
    """States of a verification session."""

    PENDING = "pending"
    APPROVED = "approved"
    EXPIRED = "expired"
    CANCELED = "canceled"


class SegmentState(StrEnum):
    """States of a segment, which is one submit to a carrier."""

    WAITING = "waiting"
    SUBMITTING = "submitting"
    UNCERTAIN = "uncertain"
    ACCEPTED = "accepted"
    DELIVERED = "delivered"
    UNDELIVERED = "undelivered"
    REFUSED = "refused"


ACKNOWLEDGED = (SegmentState.ACCEPTED, SegmentState.DELIVERED, SegmentState.UNDELIVERED)
"""States of a segment that the carrier has accepted."""


class Gate(StrEnum):
    """The operator's command for a carrier."""

    OPEN = "open"
    PAUSED = "paused"
    DRAINING = "draining"
    LEAVING = "leaving"
    """As draining, and then it ends: the settings no longer have the carrier, or give it another
    driver."""
