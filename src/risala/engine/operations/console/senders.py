"""Requests for senders, for operators to decide on: marked ones first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

import trio
from pydantic import PlainValidator

from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeSearch,
    MaybeText,
    MaybeWhole,
    one_of,
)
from risala.engine.kernel.cursors import MaybeTimedPlace, limit_of, written
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.accounts import (
    REQUEST_STATES,
    REQUESTED,
    WEEK_HOURS,
    WEEKLY_MESSAGES,
    SenderRequestFilter,
)
from risala.engine.model.records.paging import Place, Steps
from risala.engine.model.records.record import shallow
from risala.engine.model.records.senders import (
    REQUESTS,
    DenialReason,
    Mark,
    Sender,
    SenderRequest,
    SenderRequestPage,
    reasons_of,
)
from risala.engine.rules.roles import OPERATORS, READERS

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


OPERATIONS: Final = Operations()


@OPERATIONS(REQUESTS, roles=OPERATORS, operators=READERS, reads_all_organizations=True)
async def _list(call: Call[ListSenderRequests]) -> SenderRequestPage:
    given, senders = call.given, call.services.repositories.senders
    limit = limit_of(given.limit)
    wanted = SenderRequestFilter(given.status, given.search)
    if given.sender_id is not None:
        return _page(call, await _marked(call, [senders.sender(given.sender_id)]))
    if given.status != REQUESTED:
        steps = Steps(limit, _id_of(given.before), _id_of(given.after))
        found = senders.page(wanted, steps)
        marked = await _marked(call, found.found)
        return _page(call, marked, _cursor(found.newer), _cursor(found.older))
    marked = await _marked(call, senders.requested(wanted))
    places = sorted((_rank(sender, marks), sender, marks) for sender, marks in marked)
    return _cut(call, places, limit)


Marked = tuple[Sender, Sequence[Mark]]


async def _marked(call: Call[Any], found: Sequence[Sender]) -> list[Marked]:
    judge = call.services.senders
    if len(found) <= AT_ONCE_MAX:
        return list(zip(found, judge.marks(found), strict=True))
    owned = judge.owned_names()
    marks = await trio.to_thread.run_sync(judge.marks_among, found, owned)
    return list(zip(found, marks, strict=True))


def _rank(sender: Sender, marks: Sequence[Mark]) -> Place:
    """Its place: marked ones first, then by id, which is in order of time."""
    return (0 if marks else 1, sender.id)


def _cut(
    call: Call[ListSenderRequests],
    places: Sequence[tuple[Place, Sender, Sequence[Mark]]],
    limit: int,
) -> SenderRequestPage:
    """The requested page of all waiting requests, given here in order."""
    given = call.given
    first = 0
    if given.before is not None:
        first = sum(place <= given.before for place, *_ in places)
    elif given.after is not None:
        first = max(0, sum(place < given.after for place, *_ in places) - limit)
    shown = places[first : first + limit]
    older = shown[-1][0] if first + limit < len(places) else None
    newer = shown[0][0] if shown and first > 0 else None
    return _page(call, [(sender, marks) for _, sender, marks in shown], newer, older)


def _page(
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


def _cursor(found: Place | None) -> Place | None:
    return None if found is None else (0, *found)
