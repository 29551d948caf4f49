"""The types of events, and how an event's delivery is carried out; shared by several packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Protocol

from risala.dataclass import dataclass
from risala.engine.model.events import EventType
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault

DEFAULT_TYPES: Final = (
    EventType.SMS_SENT,
    EventType.SMS_FAILED,
    EventType.VERIFY_SENT,
    EventType.VERIFY_APPROVED,
    EventType.VERIFY_FAILED,
)
"""The types of the service's specification: the default for an endpoint without a choice."""
TYPES: Final = (
    *DEFAULT_TYPES,
    EventType.SMS_DELIVERED,
    EventType.SMS_CANCELED,
    EventType.SMS_RECEIVED,
    EventType.BALANCE_LOW,
    EventType.SENDER_APPROVED,
    EventType.SENDER_DENIED,
    EventType.CONVERSATION_RECEIVED,
    EventType.CONVERSATION_ASSIGNED,
    EventType.CONVERSATION_PAUSED,
    EventType.REPEAT_BEGUN,
    EventType.REPEAT_SKIPPED,
    EventType.REPEAT_ENDED,
)
"""The types that an endpoint may choose: all except ``webhook.test``, which is sent by hand to one
endpoint."""


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """One call of an endpoint: exactly these bytes and headers."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"
    query: str = ""
    """Added to the URL's own, which is checked without it: it may be longer than a URL."""
    wants_content: bool = False
    """Whether the answer's body counts, and is waited for as long as its head."""

    def __repr__(self) -> str:
        return f"WebhookCall({len(self.body)} bytes)"


@dataclass(frozen=True, slots=True)
class FetchedAnswer:
    """A whole answer."""

    status: int
    body: bytes = field(repr=False)


class Fetches(Protocol):
    """Reads answers of servers that are named in settings: with the same limits as
    :class:`Outbound`."""

    async def fetch(self, call: WebhookCall, /) -> FetchedAnswer | ReceiverFault:
        """Make a call. Never raises because of the other side; returns within a time limit."""


class Outbound(Protocol):
    """Makes calls to strangers' servers: none inside our network, with limits of time and
    memory."""

    async def post(self, call: WebhookCall, /) -> ReceiverAnswer | ReceiverFault:
        """POST, and wait for the answer. Never raises because of the other side; returns within a
        time limit."""
