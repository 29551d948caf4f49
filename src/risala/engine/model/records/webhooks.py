"""Webhook endpoints and their deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    N_,
    UNAUDITED,
    Count,
    JsonName,
    Label,
    Maximum,
    Moment,
    OneOf,
)
from risala.engine.model.states import Mode

URL_MAX: Final = 2048
"""Characters of an address: as many as browsers and proxies take."""
ENDPOINT_DESCRIPTION_MAX: Final = 500
"""Characters of an endpoint's description."""
HEADER_CHARACTER: Final = "[A-Za-z0-9!#$%&'*+.^_`|~-]"
SIGNATURE_HEADER_MAX: Final = 100
"""Characters of the name of a header field of an owner's."""
SIGNATURE_KEYS: Final = ("text", "decoded")
"""What of a secret is the key of an endpoint's second signature."""
SHAPES: Final = ("event", "form", "get", "json", "rapidpro", "kannel")
"""The shapes in which an endpoint may get received messages; ``event``: as any other event."""
SHAPE_TEMPLATE_MAX: Final = 2000
"""Characters of a shape's template: a page of fields."""
BY_HAND: Final = "owner"
"""The reason of an endpoint that a person or a program disabled."""
ENDPOINT_DISABLED: Final = "The endpoint is disabled."
"""The error of a delivery that waited when its endpoint was disabled."""
DELIVERY_STATES: Final = ("pending", "delivered", "failed", "dropped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A webhook endpoint, without its secret.

    Its secrets stay in the journal.
    """

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    mode: Annotated[str, AUDITED, OneOf(Mode)]
    """The mode of the events that the endpoint gets: those of live keys, or of test keys."""
    # The trail shows its scheme and host.
    url: Annotated[str, AUDITED, Label(N_("Address")), Maximum(URL_MAX)]
    description: Annotated[
        str, UNAUDITED, Label(N_("What it is for")), Maximum(ENDPOINT_DESCRIPTION_MAX)
    ] = ""
    types: Annotated[tuple[str, ...], AUDITED, Label(N_("Events"))]
    headers: Annotated[Mapping[str, str], AUDITED, Label(N_("Headers of your own"))] = field(
        default_factory=dict
    )
    """Names of the header fields of your own; the values are `***`.

    The values, which may be secrets, are :data:`HIDDEN_VALUE` once they are stored. The trail shows
    the names."""
    notify: Annotated[str | None, AUDITED, Label(N_("Who to notify when it is disabled"))] = None
    enabled: Annotated[bool, AUDITED] = True
    disabled_reason: Annotated[str | None, UNAUDITED, OneOf((BY_HAND, "gone", "failing"))] = None
    failing_since: Annotated[Moment | None, UNAUDITED] = None
    previous_until: Annotated[Moment | None, UNAUDITED, JsonName("oldSecretUntil")] = None
    """Until then the secret before this one signs too."""
    signature_header: Annotated[
        str | None,
        AUDITED,
        Label(N_("Header of a second signature")),
        Maximum(SIGNATURE_HEADER_MAX),
    ] = None
    """The header field of a second signature, `t=…,v1=…`; null: there is none."""
    signature_key: Annotated[
        str,
        AUDITED,
        Label(N_("Its key is the decoded secret, not its text")),
        OneOf(SIGNATURE_KEYS),
    ] = "text"
    """The key of that signature: the secret as it is shown, or what its base64 stands for."""
    shape: Annotated[str, AUDITED, Label(N_("Shape of received messages")), OneOf(SHAPES)] = "event"
    """How it gets received messages: `event` as JSON of ours, the others as another program takes
    them."""
    # The trail shows its length.
    template: Annotated[
        str, AUDITED, Label(N_("Fields of that shape")), Maximum(SHAPE_TEMPLATE_MAX)
    ] = ""
    """The fields of the shapes `form` and `get`, one a line, or the JSON of `json`."""
    may_reply: Annotated[bool, AUDITED, Label(N_("It may reply to received messages"))] = False
    """Whether `{"reply": "…"}` in its answer to a received message is sent to who wrote it; only an
    owner sets it, on the endpoint's page."""
    created_at: Annotated[Moment, UNAUDITED]
    updated_at: Annotated[Moment, UNAUDITED]


SETTINGS: Final = (
    *("url", "types", "description", "headers", "notify"),
    *("signature_header", "signature_key", "shape", "template", "may_reply"),
)
"""The settings of an endpoint: its arguments and its form."""
OWNERS_SETTINGS: Final = ("may_reply",)
"""Fields that only owners set, and no program."""
HIDDEN_VALUE: Final = "***"


@dataclass(frozen=True, slots=True)
class ShownEndpoint:
    """An endpoint, without its secret."""

    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class EndpointWithSecret:
    """An endpoint with its new secret, which is shown here only."""

    endpoint: Endpoint
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeliverySum:
    """The results of the deliveries that finished in the last days."""

    days: int
    delivered: int
    failed: int
    median_ms: int | None
    """From the event to the accepting answer; None: none was accepted."""
    is_cut: Annotated[bool, JsonName("latestOnly")]
    """True: there were more, and these are the latest."""

    @property
    def share(self) -> float | None:
        """The delivered share of all finished ones; None if none finished."""
        return self.delivered / self.over if self.over else None

    @property
    def over(self) -> int:
        return self.delivered + self.failed


@dataclass(frozen=True, slots=True)
class DeliveryDay:
    """The finished deliveries of the events of one day."""

    at: Moment
    """When the day began where the organization is."""
    delivered: int | None
    """None: before the latest deliveries, which alone are counted."""
    failed: int
    """Among the latest failures, which alone are counted."""


@dataclass(frozen=True, slots=True)
class DeliveryFailures:
    """Deliveries that failed in the same way."""

    status: int | None
    error: str | None
    """The error of the latest of them."""
    count: int
    first_at: Moment
    last_at: Moment
    event_id: str
    """The event of the latest of them."""


@dataclass(frozen=True, slots=True)
class EndpointHealth:
    """How the deliveries of the last days ended, day by day, and why those that failed did."""

    days: tuple[DeliveryDay, ...] = ()
    """The oldest first."""
    failures: tuple[DeliveryFailures, ...] = ()
    """The one that happened last first."""
    failed_since: Moment | None = None
    """When the oldest delivery that can be replayed was made; None: there is none."""


@dataclass(frozen=True, slots=True)
class EndpointWithCounts:
    """An endpoint with the number of its pending and failed deliveries."""

    endpoint: Endpoint
    pending: int
    failed: int
    last_days: DeliverySum
    health: EndpointHealth
    disabled_by: str | None = None
    """The person or key that disabled it by hand: a member's address, the id of a key, or
    ``operator``, who runs the service. Null: it is enabled, the service disabled it, or the audit
    trail no longer tells."""


@dataclass(frozen=True, slots=True)
class EndpointList:
    """All endpoints of an organization."""

    endpoints: tuple[Endpoint, ...]


@dataclass(frozen=True, slots=True)
class DisabledNotice:
    """An owner to notify that an endpoint was disabled."""

    endpoint: Endpoint
    due_at: int
    tries: int


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """The delivery of one event to one endpoint."""

    endpoint_id: str
    event_id: str
    type: str | None
    """Null: the event is no longer kept."""
    state: Annotated[str, OneOf(DELIVERY_STATES)]
    attempts: Count
    next_attempt_at: Moment | None  # None: it is not pending
    status: int | None
    """The status of the last answer."""
    error: str | None
    excerpt: str | None
    """The beginning of the last answer's body."""
    created_at: Moment
    updated_at: Moment
    delivered_at: Moment | None

    @property
    def was_cut_short(self) -> bool:
        """Whether the delivery failed because its endpoint was disabled, not by an answer."""
        return self.state == "failed" and self.error == ENDPOINT_DISABLED

    @property
    def was_tried(self) -> bool:
        return self.attempts > 0

    @property
    def took(self) -> int | None:
        """Milliseconds from the event to the answer that accepts it."""
        if self.state != "delivered" or self.delivered_at is None:
            return None
        return max(0, self.delivered_at - self.created_at)


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """One attempt. One without an end is under way, or was cut short by a stop or crash."""

    number: int
    started_at: Moment
    ended_at: Moment | None
    status: int | None
    error: str | None
    excerpt: str | None
    reply: str | None = None
    """What became of the reply in its answer; None: it had none."""

    @property
    def took(self) -> int | None:
        """Milliseconds."""
        return None if self.ended_at is None else self.ended_at - self.started_at

    @property
    def accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class ShownDelivery:
    """One delivery as it is now."""

    delivery: WebhookDelivery


@dataclass(frozen=True, slots=True)
class TestOwed:
    """The delivery of a test event, which was queued."""

    delivery: WebhookDelivery
    running: bool
    """Whether a service runs that delivers the event."""


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """Deliveries, the newest first."""

    deliveries: tuple[WebhookDelivery, ...]
    before: int | None
    """The ``before`` of the next page; None: this is the last one."""
    after: int | None
    """The ``after`` of the page before; None: this is the first one."""


@dataclass(frozen=True, slots=True)
class DeliveryStory:
    """A delivery with all its attempts."""

    delivery: WebhookDelivery
    attempts: tuple[DeliveryAttempt, ...]
    body: str | None
    """What is sent; None where the event is no longer kept, or has a text that somebody wrote."""
    reply_refused: str | None = None
    """Why the reply that was taken does not leave, as a sentence; None: it left, or waits."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many deliveries are due again.

    One chunk of a replay.
    """

    replayed: Count
    total: int | None
    """How many there are; None: the first chunk told it."""
    until: int
    """For the next request, where there are more.

    UTC epoch milliseconds."""
    done: bool
    """Whether there are no more."""


@dataclass(frozen=True, slots=True)
class EventHead:
    """What every event's body has."""

    id: str
    type: str
    created_at: Moment


@dataclass(frozen=True, slots=True)
class EventAbout:
    """An event about a message, and its result at each endpoint."""

    id: Annotated[str, JsonName("eventId")]
    type: str
    at: Annotated[Moment, JsonName("createdAt")]
    deliveries: tuple[WebhookDelivery, ...]


@dataclass(frozen=True, slots=True)
class DueCall:
    """A call that is owed to a receiver: an event's delivery, or a customer's callback."""

    seq: int
    """The number of a delivery; for a callback that of its event."""
    due_at: int


@dataclass(frozen=True, slots=True)
class MessageArrival:
    """How a received message came, and the shape in which the endpoint gets it."""

    shape: str
    template: str = field(repr=False)
    carrier: str | None
    """None: no longer known."""
    received_at: int


@dataclass(frozen=True, slots=True)
class ReceivedText:
    """The received text that an event tells of."""

    id: str
    organization_id: str
    may_be_answered: bool
    """Whether the endpoint may reply to it."""


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
    arrival: MessageArrival | None = None
    """None: the event goes as it is."""
    text: ReceivedText | None = None
    """The received text that the event tells of; None: it tells of none."""

    def __repr__(self) -> str:
        return f"WebhookAttempt({self.event_id} to {self.endpoint_id}, {self.number})"


BEHIND_COUNTED_MAX: Final = 1000
"""The most deliveries or mails that are counted; more are shown as this many."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Overdue deliveries."""

    count: Annotated[int, JsonName("behind")]
    """Counted up to :data:`BEHIND_COUNTED_MAX`."""
    is_cut: bool = field(init=False)
    endpoints: int
    """The number of endpoints among those counted."""
    oldest: Annotated[Moment | None, JsonName("oldestAt")]
    """Since when the oldest is owed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_cut", self.count >= BEHIND_COUNTED_MAX)


CREATE: Final = Ask("webhook.create", EndpointWithSecret)
LIST: Final = Ask("webhook.list", EndpointList)
SHOW: Final = Ask("webhook.show", EndpointWithCounts)
UPDATE: Final = Ask("webhook.update", ShownEndpoint)
ENABLE: Final = Ask("webhook.enable", ShownEndpoint)
DISABLE: Final = Ask("webhook.disable", ShownEndpoint)
ROTATE: Final = Ask("webhook.rotate", EndpointWithSecret)
DELETE: Final = Ask("webhook.delete", ShownEndpoint)
DELIVERIES: Final = Ask("webhook.deliveries", DeliveryPage)
DELIVERY: Final = Ask("webhook.delivery", DeliveryStory)
TEST: Final = Ask("webhook.test", TestOwed)
REPLAY: Final = Ask("webhook.replay", ShownDelivery)
REPLAY_FAILED: Final = Ask("webhook.replay_failed", Replayed)
