"""Messages and verification sessions for lists, and messages that their customers cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.numbers import halves_of
from risala.engine.model.records.asks import Ask, NumberPart
from risala.engine.model.records.fields import Digits, JsonName, Moment, Money, WrittenAs
from risala.sms.segment import PartText, text_of_parts

KEY_END: Final = 2**63 - 1
"""Later than any message's key."""
WALKS_MAX: Final = 500
"""The most organizations that are searched, of those that wrote to a number: some milliseconds. For
a part of a number, its numbers and their organizations."""
UNCERTAIN: Final = "uncertain"
"""A state of lists in addition to the statuses: it is unknown whether the carrier has it."""
APART_MAX_MS: Final = 300_000
"""Between a part and the next: five minutes. Software submits them in a row, and throttling may
delay it; after longer the reference may be another message's."""
APART_MAX: Final = APART_MAX_MS << KEY_COUNTER_BITS
"""The most between a part and the next, as a difference of keys."""
NEWER_MAX: Final = 99
"""New messages that are counted; who looks away for longer is told that there are more."""
SAME_MESSAGE: Final = 0xFFFFFF << 9 | 1
"""The bits of :func:`risala.engine.model.numbers.part_number` that all parts of one message share:
the reference, the number of parts, and the reference's width."""


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages are in a list; None: any."""

    organization_id: str
    mode: str
    status: str | None = None
    """A status, or :data:`UNCERTAIN`."""
    recipient: str | None = None
    sender: str | None = None
    kind: str | None = None
    """``sms``, or ``code``; None: both."""
    api_key: str | None = None
    """The id of the key that they came with."""
    cause: str | None = None
    """An error code, or the carrier's own code."""
    contains: str | None = None
    """Digits of the recipient, words of the text, or the carrier's own code."""
    digits: str | None = None
    """``contains`` as digits of a number, if it can be that."""
    searches_texts: bool = True
    """False: ``contains`` is not searched in texts, which the reader may not see."""
    since: int | None = None
    until: int | None = None
    """Accepted at or after, and before: UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions are in a list; None: any."""

    organization_id: str
    mode: str
    now_ms: int
    """After its time a session counts as expired, even before that is written."""
    status: str | None = None
    recipient: str | None = None
    part: NumberPart | None = None
    """Digits of the recipient."""
    since: int | None = None
    until: int | None = None
    """Opened at or after, and before: UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class PartPlace:
    """Which part of a longer message one is."""

    number: int
    total: int
    text: str | None
    """The whole text; None: the reader may not see it, or it is no longer stored."""


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """A message without its text."""

    id: Annotated[str, JsonName("messageId")]
    kind: str
    to: str
    sender: Annotated[str, JsonName("from")]
    status: str
    uncertain: bool
    segments: int
    encoding: str
    price: Money
    currency: str
    attempts: int
    carrier: str | None
    provider_message_id: str | None
    error_code: str | None
    error_text: str | None
    carrier_code: str | None
    api_key: Annotated[str | None, JsonName("keyId")]
    send_at: Moment | None
    sent_at: Moment | None
    delivered_at: Moment | None
    created_at: Moment
    updated_at: Moment
    message_class: int | None = None
    """0: a flash message; null: an ordinary one."""
    key: Annotated[int, WrittenAs.NOTHING] = 0
    mode: Annotated[str, WrittenAs.NOTHING] = ""
    part_number: Annotated[int | None, WrittenAs.NOTHING] = None
    """For a part that its customer cut: see :func:`risala.engine.model.numbers.part_number`."""


@dataclass(frozen=True, slots=True)
class ExportedMessage(FeedMessage):
    """A message with its text."""

    body: str | None = None
    """None: a one-time code, or no longer stored."""
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed(ExportedMessage):
    """A message as a list shows it."""

    part: PartPlace | None = None
    """None: it is no part."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part that a customer cut, with the fields that link it to its message."""

    key: int
    id: str
    organization: int
    mode: int
    recipient: int | str
    sender: int
    api_key: int | None
    encoding: int
    part: int
    number: int
    body: str | None = field(repr=False)
    """None: no longer stored."""

    @property
    def message(self) -> tuple[object, ...]:
        """What it shares with the other parts of its message."""
        ends = (self.organization, self.mode, self.recipient, self.sender)
        return (*ends, self.api_key, self.encoding, self.part & SAME_MESSAGE)


@dataclass(frozen=True, slots=True)
class CutMessage:
    """A message that its customer cut: its known parts, by their numbers."""

    parts: dict[int, StoredPart]
    total: int

    @property
    def is_whole(self) -> bool:
        return len(self.parts) == self.total

    def may_have(self, run: Mapping[int, StoredPart]) -> bool:
        """Whether later parts may be the missing ones."""
        last = max(each.key for each in self.parts.values())
        is_soon = min(each.key for each in run.values()) - last <= APART_MAX
        return is_soon and self.parts.keys().isdisjoint(run)

    @property
    def text(self) -> str:
        """The joined text, with … for a part that is missing or no longer stored."""
        texts = {
            number: PartText(each.body, *halves_of(each.part))
            for number, each in self.parts.items()
            if each.body is not None
        }
        return text_of_parts(texts, self.total)


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page, and where the next ones begin; None: no further page."""

    messages: tuple[Listed, ...]
    newer: Digits | None
    older: Digits | None
    looked_to: Moment | None
    """The search came this far; the rest is on the next page."""


@dataclass(frozen=True, slots=True)
class NewerCount:
    """How many messages are newer than one."""

    newer: int
    """At most :data:`NEWER_MAX`."""
    more: bool


@dataclass(frozen=True, slots=True)
class ExportPart:
    """A part of an export, and the number of its line in the audit trail."""

    messages: tuple[ExportedMessage, ...]
    newer: Digits | None
    older: Digits | None
    looked_to: Moment | None
    export: Digits


@dataclass(frozen=True, slots=True)
class Sought:
    """The search terms: one of them, or ``ranges`` and ``carrier_id``; then either may match."""

    recipient: str | None = None
    ranges: tuple[tuple[int, int], ...] | None = None
    """The first and the last number of each range that may be the recipient's."""
    message_id: str | None = None
    """Or its number, as SMPP customers may have it."""
    carrier_id: str | None = None
    """In any form: case and leading zeros do not matter. If nothing has it, it is also searched as
    the other of decimal and hexadecimal, and then as the number of a message."""


@dataclass(frozen=True, slots=True)
class FoundMessage(FeedMessage):
    """A message with its organization."""

    mode: str = ""
    organization_id: str = ""
    organization_name: str = ""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page, the newest first, and where the next ones begin; None: no further page."""

    messages: tuple[FoundMessage, ...]
    newer: Digits | None
    older: Digits | None


LIST: Final = Ask("message.list", ListPage)
NEWER: Final = Ask("message.newer", NewerCount)
EXPORT: Final = Ask("message.export", ExportPart)
FIND: Final = Ask("message.find", FoundPage)
