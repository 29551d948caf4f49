"""Senders that organizations ask for."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    Arguments,
    MaybeText,
    OfMaybeOrganization,
    OfOrganization,
    Text,
)
from risala.engine.kernel.operation import Call, Operations, Weight
from risala.engine.model.audit import AuditImage
from risala.engine.model.records import senders
from risala.engine.model.records.accounts import WEEK_HOURS, WEEKLY_MESSAGES
from risala.engine.model.records.figures import SENT_MAX
from risala.engine.model.records.record import shallow
from risala.engine.model.records.senders import (
    CheckedName,
    FoundSender,
    MarkedSender,
    MarkedSenders,
    NameVolume,
    Sender,
    SendingVolume,
)
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, READERS, SUPPORT, VIEWERS
from risala.sms.address import fold_sender

DAY_HOURS: Final = 24
NAME_DAYS: Final = 30
"""The time over which messages are counted by name."""
NAMES_MAX: Final = 10
"""The most names whose messages are counted: hardly anybody has more."""
_DAY_MS: Final = 86_400_000


class RequestSender(OfOrganization):
    """Ask for a sender for an organization."""

    name: Text
    description: MaybeText = None


class CheckSender(OfOrganization):
    """Check whether a name can be requested."""

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


def _marked(call: Call[Any], *found: Sender) -> tuple[MarkedSender, ...]:
    marks = [()] * len(found) if call.caller.is_member else call.services.senders.marks(found)
    return tuple(
        MarkedSender(**shallow(sender), marks=tuple(of_it))
        for sender, of_it in zip(found, marks, strict=True)
    )


OPERATIONS: Final = Operations()
_DECIDED: Final[dict[str, Any]] = {
    "roles": OPERATORS,
    "owner": owners.of_sender,
    "changes": Sender,
}


@OPERATIONS(
    senders.REQUEST, roles=DEVELOPERS, operators=SUPPORT, owner=owners.named, changes=Sender
)
async def _sender_request(call: Call[RequestSender]) -> MarkedSender:
    given = call.given
    sender = await call.services.senders.request(
        given.organization_id,
        given.name,
        given.description or "",
        by=call.audit(AuditImage.SENDER),
    )
    return _marked(call, sender)[0]


@OPERATIONS(
    senders.LIST, roles=VIEWERS, operators=READERS, owner=owners.named, reads_all_organizations=True
)
async def _sender_list(call: Call[OfMaybeOrganization]) -> MarkedSenders:
    found = call.services.senders.list(call.given.organization_id)
    return MarkedSenders(_marked(call, *found))


@OPERATIONS(senders.VOLUME, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _sender_volume(call: Call[OfOrganization]) -> SendingVolume:
    organization_id, judge = call.given.organization_id, call.services.senders
    call.services.accounts.organization(organization_id)
    daily, weekly = (judge.volume(organization_id, hours) for hours in (DAY_HOURS, WEEK_HOURS))
    approved = [each.name for each in judge.list(organization_id) if each.status == "approved"]
    counts = call.services.repositories.figures.sent_by_name(
        organization_id,
        approved[:NAMES_MAX],
        call.now_ms - NAME_DAYS * _DAY_MS,
    )
    names = tuple(NameVolume(name, count, count >= SENT_MAX) for name, count in counts.items())
    return SendingVolume(daily, weekly, WEEKLY_MESSAGES, names, NAME_DAYS)


@OPERATIONS(senders.CHECK, roles=DEVELOPERS, operators=READERS, owner=owners.named)
async def _sender_check(call: Call[CheckSender]) -> CheckedName:
    given, services = call.given, call.services
    services.accounts.organization(given.organization_id)
    fault, marks = services.senders.foresee(given.organization_id, given.name)
    return CheckedName(fault, tuple(marks))


@OPERATIONS(senders.FIND, roles=OPERATORS, operators=READERS)
async def _sender_find(call: Call[FindSender]) -> FoundSender:
    wanted = fold_sender(call.given.name)
    found = [
        each.id for each in call.services.senders.list(None) if fold_sender(each.name) == wanted
    ]
    return FoundSender(len(found), found[0] if len(found) == 1 else None)


def _weigh(call: Call[OfSender]) -> Weight:
    """A sender's approval; the request as it is now."""
    found = call.services.repositories.senders.sender(call.given.sender_id)
    return Weight(None, {"name": found.name, "status": found.status, "cleared": found.cleared})


@OPERATIONS(senders.CLEAR, four_eyes=_weigh, operators=SUPPORT, **_DECIDED)
async def _sender_clear(call: Call[OfSender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.given.sender_id)
    sender = await call.services.senders.clear(call.given.sender_id, waive=False, by=by)
    return _marked(call, sender)[0]


@OPERATIONS(senders.WAIVE, four_eyes=_weigh, operators=SUPPORT, **_DECIDED)
async def _sender_waive(call: Call[OfSender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.given.sender_id)
    sender = await call.services.senders.clear(call.given.sender_id, waive=True, by=by)
    return _marked(call, sender)[0]


@OPERATIONS(senders.DENY, operators=SUPPORT, **_DECIDED)
async def _sender_deny(call: Call[DenySender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.given.sender_id)
    sender = await call.services.senders.deny(call.given.sender_id, call.given.reason, by=by)
    return _marked(call, sender)[0]
