"""Deliveries to a webhook endpoint, and repeating them."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Final

from pydantic import Field, PlainValidator

from risala.engine.journal.webhooks.endpoints import EndpointRepository
from risala.engine.kernel.arguments import (
    MOMENT,
    ArgumentKind,
    MaybeWhole,
    Text,
    fault,
    maybe,
    moment,
    text,
)
from risala.engine.kernel.cursors import limit_of
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import NotFound
from risala.engine.model.records import webhooks
from risala.engine.model.records.asks import Steps
from risala.engine.model.records.webhooks import (
    DELIVERY_STATES,
    DeliveryPage,
    DeliveryStory,
    Replayed,
    ShownDelivery,
    TestOwed,
    WebhookDelivery,
)
from risala.engine.operations.webhooks import (
    CHANGE,
    LOOK,
    OfEndpoint,
    endpoints_of,
    meant,
)
from risala.engine.rules.roles import SUPPORT
from risala.engine.rules.webhooks.shapes import received_of, shaped
from risala.engine.rules.webhooks.signatures import with_sms_id


def _state(value: object) -> str:
    state = text(value)
    if state not in DELIVERY_STATES:
        raise fault("invalid_state", f"A state is one of: {', '.join(DELIVERY_STATES)}.")
    return state


def _since(value: object) -> int:
    if value is None:
        raise fault("missing", "`{name}` is required.")
    return moment(value)


class ListDeliveries(OfEndpoint):
    """A page of the deliveries to an endpoint."""

    state: Annotated[
        str | None, PlainValidator(maybe(_state)), ArgumentKind(", ".join(DELIVERY_STATES))
    ] = None
    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The ``before`` of another page: only older deliveries are listed."""
    after: MaybeWhole = None
    """The ``after`` of another page: only newer ones are listed."""


class OfDelivery(OfEndpoint):
    """Names the delivery of one event to one endpoint."""

    event_id: Text = Field(examples=["evt_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])
    """The `eventId` of a delivery."""


class ReplayFailed(OfEndpoint):
    """Queue the failed deliveries since a time again, one chunk at a time."""

    since: Annotated[int, PlainValidator(_since), MOMENT]
    """The failed deliveries of events since this time."""
    until: MaybeWhole = None
    """The `until` of the previous answer, if its `done` was false."""


OPERATIONS: Final = Operations()


@OPERATIONS(webhooks.DELIVERIES, operators=SUPPORT, **LOOK)
async def _deliveries(call: Call[ListDeliveries]) -> DeliveryPage:
    arguments, stored, endpoint_id = call.arguments, call.services.repositories, meant(call)
    stored.endpoints.endpoint(endpoint_id)
    limit = limit_of(arguments.limit)
    before, after = (
        (None if seq is None else (seq,)) for seq in (arguments.before, arguments.after)
    )
    steps = Steps(limit, before=before, after=after)
    page = stored.deliveries.page(endpoint_id, arguments.state, steps)
    older, newer = (
        (None if place is None else int(place[0])) for place in (page.older, page.newer)
    )
    return DeliveryPage(page.items, older, newer)


def _as_sent(endpoints: EndpointRepository, delivery: WebhookDelivery, body: str) -> str:
    """The body, or the query, that an endpoint gets for an event; the event's own body once the
    endpoint is deleted."""
    with suppress(NotFound):
        endpoint = endpoints.endpoint(delivery.endpoint_id)
        if endpoint.shape != "event":
            message = received_of(body, None, delivery.created_at)
            request = shaped(endpoint.shape, endpoint.template, endpoint.url, message)
            return request.body or request.query
        return body if endpoint.signature_header is None else with_sms_id(body)
    return body


@OPERATIONS(webhooks.DELIVERY, operators=SUPPORT, **LOOK)
async def _delivery(call: Call[OfDelivery]) -> DeliveryStory:
    stored = call.services.repositories
    named = (meant(call), call.arguments.event_id)
    delivery, attempts = stored.deliveries.delivery(*named), stored.deliveries.attempts(*named)
    body = stored.deliveries.body(delivery.event_id)
    if body is not None:
        body = _as_sent(stored.endpoints, delivery, body)
    refused = stored.deliveries.reply_refused(delivery.event_id)
    return DeliveryStory(delivery, attempts, body, refused)


@OPERATIONS(webhooks.TEST, operators=SUPPORT, **CHANGE)
async def _test(call: Call[OfEndpoint]) -> TestOwed:
    """Queue a test event; the operation ``webhook.delivery`` shows its result."""
    services, endpoint_id = call.services, meant(call)
    by = call.audit(AuditImage.ENDPOINT, endpoint_id)
    event_id = await endpoints_of(services).test(endpoint_id, by=by)
    delivery = services.repositories.deliveries.delivery(endpoint_id, event_id)
    return TestOwed(delivery, services.delivery.running)


@OPERATIONS(webhooks.REPLAY, operators=SUPPORT, **CHANGE)
async def _replay(call: Call[OfDelivery]) -> ShownDelivery:
    services, now_ms = call.services, call.now_ms
    endpoint_id, event_id = meant(call), call.arguments.event_id
    by = call.audit(AuditImage.ENDPOINT, endpoint_id, details={"event": event_id})
    delivery = await services.repositories.deliveries.replay(by, endpoint_id, event_id, now_ms)
    services.delivery.hint_webhook(endpoint_id)
    return ShownDelivery(delivery)


@OPERATIONS(webhooks.REPLAY_FAILED, **CHANGE)
async def _replay_failed(call: Call[ReplayFailed]) -> Replayed:
    """Do one chunk; call it again with the answer's ``until`` while ``done`` is false.

    ``total`` comes with the first answer only: counting is a walk through the index.
    """
    services, now_ms, since_ms = call.services, call.now_ms, call.arguments.since
    deliveries = services.repositories.deliveries
    endpoint_id, until_ms = meant(call), call.arguments.until
    total: int | None = None
    if until_ms is None:
        until_ms = now_ms
        total = deliveries.failed_count(endpoint_id, since_ms)
    by = call.audit(AuditImage.ENDPOINT, endpoint_id)
    replayed, is_done = await deliveries.replay_failed(by, endpoint_id, since_ms, until_ms, now_ms)
    services.delivery.hint_webhook(endpoint_id)
    return Replayed(replayed, total, until_ms, is_done)
