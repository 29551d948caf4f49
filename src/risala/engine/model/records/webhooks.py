"""Webhook endpoints, their deliveries, and calls owed by faces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from risala.engine.model.events import MessageEvent

EndpointValue = str | tuple[str, ...] | Mapping[str, str] | None
"""The possible types of an endpoint's field."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The target of an organization's events. Its secrets stay in the journal."""

    id: str
    organization_id: str
    mode: str
    url: str
    description: str
    types: tuple[str, ...]
    headers: Mapping[str, str]
    notify: str | None
    enabled: bool
    disabled_reason: str | None
    failing_since: int | None
    previous_until: int | None
    created_at: int
    updated_at: int
    signature_header: str | None = None
    """The header of a second signature, ``t=…,v1=…``; None: only the scheme's own is sent."""
    signature_key: str = "text"
    """The key of that signature: ``text``, the secret as it is shown, or ``decoded``, its base64
    decoded."""


@dataclass(frozen=True, slots=True)
class DisabledNotice:
    """An owner to notify that an endpoint was disabled."""

    endpoint: Endpoint
    due_at: int
    tries: int


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """The delivery of an event to an endpoint."""

    seq: int
    endpoint_id: str
    event_id: str
    type: str | None
    """None: the event is no longer stored."""
    state: str
    attempts: int
    due_at: int
    status: int | None
    error: str | None
    excerpt: str | None
    created_at: int
    updated_at: int
    delivered_at: int | None


@dataclass(frozen=True, slots=True)
class EventAbout:
    """An event about a message, and its result at each endpoint."""

    id: str
    type: str
    at: int
    deliveries: tuple[WebhookDelivery, ...]


@dataclass(frozen=True, slots=True)
class DeliverySum:
    """The results of finished deliveries."""

    delivered: int
    failed: int
    median_ms: int | None
    """From the event to the accepting answer; None: none was accepted."""
    is_cut: bool
    """There were more: these are the latest."""


@dataclass(frozen=True, slots=True)
class DueDelivery:
    seq: int
    due_at: int


@dataclass(frozen=True, slots=True)
class WebhookAttempt:
    """Everything that one attempt needs, as it was when it began."""

    seq: int
    number: int
    tries: int
    endpoint_id: str
    event_id: str
    body: str
    url: str
    headers: Mapping[str, str]
    secrets: tuple[str, ...]
    signature_header: str | None = None
    signature_key: str = "text"

    def __repr__(self) -> str:
        return f"WebhookAttempt({self.event_id} to {self.endpoint_id}, {self.number})"


@dataclass(frozen=True, slots=True)
class Callback:
    """What to call as a message goes on."""

    credential: str
    url: str = field(repr=False)
    told: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class OwedCall:
    """A call for one event of a message."""

    event: int
    message: int
    credential: str


@dataclass(frozen=True, slots=True)
class DueCall:
    event: int
    due_at: int


@dataclass(frozen=True, slots=True)
class CallToMake:
    """Everything that one attempt needs."""

    message: int
    event: MessageEvent
    event_id: str
    callback: Callback
    tries: int = 0
    """Including this one."""


BEHIND_COUNTED_MAX: Final = 1000
"""The most deliveries or mails that are counted; more are shown as this many."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Overdue deliveries."""

    count: int
    """Counted up to :data:`BEHIND_COUNTED_MAX`."""
    oldest: int | None
    """Since when the oldest is owed, UTC epoch milliseconds."""
    of: int = 0
    """The number of endpoints among those counted."""
