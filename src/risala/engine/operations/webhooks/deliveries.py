"""What went to a webhook endpoint, and what is sent to it again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.journal.repositories.webhooks import EndpointRepository
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import NotFound
from risala.engine.model.records.paging import Steps
from risala.engine.model.records.webhooks import WebhookDelivery
from risala.engine.operations.arguments import (
    ArgumentKind,
    Json,
    MaybeWhole,
    Text,
    fault,
    maybe,
    moment,
    text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.operations.webhooks.named import OfEndpoint, endpoints_of, meant, of_endpoint
from risala.engine.operations.webhooks.wire import attempt_wire, delivery_wire
from risala.engine.rules.webhooks.signatures import with_sms_id

PAGE_MAX: Final = 200
PAGE_USUAL: Final = 50
STATES: Final = ("pending", "delivered", "failed", "dropped")


def _state(value: object) -> str:
    found = text(value)
    if found not in STATES:
        raise fault("invalid_state", f"A state is one of: {', '.join(STATES)}.")
    return found


def _since(value: object) -> int:
    if value is None:
        raise fault("missing", "`{name}` is required.")
    return moment(value)


class ListDeliveries(OfEndpoint):
    """A page of the deliveries to an endpoint."""

    state: Annotated[str | None, PlainValidator(maybe(_state)), ArgumentKind(", ".join(STATES))] = (
        None
    )
    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The ``before`` of another page: only older deliveries are listed."""
    after: MaybeWhole = None
    """The ``after`` of another page: only newer ones are listed."""


class OfDelivery(OfEndpoint):
    """Names the delivery of one event to one endpoint."""

    event_id: Text


class ReplayFailed(OfEndpoint):
    """Make the failed deliveries since a time due again, one chunk at a time."""

    since: Annotated[int, PlainValidator(_since), ArgumentKind("ISO 8601 time")]
    until: MaybeWhole = None
    """The ``until`` of the answer to the chunk before; None: the first chunk."""


@dataclass(frozen=True, slots=True)
class ShownDelivery:
    """One delivery as it is now."""

    delivery: WebhookDelivery


@dataclass(frozen=True, slots=True)
class TestOwed:
    """The delivery of a test event, which was queued."""

    delivery: WebhookDelivery
    running: bool
    """Whether a service runs that delivers the event."""


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """Deliveries, the newest first."""

    deliveries: tuple[WebhookDelivery, ...]
    before: int | None
    """The ``before`` of the next page; None: this is the last one."""
    after: int | None
    """The ``after`` of the page before; None: this is the first one."""


@dataclass(frozen=True, slots=True)
class DeliveryStory:
    """A delivery with all its attempts."""

    delivery: WebhookDelivery
    attempts: tuple[Sequence[Any], ...]
    body: str | None
    """What is sent; None where the event is no longer kept, or has a text that somebody wrote."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What one chunk of a replay did."""

    replayed: int
    total: int | None
    until: int
    done: bool


def _delivery_wire(found: ShownDelivery) -> Json:
    return {"delivery": delivery_wire(found.delivery)}


def _test_wire(owed: TestOwed) -> Json:
    return {"delivery": delivery_wire(owed.delivery), "running": owed.running}


def _page_wire(page: DeliveryPage) -> Json:
    return {
        "deliveries": [delivery_wire(each) for each in page.deliveries],
        "before": page.before,
        "after": page.after,
    }


def _story_wire(story: DeliveryStory) -> Json:
    return {
        "delivery": delivery_wire(story.delivery),
        "attempts": [attempt_wire(row) for row in story.attempts],
        "body": story.body,
    }


def _replayed_wire(done: Replayed) -> Json:
    return {
        "replayed": done.replayed,
        "total": done.total,
        "until": done.until,
        "done": done.done,
    }


async def _test(call: Call[OfEndpoint]) -> TestOwed:
    """Queue a test event; the operation ``webhook.delivery`` tells what became of it."""
    services, endpoint_id = call.services, meant(call)
    by = call.audit(AuditImage.ENDPOINT, endpoint_id)
    event_id = await endpoints_of(services).test(endpoint_id, by=by)
    found = services.repositories.deliveries.delivery(endpoint_id, event_id)
    return TestOwed(found, services.delivery.running)


async def _deliveries(call: Call[ListDeliveries]) -> DeliveryPage:
    given, stored, endpoint_id = call.given, call.services.repositories, meant(call)
    stored.endpoints.endpoint(endpoint_id)
    limit = max(1, min(given.limit or PAGE_USUAL, PAGE_MAX))
    before, after = ((None if seq is None else (seq,)) for seq in (given.before, given.after))
    steps = Steps(limit, before=before, after=after)
    found = stored.deliveries.page(endpoint_id, given.state, steps)
    older, newer = (
        (None if place is None else int(place[0])) for place in (found.older, found.newer)
    )
    return DeliveryPage(found.found, older, newer)


def _has_sms_ids(endpoints: EndpointRepository, endpoint_id: str) -> bool:
    """Whether what goes to an endpoint has ``smsId``; of one that is deleted nobody knows."""
    with suppress(NotFound):
        return endpoints.endpoint(endpoint_id).signature_header is not None
    return False


async def _delivery(call: Call[OfDelivery]) -> DeliveryStory:
    stored = call.services.repositories
    found = stored.deliveries.delivery(meant(call), call.given.event_id)
    body = stored.deliveries.body(found.event_id)
    if body is not None and _has_sms_ids(stored.endpoints, found.endpoint_id):
        body = with_sms_id(body)
    return DeliveryStory(found, tuple(stored.deliveries.attempts(found.seq)), body)


async def _replay(call: Call[OfDelivery]) -> ShownDelivery:
    services, now_ms = call.services, call.now_ms
    endpoint_id, event_id = meant(call), call.given.event_id
    by = call.audit(AuditImage.ENDPOINT, endpoint_id, said={"event": event_id})
    found = await services.repositories.deliveries.replay(endpoint_id, event_id, now_ms, by=by)
    services.delivery.hint_webhook(endpoint_id)
    return ShownDelivery(found)


async def _replay_failed(call: Call[ReplayFailed]) -> Replayed:
    """One chunk: call again with the answer's ``until`` as long as ``done`` is false.

    ``total`` comes with the first answer only: counting is a walk through the index.
    """
    services, now_ms, since_ms = call.services, call.now_ms, call.given.since
    deliveries = services.repositories.deliveries
    endpoint_id, until_ms = meant(call), call.given.until
    total: int | None = None
    if until_ms is None:
        until_ms = now_ms
        total = deliveries.failed_count(endpoint_id, since_ms)
    by = call.audit(AuditImage.ENDPOINT, endpoint_id)
    replayed, is_done = await deliveries.replay_failed(
        endpoint_id, since_ms, until_ms, now_ms, by=by
    )
    services.delivery.hint_webhook(endpoint_id)
    return Replayed(replayed, total, until_ms, is_done)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    *(
        of_endpoint(*row, changes=False)
        for row in (
            ("webhook.deliveries", ListDeliveries, DeliveryPage, _page_wire, _deliveries),
            ("webhook.delivery", OfDelivery, DeliveryStory, _story_wire, _delivery),
        )
    ),
    *(
        of_endpoint(*row, changes=True)
        for row in (
            ("webhook.test", OfEndpoint, TestOwed, _test_wire, _test),
            ("webhook.replay", OfDelivery, ShownDelivery, _delivery_wire, _replay),
            ("webhook.replay_failed", ReplayFailed, Replayed, _replayed_wire, _replay_failed),
        )
    ),
)
