"""Alphanumeric senders: what operations on them answer, and what faces ask by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, JsonName, Moment, OneOf
from risala.sms.numbering.plan import NumberingPlan

REASONS: Final = {
    "name_in_use": "The name is already used by another organization.",
    "misleading": "The name is generic, misleading or impersonates a third party.",
    "regulations": "The use does not comply with Mauritanian telecommunications regulations.",
    "ownership": "Account information is insufficient to verify ownership of the brand.",
}
"""Reasons for which a request may be denied (specification §2.4)."""
SENT_MAX: Final = 2000
"""Messages of one sender that are counted, so that all names of a page take a few milliseconds."""
_ELSEWHERE: Final = {
    **REASONS,
    "regulations": "The use does not comply with the country's telecommunications regulations.",
}


def reasons_of(plan: NumberingPlan) -> Mapping[str, str]:
    """The reasons where these countries are served."""
    return REASONS if plan.is_default else _ELSEWHERE


@dataclass(frozen=True, slots=True)
class Sender:
    """A sender ID that was asked for."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    name: Annotated[str, AUDITED]
    # The registered spelling, with which messages are sent.
    status: Annotated[str, AUDITED, OneOf(("pending", "approved", "denied"))]
    cleared: Annotated[bool, AUDITED]
    """The operator has no objection; it is then approved once the organization sends enough
    messages a week."""
    cleared_at: Annotated[Moment | None, UNAUDITED]
    """When the operator cleared it; None: it is not cleared, or the time is unknown."""
    description: Annotated[str, UNAUDITED]
    reason: Annotated[str | None, AUDITED]
    """Why it was denied.

    A sentence; None if it was not denied."""
    created_at: Annotated[Moment, UNAUDITED]
    updated_at: Annotated[Moment, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Mark:
    """One reason to check; for operators only, because it may name other customers."""

    code: str
    """``generic``, ``default``, ``protected`` or ``organization``."""
    text: str
    name: str | None = None
    """The name that it resembles."""
    organization_id: Annotated[str | None, JsonName("organization_id")] = None
    """The organization with that name; None: no organization."""
    organization: str | None = None


@dataclass(frozen=True, slots=True)
class MarkedSender(Sender):
    """A sender with the reasons to check it."""

    marks: tuple[Mark, ...]
    """The reasons to check it; none for members, because it may name other customers."""


@dataclass(frozen=True, slots=True)
class MarkedSenders:
    """Senders, each with the reasons to check it."""

    senders: tuple[MarkedSender, ...]


@dataclass(frozen=True, slots=True)
class FoundSender:
    """The request that a name refers to, and no more of it, so that no audit line is left."""

    count: int
    sender_id: str | None
    """None unless exactly one organization has requested it."""


@dataclass(frozen=True, slots=True)
class NameVolume:
    """The messages sent under one name in the last days."""

    name: str
    messages: int
    is_cut: Annotated[bool, JsonName("more")]
    """True: there may be more."""


@dataclass(frozen=True, slots=True)
class SendingVolume:
    """An organization's sending volume, and the volume that approves its cleared senders."""

    daily: int
    weekly: int
    needed: int
    names: tuple[NameVolume, ...]
    days: int
    """The days over which messages are counted by name."""


@dataclass(frozen=True, slots=True)
class CheckedName:
    """The objections to a name."""

    fault: str | None
    """The reason why the request would be refused: ``rule``, ``default`` or ``taken``."""
    marks: tuple[str, ...]
    """An operator's possible objections: ``generic``, ``default``, ``protected``."""


@dataclass(frozen=True, slots=True)
class SenderRequest(MarkedSender):
    """A request with the facts for its decision."""

    organization_name: str
    volume: int
    """Messages that the organization sent in the last seven days."""
    needed: int


@dataclass(frozen=True, slots=True)
class DenialReason:
    """A reason for which a request may be denied."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class SenderRequestPage:
    """A page of requests, and how many wait for the operator."""

    senders: tuple[SenderRequest, ...]
    newer: str | None
    older: str | None
    waiting: int
    oldest_at: Moment | None
    reasons: tuple[DenialReason, ...]


REQUEST: Final = Ask("sender.request", MarkedSender)
LIST: Final = Ask("sender.list", MarkedSenders)
VOLUME: Final = Ask("sender.volume", SendingVolume)
CHECK: Final = Ask("sender.check", CheckedName)
FIND: Final = Ask("sender.find", FoundSender)
CLEAR: Final = Ask("sender.clear", MarkedSender)
WAIVE: Final = Ask("sender.waive", MarkedSender)
DENY: Final = Ask("sender.deny", MarkedSender)
REQUESTS: Final = Ask("sender.requests", SenderRequestPage)
