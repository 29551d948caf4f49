"""What followers of an organization get: events, changes of messages, and gaps; and their
positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Flag, auto
from typing import Generic, TypeVar

from risala.dataclass import dataclass
from risala.engine.model.commands import LifeEvent
from risala.engine.model.events import EventType
from risala.engine.model.states import Mode

__all__ = [
    "EventPage",
    "EventPosition",
    "FollowedEvent",
    "Lagged",
    "LifeEvent",
    "OutboxEvent",
    "OwnEvent",
    "Owner",
    "Ready",
    "Reset",
    "StoredCursor",
    "Told",
    "What",
]


@dataclass(frozen=True, slots=True)
class Lagged:
    """The listener was too slow: so many values are missing here."""

    lost: int


class What(Flag):
    """What is followed."""

    EVENTS = auto()
    """What webhooks carry."""
    LIFE = auto()
    """Each change of each message, codes too."""


@dataclass(frozen=True, slots=True)
class OutboxEvent:
    """An event of the outbox, after its commit."""

    seq: int
    id: str
    organization_id: str
    body: str
    """JSON, as webhooks carry it; one line."""


@dataclass(frozen=True, slots=True)
class FollowedEvent:
    """An event for a consumer that gets every event that it follows."""

    seq: int
    """The event's place in the outbox: a later event has a greater one."""
    id: str
    type: EventType
    at: int
    """UTC epoch milliseconds."""
    organization_id: str
    is_test: bool
    body: str = field(repr=False)
    """JSON, as webhooks carry it; one line."""


@dataclass(frozen=True, slots=True)
class OwnEvent:
    """An event of a message of one's own, or of a text from a phone: its values, and nothing of the
    body that webhooks carry."""

    seq: int
    """The event's place in the outbox: a later event has a greater one."""
    type: EventType
    at: int
    """UTC epoch milliseconds."""
    message_id: str
    recipient: str | None
    """None: the carrier of a text does not tell."""
    sender: str
    status: str
    error_code: str | None
    carrier_code: str | None
    metadata: Mapping[str, str]
    accepted_at: int
    """When the message was accepted, UTC epoch milliseconds; of a text as :attr:`at`."""
    text: str = field(default="", repr=False)
    """The text that a phone sent; empty for an event of a message."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The key or person whose own events somebody follows."""

    api_key: str
    """The key or credential that the messages were sent by."""
    mode: Mode
    sent_with: str
    """``sms.sent`` is followed of those messages alone whose metadata has this member."""


E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class StoredCursor:
    """A consumer's place, as it is stored."""

    consumer: str
    seq: int
    organization: int | None
    types: int
    moved_at: int
    missed: int
    missed_at: int | None


@dataclass(frozen=True, slots=True)
class EventPage(Generic[E]):
    """A part of the outbox, as a consumer sees it."""

    events: tuple[E, ...]
    end: int
    """The key to continue after: all events up to it are in :attr:`events`, or are not followed."""
    is_whole: bool
    """No event is newer than the end of this page."""


@dataclass(frozen=True, slots=True)
class EventPosition:
    """An event's place."""

    seq: int
    organization_id: str
    created_at: int


@dataclass(frozen=True, slots=True)
class Ready:
    """From here on nothing is missing."""

    at: int | None = None
    """When that was, as a position to return to; None if the reader came with one."""


@dataclass(frozen=True, slots=True)
class Reset:
    """What is missing here cannot be recovered: read everything again."""

    reason: str
    """A plain sentence."""


Told = OutboxEvent | LifeEvent | Ready | Lagged | Reset
