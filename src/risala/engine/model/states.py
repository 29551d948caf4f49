"""The states of messages, segments and queues (contract §3)."""

from __future__ import annotations

from enum import StrEnum

PRIORITY_CODE = 0


PRIORITY_MESSAGE = 1


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
