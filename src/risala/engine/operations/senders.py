"""Senders: requested, checked and decided on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

import trio
from pydantic import PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeSearch,
    MaybeText,
    MaybeWhole,
    OfMaybeOrganization,
    OfOrganization,
    Text,
    one_of,
)
from risala.engine.kernel.cursors import MaybeTimedPlace, limit_of, written
from risala.engine.kernel.operation import Call, Operations, Weight
from risala.engine.model.audit import AuditImage
from risala.engine.model.records import senders
from risala.engine.model.records.accounts import (
    REQUEST_STATES,
    REQUESTED,
    WEEK_HOURS,
    WEEKLY_MESSAGES,
    SenderRequestFilter,
)
from risala.engine.model.records.asks import Place, Steps
from risala.engine.model.records.record import shallow
from risala.engine.model.records.senders import (
    REQUESTS,
    SENT_MAX,
    CheckedName,
    DenialReason,
    FoundSender,
    Mark,
    MarkedSender,
    MarkedSenders,
    NameVolume,
    Sender,
    SenderRequest,
    SenderRequestPage,
    SendingVolume,
    reasons_of,
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


def _marked(call: Call[Any], *senders: Sender) -> tuple[MarkedSender, ...]:
    marks = [()] * len(senders) if call.caller.is_member else call.services.senders.marks(senders)
    return tuple(
        MarkedSender(**shallow(sender), marks=tuple(of_it))
        for sender, of_it in zip(senders, marks, strict=True)
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
    arguments = call.arguments
    sender = await call.services.senders.request(
        arguments.organization_id,
        arguments.name,
        arguments.description or "",
        by=call.audit(AuditImage.SENDER),
    )
    return _marked(call, sender)[0]


@OPERATIONS(
    senders.LIST, roles=VIEWERS, operators=READERS, owner=owners.named, reads_all_organizations=True
)
async def _sender_list(call: Call[OfMaybeOrganization]) -> MarkedSenders:
    senders = call.services.repositories.senders.all(call.arguments.organization_id)
    return MarkedSenders(_marked(call, *senders))


@OPERATIONS(senders.VOLUME, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _sender_volume(call: Call[OfOrganization]) -> SendingVolume:
    organization_id, judge = call.arguments.organization_id, call.services.senders
    call.services.accounts.organization(organization_id)
    daily, weekly = (judge.volume(organization_id, hours) for hours in (DAY_HOURS, WEEK_HOURS))
    mine = call.services.repositories.senders.all(organization_id)
    approved = [each.name for each in mine if each.status == "approved"]
    counts = call.services.repositories.senders.sent_by_name(
        organization_id,
        approved[:NAMES_MAX],
        call.now_ms - NAME_DAYS * _DAY_MS,
    )
    names = tuple(NameVolume(name, count, count >= SENT_MAX) for name, count in counts.items())
    return SendingVolume(daily, weekly, WEEKLY_MESSAGES, names, NAME_DAYS)


@OPERATIONS(senders.CHECK, roles=DEVELOPERS, operators=READERS, owner=owners.named)
async def _sender_check(call: Call[CheckSender]) -> CheckedName:
    arguments, services = call.arguments, call.services
    services.accounts.organization(arguments.organization_id)
    fault, marks = services.senders.foresee(arguments.organization_id, arguments.name)
    return CheckedName(fault, tuple(marks))


@OPERATIONS(senders.FIND, roles=OPERATORS, operators=READERS)
async def _sender_find(call: Call[FindSender]) -> FoundSender:
    folded = fold_sender(call.arguments.name)
    sender_ids = [
        each.id
        for each in call.services.repositories.senders.all(None)
        if fold_sender(each.name) == folded
    ]
    return FoundSender(len(sender_ids), sender_ids[0] if len(sender_ids) == 1 else None)


def _weigh(call: Call[OfSender]) -> Weight:
    """A sender's approval; the request as it is now."""
    sender = call.services.repositories.senders.sender(call.arguments.sender_id)
    return Weight(None, {"name": sender.name, "status": sender.status, "cleared": sender.cleared})


@OPERATIONS(senders.CLEAR, four_eyes=_weigh, operators=SUPPORT, **_DECIDED)
async def _sender_clear(call: Call[OfSender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.arguments.sender_id)
    sender = await call.services.senders.clear(call.arguments.sender_id, waive=False, by=by)
    return _marked(call, sender)[0]


@OPERATIONS(senders.WAIVE, four_eyes=_weigh, operators=SUPPORT, **_DECIDED)
async def _sender_waive(call: Call[OfSender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.arguments.sender_id)
    sender = await call.services.senders.clear(call.arguments.sender_id, waive=True, by=by)
    return _marked(call, sender)[0]


@OPERATIONS(senders.DENY, operators=SUPPORT, **_DECIDED)
async def _sender_deny(call: Call[DenySender]) -> MarkedSender:
    by = call.audit(AuditImage.SENDER, call.arguments.sender_id)
    sender = await call.services.senders.deny(
        call.arguments.sender_id, call.arguments.reason, by=by
    )
    return _marked(call, sender)[0]


# -- requests, for operators to decide on: marked ones first


AT_ONCE_MAX: Final = 10
"""Requests that are checked for marks at once: with ten thousand existing names this takes a
hundred milliseconds at most, and mostly one. More are checked in a thread."""


_state: Final = one_of("invalid_status", sorted(REQUEST_STATES))


class ListSenderRequests(Arguments):
    """A page of requests for senders. Waiting ones: marked ones first, then the oldest. All others:
    the newest first."""

    status: Annotated[
        str,
        PlainValidator(_state),
        ArgumentKind("`waiting`, `cleared`, `approved` or `denied`"),
    ] = REQUESTED
    search: MaybeSearch = None
    """Part of the sender's name, or of the organization's name or id."""
    sender_id: MaybeText = None
    """Only this one, whatever its state."""
    before: MaybeTimedPlace = None
    after: MaybeTimedPlace = None
    limit: MaybeWhole = None


@OPERATIONS(REQUESTS, roles=OPERATORS, operators=READERS, reads_all_organizations=True)
async def _list_requests(call: Call[ListSenderRequests]) -> SenderRequestPage:
    arguments, senders = call.arguments, call.services.repositories.senders
    limit = limit_of(arguments.limit)
    request_filter = SenderRequestFilter(arguments.status, arguments.search)
    if arguments.sender_id is not None:
        return _request_page(call, await _with_marks(call, [senders.sender(arguments.sender_id)]))
    if arguments.status != REQUESTED:
        steps = Steps(limit, _id_of(arguments.before), _id_of(arguments.after))
        page = senders.page(request_filter, steps)
        marked = await _with_marks(call, page.items)
        return _request_page(call, marked, _cursor(page.newer), _cursor(page.older))
    marked = await _with_marks(call, senders.requested(request_filter))
    places = sorted((_rank(sender, marks), sender, marks) for sender, marks in marked)
    return _cut(call, places, limit)


Marked = tuple[Sender, Sequence[Mark]]


async def _with_marks(call: Call[Any], senders: Sequence[Sender]) -> list[Marked]:
    judge = call.services.senders
    if len(senders) <= AT_ONCE_MAX:
        return list(zip(senders, judge.marks(senders), strict=True))
    owned = call.services.repositories.senders.owned_names()
    marks = await trio.to_thread.run_sync(judge.marks_among, senders, owned)
    return list(zip(senders, marks, strict=True))


def _rank(sender: Sender, marks: Sequence[Mark]) -> Place:
    """A sender's place in the queue: marked ones first, then by id, which is in order of time."""
    return (0 if marks else 1, sender.id)


def _cut(
    call: Call[ListSenderRequests],
    places: Sequence[tuple[Place, Sender, Sequence[Mark]]],
    limit: int,
) -> SenderRequestPage:
    """The requested page of all waiting requests, given here in order."""
    arguments = call.arguments
    first = 0
    if arguments.before is not None:
        first = sum(place <= arguments.before for place, *_ in places)
    elif arguments.after is not None:
        first = max(0, sum(place < arguments.after for place, *_ in places) - limit)
    shown = places[first : first + limit]
    older = shown[-1][0] if first + limit < len(places) else None
    newer = shown[0][0] if shown and first > 0 else None
    return _request_page(call, [(sender, marks) for _, sender, marks in shown], newer, older)


def _request_page(
    call: Call[Any],
    shown: Sequence[Marked],
    newer: Place | None = None,
    older: Place | None = None,
) -> SenderRequestPage:
    undecided = call.services.repositories.senders.undecided()
    return SenderRequestPage(
        tuple(_request_of(call, *each) for each in shown),
        written(newer),
        written(older),
        undecided.count,
        undecided.oldest,
        tuple(
            DenialReason(code, sentence)
            for code, sentence in reasons_of(call.services.settings.plan).items()
        ),
    )


def _request_of(call: Call[Any], sender: Sender, marks: Sequence[Mark]) -> SenderRequest:
    return SenderRequest(
        **shallow(sender),
        marks=tuple(marks),
        organization_name=call.services.repositories.organizations.name(sender.organization_id),
        volume=call.services.senders.volume(sender.organization_id, WEEK_HOURS),
        needed=WEEKLY_MESSAGES,
    )


def _id_of(place: Place | None) -> Place | None:
    return None if place is None else place[1:]


def _cursor(place: Place | None) -> Place | None:
    return None if place is None else (0, *place)
