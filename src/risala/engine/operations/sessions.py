"""Verification sessions as pages list them, and what became of those of a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.commands import VerificationView
from risala.engine.model.records.figures import Funnel
from risala.engine.model.records.message_lists import SessionFilter
from risala.engine.model.records.paging import Place, Steps
from risala.engine.model.times import maybe_iso
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Json,
    MaybeMoment,
    MaybeWhole,
    ModeWord,
    OfOrganization,
    fault,
    maybe,
    number,
    text,
)
from risala.engine.operations.cursors import MaybeTimedPlace, written
from risala.engine.operations.lists import PAGE_MAX, PAGE_USUAL
from risala.engine.operations.operation import Call, Operation
from risala.engine.operations.overview import Moment, funnel_wire
from risala.engine.operations.verify import session_wire
from risala.engine.rules.roles import VIEWERS
from risala.engine.rules.verification import SessionState
from risala.engine.verify.sessions import view_of


def _state(value: object) -> str:
    found = text(value)
    if found not in set(SessionState):
        raise fault("invalid_status", "`{name}` must be the status of a session.")
    return found


class ListSessions(OfOrganization):
    """A page of an organization's verification sessions, the newest first."""

    mode: ModeWord = "live"
    status: Annotated[
        str | None, PlainValidator(maybe(_state)), ArgumentKind("status of a session")
    ] = None
    to: Annotated[str | None, PlainValidator(maybe(number)), ArgumentKind("phone number")] = None
    since: MaybeMoment = None
    until: MaybeMoment = None
    before: MaybeTimedPlace = None
    after: MaybeTimedPlace = None
    limit: MaybeWhole = None


class SumSessions(OfOrganization):
    """What became of an organization's verification sessions of a time."""

    since: Moment
    until: Moment
    mode: ModeWord = "live"


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, the newest first, and where the next pages begin."""

    sessions: tuple[VerificationView, ...]
    newer: Place | None
    older: Place | None
    looked_to: int | None
    """UTC epoch milliseconds: so far it was looked; None: as far as there are any."""


def _page_wire(page: SessionPage) -> Json:
    return {
        "sessions": [session_wire(each) for each in page.sessions],
        "newer": written(page.newer),
        "older": written(page.older),
        "lookedTo": maybe_iso(page.looked_to),
    }


async def _list(call: Call[ListSessions]) -> SessionPage:
    given, now_ms = call.given, call.now_ms
    call.services.accounts.organization(given.organization_id)
    wanted = SessionFilter(
        given.organization_id,
        given.mode,
        now_ms,
        status=given.status,
        recipient=given.to,
        since=given.since,
        until=given.until,
    )
    limit = max(1, min(given.limit or PAGE_USUAL, PAGE_MAX))
    steps = Steps(limit, before=given.before, after=given.after)
    found = call.services.repositories.verifications.page(wanted, steps)
    return SessionPage(
        tuple(view_of(row, now_ms) for row in found.found),
        found.newer,
        found.older,
        None if found.looked_to is None else found.looked_to.created_at,
    )


async def _figures(call: Call[SumSessions]) -> Funnel:
    given = call.given
    call.services.accounts.organization(given.organization_id)
    figures = call.services.repositories.figures
    return figures.funnel(given.organization_id, given.mode, given.since, given.until)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="verify.list",
        arguments=ListSessions,
        result=SessionPage,
        wire=_page_wire,
        handler=_list,
        roles=VIEWERS,
        owner=owners.named,
    ),
    Operation(
        name="verify.figures",
        arguments=SumSessions,
        result=Funnel,
        wire=funnel_wire,
        handler=_figures,
        roles=VIEWERS,
        owner=owners.named,
    ),
)
