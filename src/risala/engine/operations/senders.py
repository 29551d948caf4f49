"""Senders that organizations ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import Sender
from risala.engine.model.records.accounts import WEEK_HOURS, WEEKLY_MESSAGES
from risala.engine.model.records.figures import SENT_MAX
from risala.engine.model.wire import sender_wire
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeText,
    OfMaybeOrganization,
    OfOrganization,
    Text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, VIEWERS
from risala.engine.rules.sender_marks import Mark
from risala.sms.address import fold_sender

DAY_HOURS: Final = 24
NAME_DAYS: Final = 30
"""Of the messages that are counted by name."""
NAMES_MAX: Final = 10
"""Names whose messages are counted: hardly anybody has more."""
_DAY_MS: Final = 86_400_000


class RequestSender(OfOrganization):
    """Ask for a sender in an organization's place."""

    name: Text
    description: MaybeText = None


class CheckSender(OfOrganization):
    """Look whether a name can be asked for, before it is."""

    name: Text


class FindSender(Arguments):
    """Find the one request for a sender of this name."""

    name: Text


class OfSender(Arguments):
    """Names one sender."""

    sender_id: Text


class DenySender(OfSender):
    """Deny a sender, with the code of a reason."""

    reason: Text


@dataclass(frozen=True, slots=True)
class FoundSender:
    """Whose request a name means: no more of it than that, so that no line is left."""

    count: int
    sender_id: str | None
    """Where one organization has asked for it and no other."""


@dataclass(frozen=True, slots=True)
class MarkedSender:
    """A sender with the reasons to look at it twice."""

    sender: Sender
    marks: Sequence[Mark]
    """Why to look twice; none for members, because it may name other customers."""


@dataclass(frozen=True, slots=True)
class MarkedSenders:
    """Senders, each with the reasons to look at it twice."""

    senders: tuple[MarkedSender, ...]


@dataclass(frozen=True, slots=True)
class NameVolume:
    """How much went out under one name in the last days."""

    name: str
    messages: int
    is_cut: bool
    """There may be more."""


@dataclass(frozen=True, slots=True)
class SendingVolume:
    """How much an organization sends, and how much approves its cleared senders."""

    daily: int
    weekly: int
    needed: int
    names: tuple[NameVolume, ...]


@dataclass(frozen=True, slots=True)
class CheckedName:
    """What speaks against a name."""

    fault: str | None
    """Why the request would be refused: ``rule``, ``default`` or ``taken``."""
    marks: Sequence[str]
    """What an operator may have against it: ``generic``, ``default``, ``protected``."""


def _volume_wire(found: SendingVolume) -> Json:
    names = [
        {"name": each.name, "messages": each.messages, "more": each.is_cut} for each in found.names
    ]
    return {**asdict(found), "names": names, "days": NAME_DAYS}


def _checked_wire(found: CheckedName) -> Json:
    return {"fault": found.fault, "marks": [*found.marks]}


def _wire(found: MarkedSender) -> Json:
    return {**sender_wire(found.sender), "marks": [asdict(mark) for mark in found.marks]}


def _list_wire(found: MarkedSenders) -> Json:
    return {"senders": [_wire(each) for each in found.senders]}


def _found_wire(found: FoundSender) -> Json:
    return {"count": found.count, "senderId": found.sender_id}


def _marked(call: Call[Any], *found: Sender) -> tuple[MarkedSender, ...]:
    if call.caller.is_member:
        return tuple(MarkedSender(sender, ()) for sender in found)
    marks = call.services.senders.marks(found)
    return tuple(MarkedSender(sender, of_it) for sender, of_it in zip(found, marks, strict=True))


async def _sender_request(call: Call[RequestSender]) -> MarkedSender:
    given = call.given
    sender = await call.services.senders.request(
        given.organization_id,
        given.name,
        given.description or "",
        by=call.audit(AuditImage.SENDER),
    )
    return _marked(call, sender)[0]


async def _sender_list(call: Call[OfMaybeOrganization]) -> MarkedSenders:
    found = call.services.senders.list(call.given.organization_id)
    return MarkedSenders(_marked(call, *found))


async def _sender_volume(call: Call[OfOrganization]) -> SendingVolume:
    organization_id, senders = call.given.organization_id, call.services.senders
    call.services.accounts.organization(organization_id)
    daily, weekly = (senders.volume(organization_id, hours) for hours in (DAY_HOURS, WEEK_HOURS))
    approved = [each.name for each in senders.list(organization_id) if each.status == "approved"]
    counts = call.services.repositories.figures.sent_by_name(
        organization_id,
        approved[:NAMES_MAX],
        call.now_ms - NAME_DAYS * _DAY_MS,
    )
    names = tuple(NameVolume(name, count, count >= SENT_MAX) for name, count in counts.items())
    return SendingVolume(daily, weekly, WEEKLY_MESSAGES, names)


async def _sender_check(call: Call[CheckSender]) -> CheckedName:
    given, services = call.given, call.services
    services.accounts.organization(given.organization_id)
    return CheckedName(*services.senders.foresee(given.organization_id, given.name))


async def _sender_find(call: Call[FindSender]) -> FoundSender:
    wanted = fold_sender(call.given.name)
    found = [
        each.id for each in call.services.senders.list(None) if fold_sender(each.name) == wanted
    ]
    return FoundSender(len(found), found[0] if len(found) == 1 else None)


async def _sender_clear(call: Call[OfSender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.given.sender_id)
    sender = await call.services.senders.clear(call.given.sender_id, waive=False, by=by)
    return _marked(call, sender)[0]


async def _sender_waive(call: Call[OfSender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.given.sender_id)
    sender = await call.services.senders.clear(call.given.sender_id, waive=True, by=by)
    return _marked(call, sender)[0]


async def _sender_deny(call: Call[DenySender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.given.sender_id)
    sender = await call.services.senders.deny(call.given.sender_id, call.given.reason, by=by)
    return _marked(call, sender)[0]


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="sender.request",
        arguments=RequestSender,
        result=MarkedSender,
        wire=_wire,
        handler=_sender_request,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="sender.list",
        arguments=OfMaybeOrganization,
        result=MarkedSenders,
        wire=_list_wire,
        handler=_sender_list,
        roles=VIEWERS,
        owner=owners.named,
        crosses=True,
    ),
    Operation(
        name="sender.volume",
        arguments=OfOrganization,
        result=SendingVolume,
        wire=_volume_wire,
        handler=_sender_volume,
        roles=VIEWERS,
        owner=owners.named,
    ),
    Operation(
        name="sender.check",
        arguments=CheckSender,
        result=CheckedName,
        wire=_checked_wire,
        handler=_sender_check,
        roles=DEVELOPERS,
        owner=owners.named,
    ),
    Operation(
        name="sender.find",
        arguments=FindSender,
        result=FoundSender,
        wire=_found_wire,
        handler=_sender_find,
        roles=OPERATORS,
    ),
    Operation(
        name="sender.clear",
        arguments=OfSender,
        result=MarkedSender,
        wire=_wire,
        handler=_sender_clear,
        roles=OPERATORS,
        owner=owners.of_sender,
        changes=True,
    ),
    Operation(
        name="sender.waive",
        arguments=OfSender,
        result=MarkedSender,
        wire=_wire,
        handler=_sender_waive,
        roles=OPERATORS,
        owner=owners.of_sender,
        changes=True,
    ),
    Operation(
        name="sender.deny",
        arguments=DenySender,
        result=MarkedSender,
        wire=_wire,
        handler=_sender_deny,
        roles=OPERATORS,
        owner=owners.of_sender,
        changes=True,
    ),
)
