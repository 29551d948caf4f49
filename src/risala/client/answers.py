"""What the service answers, as frozen dataclasses.

Times are `datetime` in UTC, amounts `Decimal`. ``None`` is what is not known yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Generic, Literal, TypeVar

from .decoding import WIRE

T = TypeVar("T")
MessageStatus = Literal[
    "pending", "processing", "sent", "delivered", "undelivered", "failed", "canceled"
]
VerificationStatus = Literal["pending", "approved", "expired", "canceled"]
_FINAL = ("delivered", "undelivered", "failed", "canceled")


@dataclass(frozen=True, slots=True)
class PendingSenderNotice:
    """A notice that another sender is used than the one asked for: it waits for approval, or the
    recipient's country takes no names."""

    code: str
    """``SENDER_PENDING_APPROVAL`` or ``SENDER_NOT_POSSIBLE``."""
    requested_from: str
    message: str


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that was accepted: stored, charged, and on the service's disk."""

    message_id: str
    idempotency_key: str
    organization_id: str
    sender: str = field(metadata={WIRE: "from"})
    """The sender that it goes out with."""
    notice: PendingSenderNotice | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it stands."""

    id: str
    to: str
    sender: str = field(metadata={WIRE: "from"})
    status: MessageStatus
    created_at: datetime
    updated_at: datetime
    body: str | None = field(default=None, repr=False)
    """None once the service no longer keeps it."""
    segments: int | None = None
    encoding: str | None = None
    message_class: int | None = None
    """0: a flash message."""
    price: Decimal | None = None
    currency: str | None = None
    attempts: int | None = None
    carrier: str | None = None
    provider_message_id: str | None = None
    error_code: str | None = None
    """A word of a closed list, such as ``UNKNOWN_NUMBER``."""
    error_text: str | None = None
    carrier_code: str | None = None
    """The carrier's own word."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    send_at: datetime | None = None
    sent_at: datetime | None = None
    delivered_at: datetime | None = None

    @property
    def is_final(self) -> bool:
        """Whether nothing follows on its status."""
        return self.status in _FINAL


@dataclass(frozen=True, slots=True)
class StartedVerification:
    """A code that is on its way."""

    verification_id: str


@dataclass(frozen=True, slots=True)
class ReverseStart:
    """What a user does to prove a number."""

    verification_id: str
    status: VerificationStatus
    method: Literal["inbound_sms", "missed_call"]
    send_to: str
    """Whom the user texts or calls."""
    text: str | None
    """What the user sends; None: the user calls."""
    link: str
    """Opens a new text or call on a phone."""
    qr_svg: str = field(repr=False)
    """The same for a phone's camera."""
    page: str = field(repr=False)
    """A page that shows all this to the user."""
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class CheckedCode:
    """What a code that somebody typed was judged."""

    status: Literal["approved", "denied"]

    @property
    def is_approved(self) -> bool:
        return self.status == "approved"


@dataclass(frozen=True, slots=True)
class CodeDelivery:
    """How a verification's code was brought once."""

    channel: str
    status: str
    """The status of its message, or ``refused``: it did not leave."""
    at: datetime


@dataclass(frozen=True, slots=True)
class Verification:
    """A verification as it stands."""

    id: str
    to: str
    status: VerificationStatus
    attempts: int
    """Failed checks so far."""
    expires_at: datetime
    created_at: datetime
    updated_at: datetime
    tags: tuple[str, ...] = ()
    channel: str | None = None
    """The channel that brought the code last; None: there is only SMS."""
    method: str | None = None
    """What the user does in place of entering a code; None: the user enters one."""
    deliveries: tuple[CodeDelivery, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeReportItem:
    """What became of codes; each counts on the day on which it was asked for."""

    asked: int
    sent: int
    delivered: int
    """What a receipt says, or what was entered."""
    entered: int
    within_minute: int
    """Entered within 60 seconds of being asked for."""
    cost: Decimal
    of: str | None = None
    """A day, a network, a country, a carrier, a channel or a key's id; None: it is not known."""
    median_seconds: int | None = None
    """From asking to entering, of half of the entered codes; None: no code was entered."""
    p90_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class CodeReport:
    """What became of the codes of some days."""

    by: str
    currency: str
    whole: CodeReportItem
    """All codes together."""
    items: tuple[CodeReportItem, ...]
    counted_until: datetime | None = None
    """Codes from here on are not in the figures yet; None: all are."""


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A message that somebody sent to the organization."""

    id: str
    sender: str = field(metadata={WIRE: "from"})
    received_at: datetime
    to: str | None = None
    """The number of yours that it came to; None where the carrier does not tell."""
    text: str | None = field(default=None, repr=False, metadata={WIRE: "body"})
    """None once the service no longer keeps it."""
    carrier: str | None = None
    sent_at: datetime | None = None
    """The text's own time, by the network; None where the carrier does not tell."""


@dataclass(frozen=True, slots=True)
class ForwardedText:
    """Where a rule forwards a text, and what became of it."""

    kind: str
    """``sms``, ``mail``, ``telegram`` or ``webhook``."""
    to: str
    """The number, the address, the chat, or the webhook's host."""
    rule: str
    """The rule's name."""
    status: str
    """``waiting``, ``forwarded`` or ``refused``."""
    reason: str | None = None
    """Why it is not forwarded."""


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """A message of a conversation, of either way."""

    message_id: str
    by: Literal["number", "person", "program", "mailing", "answer", "code"]
    """Who wrote it: the person with the number, a member, a program, a mailing, a verification."""
    at: datetime
    status: str
    sender: str = field(metadata={WIRE: "from"})
    to: str | None = None
    body: str | None = field(default=None, repr=False)
    """None: a code, or no longer kept."""
    carrier: str | None = None
    segments: int | None = None
    price: Decimal | None = None
    error_code: str | None = None
    key_id: str | None = None
    mailing_id: str | None = None
    answer_kind: str | None = None
    """Of an automatic answer, and of a text that had one: ``opt_out``, ``help``, ``rule`` or
    ``webhook``; ``forward``: it forwards a text."""
    answer_name: str | None = None
    """The name of its rule."""
    answer_refused: str | None = None
    """Why the text's automatic answer does not leave; None: it left, or waits."""
    forwards: tuple[ForwardedText, ...] = ()
    """Of a text that came in: where rules forward it."""


@dataclass(frozen=True, slots=True)
class MarkedConversation:
    """A conversation as it is now: open or done, read or not, and whose."""

    conversation_id: str
    number: str
    state: Literal["open", "done"]
    unread: bool
    received_at: datetime
    """When the newest text came in."""
    assigned_to: str | None = None
    """The member who answers."""


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation with the person's name and the last message."""

    conversation_id: str
    number: str
    state: Literal["open", "done"]
    unread: bool
    received_at: datetime
    assigned_to: str | None = None
    name: str | None = None
    """By the organization's lists."""
    last_message: ConversationMessage | None = None


@dataclass(frozen=True, slots=True)
class ConversationThread:
    """A conversation with a page of its messages."""

    conversation: ListedConversation
    items: tuple[ConversationMessage, ...]
    """The oldest first."""
    answerable: bool
    next: str | None = None
    """``before`` of the page with what is older."""
    previous: str | None = None
    """``after`` of the page with what is newer."""
    why_not: str | None = None
    """Why nothing can be answered."""
    answers_from: str | None = None
    answers_by: str | None = None


@dataclass(frozen=True, slots=True)
class ReplyRule:
    """A rule that answers texts which come in."""

    rule_id: str
    name: str
    place: int
    """The first rule by place that a text meets answers it."""
    enabled: bool
    keywords: tuple[str, ...]
    """Empty: any text."""
    anywhere: bool
    first_contact: bool
    days: tuple[str, ...]
    language: str
    text_fr: str
    text_ar: str
    text_en: str
    created_at: datetime
    from_time: str | None = None
    to_time: str | None = None
    forward_number: str = ""
    """Where it forwards the text: a number; empty: none, as of the next three."""
    forward_email: str = ""
    forward_chat: str = ""
    forward_url: str = ""


@dataclass(frozen=True, slots=True)
class PausedReplies:
    """A number that gets no automatic answers for a day."""

    number: str
    until: datetime


@dataclass(frozen=True, slots=True)
class ReplyRules:
    """All rules of an organization, in their order."""

    items: tuple[ReplyRule, ...]
    paused: tuple[PausedReplies, ...]


@dataclass(frozen=True, slots=True)
class TriedForward:
    """Where a text would be forwarded."""

    kind: str
    to: str
    text: str | None = None
    """The message by SMS."""
    segments: int | None = None
    reason: str | None = None
    """Why it would not be forwarded."""


@dataclass(frozen=True, slots=True)
class TriedReply:
    """What a text would be answered."""

    rule: ReplyRule | None
    """None: it meets no rule."""
    answer: str | None
    """None: nothing."""
    forwards: tuple[TriedForward, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectiveWord:
    """A word of opt-outs that counts."""

    word: str
    role: str
    language: str
    source: str
    """``always``, ``set``, ``own`` or ``demanded``."""
    routed: bool
    """Whether a route of the operator gives texts that begin with it to an organization."""
    list_id: str | None = None
    list_name: str | None = None


@dataclass(frozen=True, slots=True)
class OptOutText:
    """An answer to a word of opt-outs."""

    role: str
    language: str
    written: str
    """With its variables."""
    text: str
    """As it would be sent."""
    parts: int
    own: bool
    """False: the usual one."""
    is_sent: bool


@dataclass(frozen=True, slots=True)
class NetworkDemand:
    """What a network or a country asks for."""

    prefix: str
    confirmation: str
    """Of an opt-out: ``free``, ``required`` or ``forbidden``."""
    sets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OptOutSetup:
    """The words of opt-outs, and their answers."""

    heeds: bool
    """Whether opt-outs apply."""
    sets: tuple[str, ...]
    answered: tuple[str, ...]
    back: str
    words: tuple[EffectiveWord, ...]
    answers: tuple[OptOutText, ...]
    demands: tuple[NetworkDemand, ...]


@dataclass(frozen=True, slots=True)
class ListedOptOut:
    """A number whose opt-out of a list was noted, or taken back."""

    list_id: str
    number: str


@dataclass(frozen=True, slots=True)
class RepeatedMailing:
    """A mailing to a list, that repeats."""

    repeat_id: str
    name: str
    state: str
    """``active``, ``paused`` or ``ended``."""
    list_id: str
    text: str
    from_hour: int
    to_hour: int
    unit: str
    every: int
    days: tuple[str, ...]
    month_days: tuple[int, ...]
    time: str
    """In the organization's time zone."""
    starts_on: str
    runs: int
    created_at: datetime
    reason: str | None = None
    """Why it is paused, or has ended."""
    sender: str | None = field(default=None, metadata={WIRE: "from"})
    pace: int | None = None
    until: str | None = None
    count: int | None = None
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ComingRun:
    """A run ahead."""

    at: datetime
    note: str | None = None
    """``short_month``, ``skipped_hour`` or ``second_hour``."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run that was due."""

    due_at: datetime
    outcome: str
    """``started``, ``made``, or why nothing was sent."""
    missed: int
    mailing_id: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class RepeatedMailingView:
    """A mailing that repeats, with its runs."""

    repeat: RepeatedMailing
    time_zone: str
    upcoming: tuple[ComingRun, ...]
    past: tuple[PastRun, ...]


@dataclass(frozen=True, slots=True)
class OnCallChain:
    """Who is written to, in which order, until somebody answers an alarm."""

    chain_id: str
    name: str
    people: tuple[str, ...]
    """Numbers, each perhaps with the days and hours of a shift."""
    interval_seconds: int
    rounds: int
    word: str
    """What ends an alarm."""
    language: str
    created_at: datetime
    sender: str | None = field(default=None, metadata={WIRE: "from"})


@dataclass(frozen=True, slots=True)
class OnCallAlarm:
    """An alarm that was raised."""

    alarm_id: str
    chain_id: str
    text: str = field(repr=False)
    state: str
    """``going``, ``answered``, ``ended`` or ``unanswered``."""
    steps: int
    raised_at: datetime
    raised_by: str
    next_at: datetime | None = None
    ended_at: datetime | None = None
    ended_by: str | None = None
    """The number that answered, or who ended it."""


@dataclass(frozen=True, slots=True)
class OnCallStep:
    """One person who was written to."""

    step: int
    at: datetime
    number: str
    outcome: str
    """``sent`` or ``refused``."""
    message_id: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class OnCallAlarmView:
    """An alarm with its steps."""

    alarm: OnCallAlarm
    chain_name: str
    past: tuple[OnCallStep, ...]


@dataclass(frozen=True, slots=True)
class OnCallChainView:
    """A chain with who is on duty, and its alarms."""

    chain: OnCallChain
    time_zone: str
    on_duty: tuple[str, ...]
    alarms: tuple[OnCallAlarm, ...]


@dataclass(frozen=True, slots=True)
class OnCallChains:
    """All chains, and the alarms that nobody has answered yet."""

    items: tuple[OnCallChain, ...]
    going: tuple[OnCallAlarm, ...]


@dataclass(frozen=True, slots=True)
class FoundThing:
    """Something that a search found."""

    kind: str
    """Such as ``message``, ``key`` or ``person``; later releases know more."""
    id: str
    title: str
    """A number, a name or a reference."""
    at: datetime
    url: str
    """Its page in the dashboard."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list, the newest first."""

    items: tuple[T, ...]
    next: str | None
    """``before`` of the page with what is older; None: there is none."""
    previous: str | None
    """``after`` of the page with what is newer; None: there is none."""


@dataclass(frozen=True, slots=True)
class UnicodeCharacter:
    """A character that the GSM alphabet has not, so that fewer fit a segment."""

    character: str
    index: int
    suggestion: str | None = None
    name: str | None = None
    """The character's number and name in Unicode if it shows nothing."""


@dataclass(frozen=True, slots=True)
class MessageEstimate:
    """What a message would cost."""

    encoding: str
    segments: int
    characters: int
    price: Decimal
    currency: str
    unicode_characters: tuple[UnicodeCharacter, ...] = ()


@dataclass(frozen=True, slots=True)
class SegmentPrice:
    """What a segment costs to the numbers that begin alike. The longest prefix counts."""

    prefix: str
    price: Decimal


@dataclass(frozen=True, slots=True)
class ServedCountry:
    """A country that the service sends to, and what its operator has opened there for you."""

    code: str
    """ISO 3166-1."""
    name: str
    home: bool
    """Home is always open."""
    send: bool
    """Messages."""
    verify: bool
    """Codes that secret keys send."""
    publishable: bool
    """Codes that publishable keys send."""
    prices: tuple[SegmentPrice, ...]
    """Empty: the country has no price, and cannot be opened."""


@dataclass(frozen=True, slots=True)
class OrganizationBalance:
    """An organization's money."""

    organization_id: str
    balance: Decimal
    currency: str
    low_balance: Decimal | None = None
    """Below it the event `balance.low` comes."""
    spent_today: Decimal | None = None
    spend_cap: Decimal | None = None
    """What may be spent in a day; None: as much as there is."""
    countries: tuple[ServedCountry, ...] = ()
    """Home first; empty where the service sends to one country alone."""


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One movement of money."""

    id: str
    kind: str
    """``topup``, ``charge``, ``refund`` or ``adjustment``."""
    amount: Decimal
    balance_after: Decimal
    created_at: datetime
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class InvoiceIssuer:
    """The company that runs the service."""

    name: str
    address: tuple[str, ...]
    tax_id: str
    trade_register: str


@dataclass(frozen=True, slots=True)
class BilledKind:
    """What was charged for messages of one kind."""

    source: str
    """``mailing``, ``key``, ``codes`` or ``other``."""
    messages: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class BilledSender:
    """What was charged for one key or mailing."""

    source: str
    messages: int
    amount: Decimal
    of: str | None = None
    """The id of the key or mailing; None: all others together."""
    name: str | None = None


@dataclass(frozen=True, slots=True)
class BilledDay:
    """A day on which the balance changed."""

    day: str
    """Such as ``2026-10-28``."""
    sources: tuple[BilledKind, ...]
    refunded: Decimal
    credited: Decimal
    """Payments and adjustments together."""
    balance_after: Decimal


@dataclass(frozen=True, slots=True)
class InvoicedDay:
    """A day for which something was charged or refunded."""

    day: str
    sources: tuple[BilledKind, ...]
    refunded: Decimal


@dataclass(frozen=True, slots=True)
class UnbilledDay:
    """A day on which something left for which nobody pays."""

    day: str
    parts: int


@dataclass(frozen=True, slots=True)
class BilledMonth:
    """A month of the ledger, day by day."""

    month: str
    time_zone: str
    currency: str
    opening: Decimal
    closing: Decimal
    charged: Decimal
    refunded: Decimal
    credited: Decimal
    """Payments and adjustments together."""
    sources: tuple[BilledKind, ...]
    senders: tuple[BilledSender, ...]
    """Keys and mailings, the most expensive first."""
    days: tuple[BilledDay, ...]
    own_parts: tuple[UnbilledDay, ...] = ()
    """Where nobody pays for messages: what left on each day."""
    counted_until: datetime | None = None
    """Days from here on are not in it: the month has too many entries. None: all are."""


@dataclass(frozen=True, slots=True)
class IssuedInvoice:
    """An invoice of a month, as it was issued."""

    id: str
    number: str
    """Such as ``F-0042``; the numbers of a series have no gaps."""
    month: str
    time_zone: str
    currency: str
    issuer: InvoiceIssuer
    organization_name: str
    charged: Decimal
    refunded: Decimal
    total: Decimal
    """Below zero it is a credit note."""
    sources: tuple[BilledKind, ...]
    days: tuple[InvoicedDay, ...]
    issued_at: datetime
    customer_address: tuple[str, ...] = ()
    """Line by line."""
    customer_tax_id: str = ""
    vat_percent: str | None = None
    """None: the invoice names no VAT."""
    vat: Decimal | None = None
    """A part of the total."""


@dataclass(frozen=True, slots=True)
class SenderName:
    """A sender that the organization asked for."""

    id: str
    name: str
    status: str
    created_at: datetime
    reason: str | None = None
    volume: int | None = None
    """Messages of the last seven days."""


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """An address that events are sent to."""

    id: str
    url: str
    enabled: bool
    types: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    organization_id: str | None = None
    mode: str | None = None
    description: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers' names; values are never told."""
    notify: str | None = None
    signature_header: str | None = None
    """The header in which events carry a signature ``t=<unix>,v1=<hex>`` too; None: they do not."""
    signature_key: str | None = None
    """The key of that signature: ``text`` (the secret as it is shown) or ``decoded``."""
    shape: str | None = None
    """How it gets received messages: ``event``, as any other event, or as another program does."""
    template: str | None = None
    """The fields of that shape, or its JSON."""
    may_reply: bool | None = None
    """Whether it may reply in its answer to a received message; only an owner allows it."""
    disabled_reason: str | None = None
    failing_since: datetime | None = None
    old_secret_until: datetime | None = None
    """Until then events are signed by the secret before, too."""
    secret: str | None = field(default=None, repr=False)
    """Told once: in the answers of `create_webhook` and `rotate_webhook`."""


@dataclass(frozen=True, slots=True)
class EndpointDelivery:
    """One event on its way to one endpoint."""

    event_id: str
    state: Literal["pending", "delivered", "failed", "dropped"]
    attempts: int
    created_at: datetime
    endpoint_id: str | None = None
    type: str | None = None
    """None once the service no longer keeps the event."""
    next_attempt_at: datetime | None = None
    status: int | None = None
    """What the endpoint answered last."""
    error: str | None = None
    excerpt: str | None = None
    updated_at: datetime | None = None
    delivered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReplayedChunk:
    """What one answer of a replay says."""

    replayed: int
    done: bool
    until: str | None = None
    """What the next call is asked with."""
