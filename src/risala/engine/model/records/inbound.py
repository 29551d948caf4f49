"""Incoming messages, their routes, and people who want no further messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InboundRoute:
    """The receiver of messages that come to a number, or begin with a word."""

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
    """None: it is not shown to the caller."""
    received_at: int


@dataclass(frozen=True, slots=True)
class OptOut:
    """A number that wants no messages of an organization."""

    recipient: str
    carrier: str
    """The number through which it was sent; empty: it was noted by hand."""
    at: int
    who: str | None
    """Who noted it; None: the number itself, by the keyword, or a user who was deleted since."""
    keyword: str | None


@dataclass(frozen=True, slots=True)
class ReceivedFilter:
    """Which messages are in a list; None: any."""

    organization_id: str | None = None
    sender: str | None = None
    recipient: str | None = None
    """The number of ours that they came to."""
    since: int | None = None
    until: int | None = None
    """Received at or after, and before: UTC epoch milliseconds."""
