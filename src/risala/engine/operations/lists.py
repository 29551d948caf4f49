"""What pages list and sum up: an organization's messages by key-set, and its figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.journal.pages import figures, lists, steps
from risala.engine.journal.pages.figures import Funnel, HourFigures, NetworkFigures
from risala.engine.journal.pages.lists import Listed, ListPage, MessageFilter
from risala.engine.journal.pages.steps import FirstHook, FirstSession, FirstSteps
from risala.engine.journal.webhooks import endpoints
from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.clock import iso
from risala.engine.model.money import money
from risala.engine.model.numbers import STATUSES
from risala.engine.model.wire import key_wire
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Json,
    MaybeMoment,
    MaybeText,
    MaybeWhole,
    OfOrganization,
    fault,
    maybe,
    moment,
    number,
    text,
)
from risala.engine.operations.money import SPENT_DAYS
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.days import day_of
from risala.engine.rules.roles import VIEWERS

PAGE_MAX: Final = 200
PAGE_USUAL: Final = 50
FEED_MAX: Final = 8
"""Messages of the feed beside the figures."""
WAITS_TOO_LONG_MS: Final = 300_000
"""Messages leave within seconds; one that has waited five minutes wants somebody's eye."""
DAYS_MAX: Final = 100
"""Figures of more hours at once would hold the loop for too long."""
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 86_400_000


def _mode(value: object) -> str:
    found = text(value)
    if found not in ("live", "test"):
        raise fault("invalid_mode", "`{name}` must be live or test.")
    return found


def _status(value: object) -> str:
    found = text(value)
    if found != lists.UNCERTAIN and found not in STATUSES.words:
        raise fault("invalid_status", "`{name}` must be a status, or uncertain.")
    return found


def _cursor(value: object) -> int:
    found = text(value)
    if not (found.isascii() and found.isdigit() and int(found) <= lists.KEY_END):
        raise fault("invalid_cursor", "`{name}` must be what another page told.")
    return int(found)


ModeWord = Annotated[str, PlainValidator(_mode), ArgumentKind("`live` or `test`")]
MaybeCursor = Annotated[
    int | None, PlainValidator(maybe(_cursor)), ArgumentKind("`newer` or `older` of a page")
]
Moment = Annotated[int, PlainValidator(moment), ArgumentKind("time")]


class ListMessages(OfOrganization):
    """A page of an organization's messages, the newest first."""

    mode: ModeWord = "live"
    status: Annotated[
        str | None, PlainValidator(maybe(_status)), ArgumentKind("status, or `uncertain`")
    ] = None
    to: Annotated[str | None, PlainValidator(maybe(number)), ArgumentKind("phone number")] = None
    sender: MaybeText = Field(default=None, alias="from")
    key_id: MaybeText = None
    """The key that they came by."""
    cause: MaybeText = None
    """An error code, or the carrier's own word."""
    since: MaybeMoment = None
    until: MaybeMoment = None
    before: MaybeCursor = None
    after: MaybeCursor = None
    limit: MaybeWhole = None


class ShowOverview(OfOrganization):
    """An organization's figures of a time, and what wants its attention now."""

    since: Moment
    until: Moment
    mode: ModeWord = "live"


@dataclass(frozen=True, slots=True)
class Overview:
    """Figures, from what is counted; nothing in it has a text of a message."""

    hours: tuple[HourFigures, ...]
    networks: tuple[NetworkFigures, ...]
    median_ms: int | None
    before: tuple[HourFigures, ...]
    """Of the same hours a week, or a whole time, earlier: up to the same moment."""
    funnel: Funnel
    spent: int
    spent_a_day: int
    """On the average of the last days in which there was anything."""
    feed: tuple[Listed, ...]
    uncertain: tuple[str, ...]
    waiting_since: int | None
    disabled_endpoints: int


def listed_wire(message: Listed) -> Json:
    """A message of a list as JSON, with its text."""
    return {**_feed_wire(message), "body": message.body, "metadata": message.metadata}


def _feed_wire(message: Listed) -> Json:
    return {
        "messageId": message.id,
        "kind": message.kind,
        "to": message.to,
        "from": message.sender,
        "status": message.status,
        "uncertain": message.uncertain,
        "segments": message.segments,
        "encoding": message.encoding,
        "price": money(message.price),
        "currency": message.currency,
        "carrier": message.carrier,
        "errorCode": message.error_code,
        "errorText": cause_text(message.error_code),
        "carrierCode": message.carrier_code,
        "keyId": message.api_key,
        "sendAt": _iso(message.send_at),
        "sentAt": _iso(message.sent_at),
        "deliveredAt": _iso(message.delivered_at),
        "createdAt": iso(message.created_at),
    }


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def _page_wire(page: ListPage) -> Json:
    return {
        "messages": [listed_wire(each) for each in page.messages],
        "newer": None if page.newer is None else str(page.newer),
        "older": None if page.older is None else str(page.older),
        "lookedTo": _iso(page.looked_to),
    }


def _hour_wire(hour: HourFigures) -> Json:
    found = asdict(hour)
    return {"at": iso(found.pop("hour") * _HOUR_MS), **found}


def _network_wire(network: NetworkFigures) -> Json:
    found = asdict(network)
    return {**found, "medianMs": found.pop("median_ms")}


def _overview_wire(found: Overview) -> Json:
    funnel = found.funnel
    return {
        "hours": [_hour_wire(each) for each in found.hours],
        "networks": [_network_wire(each) for each in found.networks],
        "medianMs": found.median_ms,
        "before": [_hour_wire(each) for each in found.before],
        "verifications": {
            "sessions": funnel.sessions,
            "tried": funnel.tried,
            "approved": funnel.approved,
            "expired": funnel.expired,
            "pending": funnel.pending,
            "latestOnly": funnel.is_cut,
        },
        "spent": money(found.spent),
        "spentADay": money(found.spent_a_day),
        "feed": [_feed_wire(each) for each in found.feed],
        "uncertain": [*found.uncertain],
        "waitingSince": _iso(found.waiting_since),
        "disabledEndpoints": found.disabled_endpoints,
    }


def _steps_wire(found: FirstSteps) -> Json:
    """Each step as what there is of it; null: nothing yet."""
    return {
        "key": None if found.key is None else key_wire(found.key),
        "delivered": found.delivered,
        "message": None if found.message is None else _step_message_wire(found.message),
        "verification": None if found.session is None else _session_wire(found.session),
        "webhook": None if found.webhook is None else _hook_wire(found.webhook),
        "paid": found.paid,
    }


def _step_message_wire(message: Listed) -> Json:
    return {**_feed_wire(message), "mode": message.mode}


def _session_wire(session: FirstSession) -> Json:
    return {
        "verificationId": session.id,
        "status": session.status,
        "to": session.recipient,
        "mode": session.mode,
        "createdAt": iso(session.created_at),
    }


def _hook_wire(hook: FirstHook) -> Json:
    return {
        "endpointId": hook.endpoint_id,
        "mode": hook.mode,
        "deliveredAt": _iso(hook.delivered_at),
    }


async def _list(call: Call[ListMessages]) -> ListPage:
    given = call.given
    call.services.accounts.organization(given.organization_id)
    wanted = MessageFilter(
        given.organization_id,
        given.mode,
        status=given.status,
        recipient=given.to,
        sender=given.sender,
        api_key=given.key_id,
        cause=given.cause,
        since=given.since,
        until=given.until,
    )
    limit = max(1, min(given.limit or PAGE_USUAL, PAGE_MAX))
    found = lists.page(
        call.services.reader, wanted, before=given.before, after=given.after, limit=limit
    )
    if found.messages:
        told = {"messages": len(found.messages)}
        by = call.sign(organization_id=given.organization_id, said=told, always=True)
        await call.note(by)
    return found


async def _overview(call: Call[ShowOverview]) -> Overview:
    given, reader = call.given, call.services.reader
    mine, mode = given.organization_id, given.mode
    zone = call.services.accounts.organization(mine).time_zone
    until_ms = min(given.until, given.since + DAYS_MAX * _DAY_MS)
    since, until = given.since // _HOUR_MS, -(-until_ms // _HOUR_MS)
    back = max(SPENT_DAYS * 24, until - since)
    by_network = figures.networks(reader, mine, mode, since, until)
    # Up to the same hour of then: a day that has only begun is not held against a whole one.
    so_far = min(until, call.now_ms // _HOUR_MS + 1)
    day, first = day_of(zone, call.now_ms), day_of(zone, given.since)
    last = day_of(zone, until_ms - 1)
    page = lists.page(reader, MessageFilter(mine, mode), limit=FEED_MAX)
    return Overview(
        hours=tuple(figures.hours(reader, mine, mode, since, until)),
        networks=tuple(by_network),
        median_ms=figures.whole_median_ms(reader, mine, mode, since, until),
        before=tuple(figures.hours(reader, mine, mode, since - back, so_far - back)),
        funnel=figures.funnel(reader, mine, mode, given.since, until_ms),
        spent=figures.spent(reader, mine, first, last + 1),
        spent_a_day=figures.spent(reader, mine, day - SPENT_DAYS, day) // SPENT_DAYS,
        feed=page.messages,
        uncertain=tuple(figures.uncertain(reader, mine, mode)),
        waiting_since=figures.waiting_since(reader, mine, call.now_ms - WAITS_TOO_LONG_MS),
        disabled_endpoints=sum(
            not each.enabled and each.mode == mode for each in endpoints.endpoints(reader, mine)
        ),
    )


async def _steps(call: Call[OfOrganization]) -> FirstSteps:
    call.services.accounts.organization(call.given.organization_id)
    return steps.first_steps(call.services.reader, call.given.organization_id)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="message.list",
        arguments=ListMessages,
        result=ListPage,
        wire=_page_wire,
        handler=_list,
        roles=VIEWERS,
        owner=owners.named,
        reveals=True,
    ),
    Operation(
        name="overview.show",
        arguments=ShowOverview,
        result=Overview,
        wire=_overview_wire,
        handler=_overview,
        roles=VIEWERS,
        owner=owners.named,
    ),
    Operation(
        name="start.show",
        arguments=OfOrganization,
        result=FirstSteps,
        wire=_steps_wire,
        handler=_steps,
        roles=VIEWERS,
        owner=owners.named,
    ),
)
