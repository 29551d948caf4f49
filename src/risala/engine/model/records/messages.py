"""Messages as they are accepted, queued and changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.errors import Refusal
from risala.engine.model.lines import Line
from risala.engine.model.records.accounts import Entered
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    UNAUDITED,
    Count,
    JsonName,
    Minimum,
    Moment,
    Money,
    OneOf,
    WrittenAs,
)
from risala.engine.model.records.ledger import DayAllowance
from risala.engine.model.records.webhooks import EventAbout
from risala.engine.model.states import PRIORITY_MESSAGE, Mode, Status
from risala.sms.cause import Cause

HELD_DUE_AT: Final = 253_370_764_800_000
"""A message that is due this far ahead (the year 9999, the last that ISO 8601 writes plainly) is
held until a decision: no message may be scheduled for more than a month ahead."""


class NewMessage(NamedTuple):
    """Everything that an accepted message brings into the journal, decided beforehand.

    A tuple, because one is made for each message, and this takes a third of the time.
    """

    key: int
    id: str
    kind: str
    recipient: str
    sender: str
    body: str
    encoding: str
    segments: int
    price: int
    metadata: str
    priority: int
    route: str
    due_at: int
    valid_until: int
    send_at: int | None
    idempotency_key: str
    key_is_ours: bool
    """The key is a generated one: it cannot have been used before."""
    response: bytes
    line: Line
    """The first line of its timeline."""
    verification_id: str | None
    notice: str | None
    """The notice in ``response``, as JSON."""
    # From here on the fields that all messages of one request share.
    organization_id: str
    mode: str
    currency: str
    created_at: int
    low_balance: int = 0
    """The organization is notified when a charge takes its balance below this, in minor units."""
    day: int = 0
    """The day of the charge: the organization's own, as days since 1970-01-01."""
    api_key: str | None = None
    """The id of the key that it came with."""
    part: int | None = None
    """For a part of a longer message: see :func:`part_number`."""
    allowance: DayAllowance | None = None
    """What the organization may send today, where nobody pays; None: its balance pays."""

    def __repr__(self) -> str:
        return f"<NewMessage {self.id}>"  # its text must not be logged


class Acceptance(NamedTuple):
    """The result of a request's messages."""

    results: Sequence[bytes | Refusal]
    """For each, in order, the response to give, its own or the earlier one of the same key; or the
    refusal."""
    entered: Entered | None
    """The charge; None: nothing was charged."""
    id: str | None
    """The id of the first new message; None: no message is new."""
    whole: bool = False
    """True: all messages are new."""


class CodeRoute(NamedTuple):
    """How a code leaves, where that is not by SMS."""

    route: str
    price: int
    """Minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCode:
    """The SMS of a new code, and how many an hour there may be."""

    message: NewMessage
    per_phone_per_hour: int
    per_organization_per_hour: int
    by_itself: bool = False
    """A code that was asked for comes another way: that needs no cool-down."""


StoreBeside = Callable[[Any], object]
"""Stores what a feature has of a new session, in its transaction: a function of the connection. It
may run twice, and may raise a refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVerification(NewCode):
    """A new session, with the SMS that carries its code."""

    id: str
    attempts_max: int
    code_length: int
    expires_at: int
    language: str | None = None
    """The language of the code's text; None: it is not known."""
    features: str | None = None
    """Features that have a part in the session, with spaces between."""
    stores: tuple[StoreBeside, ...] = ()
    is_fixed: bool = False
    """The number has a fixed code: no SMS leaves, and nobody pays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSealedCode(NewCode):
    """A code that other software made."""

    sealed: bytes
    """The text with the code in it, encrypted."""


ALONE_AFTER_LOSSES = 2
"""After this many lost links during its submits a message goes out alone."""


Place = tuple[int, int]
"""A row's place in its queue: when it is due, and its number among those."""
START: Final[Place] = (-1, -1)
"""Before every row of a queue."""


@dataclass(frozen=True, slots=True)
class DueRow:
    """A pending message as the scheduler takes it from the queue."""

    seq: int
    id: str
    organization_id: str
    kind: str
    recipient: str
    sender: str
    body: str = field(repr=False)
    encoding: str
    segments: int
    priority: int
    route: str
    due_at: int
    valid_until: int
    attempts: int
    refusals: int
    tried: str
    verification_id: str | None = None
    link_losses: int = 0
    organization: int = 0
    """The organization as a number; 0: it was not read."""
    price: int = 0
    mode: str = "live"
    send_at: int | None = None
    created_at: int = 0
    part: int | None = None
    """For a part of a longer message: see :func:`part_number`."""

    @property
    def goes_alone(self) -> bool:
        """Whether the message may be what makes the carrier drop the link: it must not affect
        others."""
        return self.link_losses >= ALONE_AFTER_LOSSES

    @property
    def cursor(self) -> Place:
        return self.due_at, self.seq

    @property
    def tried_carriers(self) -> tuple[str, ...]:
        """Carriers that refused it for good, in order."""
        return tuple(name for name in self.tried.split(",") if name)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A unit's input from outside: a unit may run twice, so it generates nothing itself."""

    now_ms: int


StoreArrival = Callable[[Any, Stamp], object]
"""What a feature does with a text or call from a phone, in the transaction that stores it: a
function of the connection and of the time. It may run twice."""


class Change(NamedTuple):
    """One change of a message that a unit committed: published to followers and the queue."""

    message_id: str
    organization_id: str
    recipient: str
    status: Status
    line: Line
    at: int
    carrier: str | None = None
    attempt: int | None = None
    raw: str | None = None
    due_at: int | None = None
    """Set when the message is pending again: the queue is notified."""
    priority: int = PRIORITY_MESSAGE
    route: str = ""
    entered: Entered | None = None
    """The refund that came with it: billing is notified."""


@dataclass(frozen=True, slots=True)
class Unserved:
    """Messages that wait because no enabled carrier serves their numbers."""

    count: Annotated[int, JsonName("messages")]
    """Counted up to the requested limit."""
    prefixes: tuple[str, ...]
    """Prefixes of their numbers, long enough to show the network and whether it is mobile."""


# -- what operations answer

ENCODINGS: Final = ("gsm7", "ucs2")


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message with its status. `null`: not known yet; for the body: no longer kept.

    As ``POST /api/sms/get`` and the operator see it (contract §3); its JSON is
    :func:`risala.engine.model.wire.message_wire`.
    """

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    mode: Annotated[Mode, UNAUDITED]
    kind: Annotated[str, AUDITED]
    to: Annotated[str, AUDITED]
    sender: Annotated[str, JsonName("from"), UNAUDITED]
    body: Annotated[str | None, UNAUDITED] = field(repr=False)
    status: Annotated[str, AUDITED, OneOf(Status)]
    segments: Annotated[int, AUDITED, Minimum(1)]
    encoding: Annotated[str, UNAUDITED, OneOf(ENCODINGS)]
    price: Annotated[Money, AUDITED, Minimum(0)]
    """A decimal number as a string; 0.00 for a test key."""
    currency: Annotated[str, UNAUDITED]
    attempts: Annotated[Count, UNAUDITED]
    carrier: Annotated[str | None, UNAUDITED]
    provider_message_id: Annotated[str | None, UNAUDITED]
    error_code: Annotated[str | None, UNAUDITED, OneOf(Cause)]
    """Why it failed or was not delivered: a word of a closed list."""
    carrier_code: Annotated[str | None, UNAUDITED]
    """The carrier's own word for it."""
    metadata: Annotated[dict[str, str], UNAUDITED]
    send_at: Annotated[Moment | None, UNAUDITED]
    sent_at: Annotated[Moment | None, UNAUDITED]
    delivered_at: Annotated[Moment | None, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    updated_at: Annotated[Moment, UNAUDITED]
    api_key: Annotated[str | None, JsonName("keyId"), UNAUDITED] = None
    """The id of its key; None: no program sent it, or it is from before keys were stored."""
    message_class: Annotated[int | None, UNAUDITED, OneOf((0, None))] = None
    """0: a flash message, which the phone shows at once and does not keep. Null: an ordinary
    one."""


@dataclass(frozen=True, slots=True)
class SenderNotice:
    """Why a message leaves with another sender than the requested one."""

    message: str


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """A message that was accepted; ``warning`` says where no carrier serves its number."""

    message_id: str
    sender: Annotated[str, JsonName("from")]
    notice: SenderNotice | None = None
    warning: str | None = None
    response: Annotated[Mapping[str, Any], WrittenAs.NOTHING] = field(default_factory=dict)
    """The answer of ``POST /api/sms``; the same for the same idempotency key."""


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as it is now."""

    message: MessageView


@dataclass(frozen=True, slots=True)
class StoryEntry:
    """One entry of a message's timeline, with its sentence."""

    at: Moment
    status: str
    text: str
    code: str
    """The name of its kind (:class:`risala.engine.model.lines.Kind`)."""
    cause: str | None
    values: Mapping[str, Any]
    carrier: str | None
    attempt: int | None
    segment: int | None
    raw: str | None


@dataclass(frozen=True, slots=True)
class MessageChange:
    """One change of a message, as its followers read it."""

    at: Moment
    message_id: str
    organization_id: str
    to: str
    status: str
    text: str
    carrier: str | None
    raw: str | None


@dataclass(frozen=True, slots=True)
class OtherPart:
    """The place of a part of a longer message."""

    number: int
    message_id: str


@dataclass(frozen=True, slots=True)
class WholeMessage:
    """The longer message that its customer cut, as one of its parts shows it."""

    number: int
    total: int
    text: str | None
    messages: tuple[OtherPart, ...]


@dataclass(frozen=True, slots=True)
class MessageStory:
    """A message with its whole timeline."""

    message: MessageView
    timeline: tuple[StoryEntry, ...]
    part: WholeMessage | None = None
    body_hidden: bool = False
    """The message's text is left out, and shown by ``message.body``."""


@dataclass(frozen=True, slots=True)
class EventsAbout:
    """The events about a message that are kept, with their deliveries."""

    events: tuple[EventAbout, ...]


@dataclass(frozen=True, slots=True)
class PlacedCharacter:
    """A character that makes a text Unicode."""

    character: str
    index: Count
    """The character's place: Unicode code points before it, in the text as it would be sent."""
    suggestion: str | None
    """What would do in its place; null: nothing that says the same."""
    name: str | None
    """The character's number and name in Unicode if it shows nothing, as a joiner; null: it can be
    seen."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Get the price of a text. Nothing is charged."""

    encoding: Annotated[str, OneOf(ENCODINGS)]
    segments: Annotated[int, Minimum(1)]
    characters: Annotated[int, Minimum(1)]
    """As the encoding counts them: septets of GSM 7-bit, or UTF-16 code units."""
    price: Money
    currency: str
    unicode_characters: tuple[PlacedCharacter, ...]
    """The characters that are not in GSM 7-bit; empty where the text fits it."""


@dataclass(frozen=True, slots=True)
class ErasedMessage:
    """A message that was taken out, or whose text was."""

    message_id: str


@dataclass(frozen=True, slots=True)
class MessageBody:
    """A message's text, for an operator who said why."""

    message_id: str
    organization_id: str
    kind: str
    body: str | None = field(repr=False)
    """None: it is no longer kept. Of a code its template."""


SEND: Final = Ask("send", AcceptedMessage)
SHOW: Final = Ask("message.show", MessageStory)
ESTIMATE: Final = Ask("message.estimate", Estimate)
EVENTS: Final = Ask("message.events", EventsAbout)
CANCEL: Final = Ask("message.cancel", ShownMessage)
ERASE: Final = Ask("message.erase", ErasedMessage)
BODY: Final = Ask("message.body", MessageBody)
