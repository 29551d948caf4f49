"""Incoming messages, their routes, and people who want no further messages: the answers of their
operations, and the asks for them."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask, NumberPart
from risala.engine.model.records.fields import AUDITED, UNAUDITED, JsonName, Moment

LATE_MS: Final = 60_000
"""From its own time to when it came: less is usual, and shown to nobody."""


@dataclass(frozen=True, slots=True)
class InboundRoute:
    """The receiver of messages that come to a number, or begin with a word."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    number: Annotated[str | None, AUDITED]
    """None: any number of ours."""
    keyword: Annotated[str | None, AUDITED]
    """Folded; None: any first word."""
    created_at: Annotated[Moment, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Routes:
    """All routes of inbound messages, in the order in which they are tried."""

    routes: tuple[InboundRoute, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """A message that came in."""

    id: str
    organization_id: str | None
    carrier: str
    sender: Annotated[str, JsonName("from")]
    recipient: Annotated[str | None, JsonName("to")]
    """Null where the carrier does not tell."""
    body: Annotated[str | None, JsonName("text")]
    """Null: no longer kept.

    None too if it is not shown to the caller."""
    received_at: Moment
    sent_at: Moment | None = None
    """The text's own time, which the network wrote on it.

    None where the carrier tells none, and for messages of before this was kept."""
    label: str | None = None
    """How the carrier labelled the text and how it was read, as ``labelled ucs2, read as gsm7``.

    None where it was read as labelled, and for messages of before this was kept."""

    @property
    def sent_late(self) -> bool:
        """Whether it came so long after it was written that readers want to know."""
        return self.sent_at is not None and self.received_at - self.sent_at >= LATE_MS


@dataclass(frozen=True, slots=True)
class PhoneArrival:
    """A text or call that a carrier brought from a phone."""

    carrier: str
    number: str
    """The phone's, in the service's own form; empty: it was withheld."""
    is_believed: bool
    """Whether the carrier's word on the number proves it."""
    text: str | None = field(default=None, repr=False)
    """None: it was a call."""


@dataclass(frozen=True, slots=True)
class ReceivedMessages:
    """Inbound messages, the newest first, and where the next pages begin."""

    messages: tuple[Received, ...]
    newer: str | None
    older: str | None
    looked_to: Moment | None
    """The time as far as the search came; None: as far as there are any."""


@dataclass(frozen=True, slots=True)
class OptOut:
    """A number that wants no messages of an organization."""

    number: str
    carrier: str | None
    """The carrier through which it was sent; None: it was noted by hand."""
    at: Moment
    who: str | None
    """The user who noted it; None: the number itself, by the keyword, or a user who was deleted
    since."""
    keyword: str | None


@dataclass(frozen=True, slots=True)
class OptOutList:
    """The numbers that want no messages of an organization, and whether it heeds that."""

    organization_id: Annotated[str, UNAUDITED]
    heeds: Annotated[bool, AUDITED]
    numbers: Annotated[tuple[OptOut, ...], UNAUDITED]
    newer: Annotated[str | None, UNAUDITED]
    older: Annotated[str | None, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Recipient:
    """A number whose opt-out was noted or taken back."""

    organization_id: Annotated[str, UNAUDITED]
    number: Annotated[str, UNAUDITED]


@dataclass(frozen=True, slots=True)
class ReceivedFilter:
    """Which messages are in a list; None: any."""

    organization_id: str | None = None
    sender: str | None = None
    recipient: str | None = None
    """Our number that received them."""
    since: int | None = None
    until: int | None = None
    """Received at or after, and before: UTC epoch milliseconds."""
    part: NumberPart | None = None
    """Digits of the number that sent them."""
    contains: str | None = None
    """Words of the text, or of a sender that is a name."""
    searches_texts: bool = True
    """False: only senders are searched, because the caller sees no texts."""


@dataclass(frozen=True, slots=True)
class OptOutFilter:
    """Which opt-outs are in a list; None: any."""

    number: str | None = None
    part: NumberPart | None = None
    """Digits of the number."""
    contains: str | None = None
    """Words of the keyword, or of who noted it."""


LIST: Final = Ask("inbound.list", ReceivedMessages)
ROUTES: Final = Ask("inbound.routes", Routes)
ROUTE: Final = Ask("inbound.route", InboundRoute)
UNROUTE: Final = Ask("inbound.unroute", InboundRoute)
OPT_OUTS: Final = Ask("inbound.opt_outs", OptOutList)
OPT_OUT: Final = Ask("inbound.opt_out", Recipient)
OPT_IN: Final = Ask("inbound.opt_in", Recipient)
