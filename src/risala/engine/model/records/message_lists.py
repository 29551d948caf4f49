"""Messages and verification sessions as lists show them, and messages that their customers cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.numbers import halves_of
from risala.sms.joining import PartText, text_of_parts

KEY_END: Final = 2**63 - 1
"""Later than any message's key."""
WALKS_MAX: Final = 500
"""Organizations that are walked at most, of those that wrote to a number: some milliseconds. Of
a part of a number, its numbers and their organizations."""
UNCERTAIN: Final = "uncertain"
"""A state that lists know beside the statuses: nobody knows whether the carrier has it."""
APART_MAX_MS: Final = 300_000
"""Between a part and the next: five minutes. Software submits them in a row, and throttling may
hold it up; after longer the reference may be another message's."""
APART_MAX: Final = APART_MAX_MS << KEY_COUNTER_BITS
"""The same between keys."""
SAME_MESSAGE: Final = 0xFFFFFF << 9 | 1
"""The bits of :func:`risala.engine.model.numbers.part_number` that all parts of one message have
in common: the reference, how many there are, and the reference's width."""


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages a list is of; None: whichever."""

    organization_id: str
    mode: str
    status: str | None = None
    """A status, or :data:`UNCERTAIN`."""
    recipient: str | None = None
    sender: str | None = None
    kind: str | None = None
    """``sms``, or ``code``; None: both."""
    api_key: str | None = None
    """The id of the key that they came by."""
    cause: str | None = None
    """An error code, or the carrier's own word."""
    contains: str | None = None
    """Digits of the recipient, words of the text, or the carrier's own word."""
    searches_texts: bool = True
    """False: ``contains`` is not looked for in texts, which the reader does not see."""
    since: int | None = None
    until: int | None = None
    """Accepted at or after, and before: UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions a list is of; None: whichever."""

    organization_id: str
    mode: str
    now_ms: int
    """One whose time is over counts as expired, also before that is written."""
    status: str | None = None
    recipient: str | None = None
    since: int | None = None
    until: int | None = None
    """Opened at or after, and before: UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A message as a list shows it."""

    key: int
    id: str
    mode: str
    kind: str
    to: str
    sender: str
    body: str | None
    """None: a one-time code, or no longer kept."""
    status: str
    uncertain: bool
    segments: int
    encoding: str
    price: int
    currency: str
    attempts: int
    carrier: str | None
    provider_message_id: str | None
    error_code: str | None
    carrier_code: str | None
    api_key: str | None
    metadata: dict[str, str]
    send_at: int | None
    sent_at: int | None
    delivered_at: int | None
    created_at: int
    updated_at: int
    part: int | None
    """Where it is a part that its customer cut: see :func:`part_number`."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part that a customer cut, as far as it says to which message it belongs."""

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
    """None: no longer kept."""

    @property
    def message(self) -> tuple[object, ...]:
        """What it has in common with the other parts of its message."""
        ends = (self.organization, self.mode, self.recipient, self.sender)
        return (*ends, self.api_key, self.encoding, self.part & SAME_MESSAGE)


@dataclass(frozen=True, slots=True)
class CutMessage:
    """A message that its customer cut: those of its parts that are there, by their numbers."""

    parts: dict[int, StoredPart]
    total: int

    @property
    def is_whole(self) -> bool:
        return len(self.parts) == self.total

    def may_have(self, run: Mapping[int, StoredPart]) -> bool:
        """Whether parts that came later may be what it lacks."""
        last = max(each.key for each in self.parts.values())
        is_soon = min(each.key for each in run.values()) - last <= APART_MAX
        return is_soon and self.parts.keys().isdisjoint(run)

    @property
    def text(self) -> str:
        """The joined text, with … where a part is missing or no longer kept."""
        texts = {
            number: PartText(each.body, *halves_of(each.part))
            for number, each in self.parts.items()
            if each.body is not None
        }
        return text_of_parts(texts, self.total)


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page, and where the next ones begin; None: there are none."""

    messages: tuple[Listed, ...]
    newer: int | None
    older: int | None
    looked_to: int | None
    """UTC epoch milliseconds: so far it was looked, and what lies beyond is on the next page."""
    cut: Mapping[int, CutMessage] = field(default_factory=dict)
    """The whole of messages of which parts are on the page, by those parts' keys, as far as the
    reader was to have it."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for by: one of them, or ``digits`` and ``carrier_id``; either will do then."""

    recipient: str | None = None
    digits: str | None = None
    """In a row anywhere in the recipient's number, at least ``PART_MIN``."""
    message_id: str | None = None
    """Or its number, as SMPP customers may have it."""
    carrier_id: str | None = None
    """In any form: case and leading zeros do not matter; where nothing has it, it is looked for as
    the other of decimal and hexadecimal too, and then as the number of a message."""


@dataclass(frozen=True, slots=True)
class FoundMessage(Listed):
    """A message with whose it is; its text and metadata are not read."""

    organization_id: str
    organization_name: str
    provider_message_id: str | None


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page, the newest first, and where the next ones begin; None: there are none."""

    messages: tuple[FoundMessage, ...]
    newer: int | None
    older: int | None


class TooManyNumbersError(Exception):
    """More numbers have the digits than are walked: somebody has to give more of them."""
