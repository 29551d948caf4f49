"""Lists of verification sessions, and the results of those of a time."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeDigits,
    MaybeMoment,
    MaybeNumber,
    MaybeWhole,
    ModeWord,
    OfOrganization,
    fault,
    maybe,
    text,
)
from risala.engine.kernel.cursors import (
    MaybeTimedPlace,
    few_numbers,
    part_of,
    steps_of,
    written,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.figures import Funnel
from risala.engine.model.records.message_lists import SessionFilter
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.verify.sessions import FIGURES, LIST, SessionPage
from risala.engine.model.states import SessionState
from risala.engine.operations.overview import Moment
from risala.engine.rules.roles import READERS, SUPPORT, VIEWERS
from risala.engine.rules.verification import VerificationRow
from risala.engine.verify.sessions import settle_seen, view_of


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
    to: MaybeNumber = None
    digits: MaybeDigits = None
    """Of the number that got the code."""
    since: MaybeMoment = None
    until: MaybeMoment = None
    before: MaybeTimedPlace = None
    after: MaybeTimedPlace = None
    limit: MaybeWhole = None


class SumSessions(OfOrganization):
    """The results of an organization's verification sessions of a time."""

    since: Moment
    until: Moment
    mode: ModeWord = "live"


OPERATIONS: Final = Operations()


@OPERATIONS(LIST, roles=VIEWERS, operators=SUPPORT, owner=owners.named)
async def _list(call: Call[ListSessions]) -> SessionPage:
    given, now_ms = call.given, call.now_ms
    call.services.accounts.organization(given.organization_id)
    wanted = SessionFilter(
        given.organization_id,
        given.mode,
        now_ms,
        status=given.status,
        recipient=given.to,
        part=part_of(call.services.settings.plan, given.digits),
        since=given.since,
        until=given.until,
    )
    steps = steps_of(given.limit, given.before, given.after)
    found = await _page(call, wanted, steps)
    if await settle_seen(call.services.sessions, call.services.recorder.clock, found.found):
        found = await _page(call, wanted, steps)
    return SessionPage(
        tuple(view_of(row, now_ms) for row in found.found),
        written(found.newer),
        written(found.older),
        None if found.looked_to is None else found.looked_to.created_at,
    )


async def _page(
    call: Call[ListSessions], wanted: SessionFilter, steps: Steps
) -> CursorPage[VerificationRow]:
    stored = call.services.repositories.verifications
    with few_numbers():
        if wanted.part is None:
            return stored.page(wanted, steps)
        return await stored.page_by_part(wanted, steps)


@OPERATIONS(FIGURES, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _figures(call: Call[SumSessions]) -> Funnel:
    given = call.given
    call.services.accounts.organization(given.organization_id)
    figures = call.services.repositories.figures
    return figures.funnel(given.organization_id, given.mode, given.since, given.until)
