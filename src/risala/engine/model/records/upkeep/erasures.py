"""Erased data: of one number, or all of a deleted organization."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.numbers import recipient_number


class ErasureStep(IntEnum):
    """The steps; their numbers are in rows. Their order is :data:`STEPS`."""

    CODES = 0
    """Pending verification sessions end, and their codes with them."""
    PENDING = 1
    """Messages that have not left are canceled and refunded."""
    EVENTS = 2
    INBOUND = 3
    SESSIONS = 4
    MESSAGES = 5
    CARRIERS = 6
    """Messages at a carrier are waited for, and erased when they have ended."""
    REST = 7
    MAILINGS = 8
    """Rows of mailings and lists; before messages, so that no more of them are made."""


STEPS: Final = (
    *(ErasureStep.CODES, ErasureStep.MAILINGS, ErasureStep.PENDING, ErasureStep.EVENTS),
    *(ErasureStep.INBOUND, ErasureStep.SESSIONS, ErasureStep.MESSAGES, ErasureStep.CARRIERS),
    ErasureStep.REST,
)
"""In their order."""


def following(step: ErasureStep) -> ErasureStep:
    """The step after one that is not the last."""
    return STEPS[STEPS.index(step) + 1]


@dataclass(frozen=True, slots=True)
class Erasure:
    id: str
    organization_id: str
    number: str | None
    """None: all of the organization, or it is done."""
    last4: str | None
    """None: all of the organization."""
    asked_by: str
    step: ErasureStep
    place: str
    """Its place in the step."""
    gone: Mapping[str, int]
    """How much is erased, by kind: messages canceled, events, messages, verifications and so on."""
    created_at: int
    ended_at: int | None

    @property
    def until_key(self) -> int:
        """The last key of a message or an event from before the request."""
        return ((self.created_at + 1) << KEY_COUNTER_BITS) - 1

    @property
    def recipient(self) -> int | str:
        """The number in the form of messages' rows."""
        assert self.number is not None, "it is of no number, or done"
        return recipient_number(self.number)


@dataclass(frozen=True, slots=True)
class Erased:
    """The work of one unit."""

    erasure: Erasure
    waits: bool = False
    """A message is at a carrier, and has to end before the erasure continues."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What has to be notified of the deletion."""

    id: str
    users: tuple[str, ...]
    endpoints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cancelable:
    key: int
    id: str
