"""Messages that come in, where they go, and who wants no more messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InboundRoute:
    """To whom messages go that come to a number, or begin with a word."""

    id: str
    organization_id: str
    recipient: str
    """Empty: any number of ours."""
    keyword: str
    """Folded; empty: any first word."""
    created_at: int


@dataclass(frozen=True, slots=True)
class Received:
    """A message that came in."""

    id: str
    organization_id: str | None
    carrier: str
    sender: str
    recipient: str | None
    body: str | None
    """None: it is not shown to who asks."""
    received_at: int


@dataclass(frozen=True, slots=True)
class OptOut:
    """A number that wants no messages of an organization."""

    recipient: str
    carrier: str
    """Through which it said so; empty: somebody noted it by hand."""
    at: int
    who: str | None
    """Who noted it; None: the number itself, by the keyword, or a user who was deleted since."""
    keyword: str | None


@dataclass(frozen=True, slots=True)
class ReceivedFilter:
    """Which messages a list is of; None: whichever."""

    organization_id: str | None = None
    sender: str | None = None
    recipient: str | None = None
    """The number of ours that they came to."""
    since: int | None = None
    until: int | None = None
    """Received at or after, and before: UTC epoch milliseconds."""
