"""The log of requests: each key's requests and their answers."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.features.request_log import records as log
from risala.engine.features.request_log.records import (
    AnsweredDay,
    ListedRequests,
    RequestFilter,
    ShownRequest,
)
from risala.engine.features.request_log.service import request_log
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    OfMaybeOrganization,
    Text,
    fault,
    maybe,
    text,
)
from risala.engine.kernel.cursors import limit_of
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import NotFound
from risala.engine.model.ids import is_id, key_ms, key_of
from risala.engine.model.records.record import shallow
from risala.engine.model.records.search import Findable, SearchHit, SearchWords
from risala.engine.rules.days import midnight
from risala.engine.rules.roles import SUPPORT, VIEWERS
from risala.engine.services import Services

DAYS_MAX: Final = 30
"""Days whose requests are counted."""
UNWRITTEN_MS: Final = 3000
"""A request younger than this may not be in the log's file yet, which is written every second."""
_UNKNOWN: Final = "There is no such request in the log."
_UNWRITTEN: Final = (
    "This request is not in the log yet: the log is written every second. Ask again in a moment."
)
_STATUS: Final = re.compile(r"([1-5])(xx|[0-9]{2})")


def _statuses(value: object) -> tuple[int, int]:
    match = _STATUS.fullmatch(text(value))
    if match is None:
        raise fault("invalid_status", "`{name}` must be a status such as 429, or 2xx, 4xx, 5xx.")
    first, rest = int(match[1]) * 100, match[2]
    return (first, first + 99) if rest == "xx" else (first + int(rest), first + int(rest))


def _cursor(value: object) -> str:
    cursor = text(value)
    if not is_id(cursor, "req"):
        raise fault("invalid_cursor", "Take `{name}` from another page.")
    return cursor


MaybeStatuses = Annotated[
    tuple[int, int] | None,
    PlainValidator(maybe(_statuses)),
    ArgumentKind("status, or `2xx`, `4xx`, `5xx`"),
]
MaybeRequest = Annotated[
    str | None, PlainValidator(maybe(_cursor)), ArgumentKind("`newer` or `older` of a page")
]


class ListRequests(OfMaybeOrganization):
    """A page of the log of requests, the newest first."""

    key_id: MaybeText = None
    status: MaybeStatuses = None
    path: MaybeText = None
    made: MaybeText = None
    """The id of the message or verification that they created."""
    before: MaybeRequest = None
    after: MaybeRequest = None
    limit: MaybeWhole = None
    by_day: MaybeFlag = None
    """True: the requests of the key in the last days are counted too, by their answers."""


class ShowRequest(OfMaybeOrganization):
    """Names one request."""

    request_id: Text


async def _find(services: Services, words: SearchWords) -> tuple[SearchHit, ...]:
    """The request with a whole id; no other part of the log is searched."""
    request = await services.part(request_log).one(words.id_end)
    if request is None or request.organization_id != words.organization_id:
        return ()
    return (
        SearchHit(
            kind="request",
            id=request.request_id,
            title=f"{request.method} {request.path}",
            at=request.at,
            page=f"keys/{request.key_id}/requests/{request.request_id}",
            mode=request.mode,
            note=str(request.status),
        ),
    )


FOUND: Final = (
    Findable(
        kind="request",
        table="",
        title="",
        prefix="req",
        mode="mode",
        page="keys/{}",
        operators=SUPPORT,
        elsewhere=_find,
    ),
)
"""What a search finds of the log."""
OPERATIONS: Final = Operations()
_SEEN: Final[dict[str, Any]] = {
    "roles": VIEWERS,
    "owner": owners.named,
    "reads_all_organizations": True,
}


@OPERATIONS(log.LIST, operators=SUPPORT, **_SEEN)
async def _list(call: Call[ListRequests]) -> ListedRequests:
    arguments, requests = call.arguments, call.services.part(request_log)
    if arguments.organization_id is not None:
        call.services.accounts.organization(arguments.organization_id)
    least, most = arguments.status or (0, 999)
    request_filter = RequestFilter(
        arguments.organization_id,
        arguments.key_id,
        least=least,
        most=most,
        path=arguments.path,
        made=arguments.made,
        since_id=requests.since_id(),
    )
    limit = limit_of(arguments.limit)
    page = await requests.page(
        request_filter, before=arguments.before, after=arguments.after, limit=limit
    )
    return ListedRequests(
        **shallow(page),
        dropped=requests.dropped(arguments.organization_id, arguments.key_id),
        is_written=requests.section.enabled and requests.statistics().ailment is None,
        keep_days=requests.section.keep_days,
        days=await _days(call, request_filter) if arguments.by_day else (),
    )


async def _days(call: Call[ListRequests], request_filter: RequestFilter) -> tuple[AnsweredDay, ...]:
    """The last days of a key's requests; none, if no key of an organization is named."""
    requests = call.services.part(request_log)
    if request_filter.organization_id is None or request_filter.key_id is None:
        return ()
    zone = call.services.accounts.organization(request_filter.organization_id).time_zone
    starts = [midnight(zone, call.now_ms)]
    while len(starts) < min(DAYS_MAX, requests.section.keep_days):
        starts.append(midnight(zone, starts[-1] - 1))
    return await requests.answered(request_filter, starts[::-1])


def _is_new(request_id: str, now_ms: int) -> bool:
    """Whether the request may still wait to be written."""
    key = key_of(request_id) if is_id(request_id, "req") else None
    return key is not None and 0 <= now_ms - key_ms(key) < UNWRITTEN_MS


@OPERATIONS(log.SHOW, operators=SUPPORT, **_SEEN)
async def _show(call: Call[ShowRequest]) -> ShownRequest:
    arguments = call.arguments
    request = await call.services.part(request_log).one(arguments.request_id)
    if request is None or arguments.organization_id not in (None, request.organization_id):
        raise NotFound(_UNWRITTEN if _is_new(arguments.request_id, call.now_ms) else _UNKNOWN)
    return request
