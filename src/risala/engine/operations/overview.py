"""What the overview and the first steps sum up of an organization."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.money import money
from risala.engine.model.records.figures import (
    FirstHook,
    FirstSession,
    FirstSteps,
    Funnel,
    HourFigures,
    NetworkFigures,
)
from risala.engine.model.records.message_lists import Listed, MessageFilter
from risala.engine.model.records.record import to_json
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Json,
    ModeWord,
    OfOrganization,
    moment,
)
from risala.engine.operations.lists import feed_wire
from risala.engine.operations.money import SPENT_DAYS
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.days import day_of
from risala.engine.rules.roles import VIEWERS

FEED_MAX: Final = 8
"""Messages of the feed beside the figures."""
WAITS_TOO_LONG_MS: Final = 300_000
"""Messages leave within seconds; one that has waited five minutes wants somebody's eye."""
DAYS_MAX: Final = 100
"""Figures of more hours at once would hold the loop for too long."""
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 86_400_000
Moment = Annotated[int, PlainValidator(moment), ArgumentKind("time")]


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


def _hour_wire(hour: HourFigures) -> Json:
    return {
        "at": iso(hour.hour * _HOUR_MS),
        "accepted": hour.accepted,
        "delivered": hour.delivered,
        "undelivered": hour.undelivered,
        "failed": hour.failed,
        "canceled": hour.canceled,
    }


def _network_wire(network: NetworkFigures) -> Json:
    found = asdict(network)
    found["medianMs"] = found.pop("median_ms")
    return found


def _overview_wire(found: Overview) -> Json:
    return {
        "hours": [_hour_wire(each) for each in found.hours],
        "networks": [_network_wire(each) for each in found.networks],
        "medianMs": found.median_ms,
        "before": [_hour_wire(each) for each in found.before],
        "verifications": to_json(found.funnel),
        "spent": money(found.spent),
        "spentADay": money(found.spent_a_day),
        "feed": [feed_wire(each) for each in found.feed],
        "uncertain": [*found.uncertain],
        "waitingSince": maybe_iso(found.waiting_since),
        "disabledEndpoints": found.disabled_endpoints,
    }


def _steps_wire(found: FirstSteps) -> Json:
    """Each step as what there is of it; null: nothing yet."""
    return {
        "key": None if found.key is None else to_json(found.key),
        "delivered": found.delivered,
        "message": None if found.message is None else _step_message_wire(found.message),
        "verification": None if found.session is None else _session_wire(found.session),
        "webhook": None if found.webhook is None else _hook_wire(found.webhook),
        "paid": found.paid,
    }


def _step_message_wire(message: Listed) -> Json:
    return {**feed_wire(message), "mode": message.mode}


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
        "deliveredAt": maybe_iso(hook.delivered_at),
    }


async def _overview(call: Call[ShowOverview]) -> Overview:
    given, figures = call.given, call.services.repositories.figures
    mine, mode = given.organization_id, given.mode
    zone = call.services.accounts.organization(mine).time_zone
    until_ms = min(given.until, given.since + DAYS_MAX * _DAY_MS)
    since, until = given.since // _HOUR_MS, -(-until_ms // _HOUR_MS)
    back = max(SPENT_DAYS * 24, until - since)
    # Up to the same hour of then: a day that has only begun is not held against a whole one.
    so_far = min(until, call.now_ms // _HOUR_MS + 1)
    day, first = day_of(zone, call.now_ms), day_of(zone, given.since)
    last = day_of(zone, until_ms - 1)
    page = call.services.repositories.message_lists.page(MessageFilter(mine, mode), limit=FEED_MAX)
    return Overview(
        hours=figures.hours(mine, mode, since, until),
        networks=figures.networks(mine, mode, since, until),
        median_ms=figures.median_ms(mine, mode, since, until),
        before=figures.hours(mine, mode, since - back, so_far - back),
        funnel=figures.funnel(mine, mode, given.since, until_ms),
        spent=figures.spent(mine, first, last + 1),
        spent_a_day=figures.spent(mine, day - SPENT_DAYS, day) // SPENT_DAYS,
        feed=page.messages,
        uncertain=figures.uncertain(mine, mode),
        waiting_since=figures.waiting_since(mine, call.now_ms - WAITS_TOO_LONG_MS),
        disabled_endpoints=sum(
            not each.enabled and each.mode == mode
            for each in call.services.repositories.endpoints.of_organization(mine)
        ),
    )


async def _steps(call: Call[OfOrganization]) -> FirstSteps:
    call.services.accounts.organization(call.given.organization_id)
    return call.services.repositories.figures.first_steps(call.given.organization_id)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
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
