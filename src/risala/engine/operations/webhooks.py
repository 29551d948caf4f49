"""Webhooks by the operator's or the owner's hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator, ValidationError

from risala.engine.journal.accounts import accounts
from risala.engine.journal.pages import deliveries as pages
from risala.engine.journal.pages.deliveries import DeliverySum
from risala.engine.journal.pages.stretch import Steps
from risala.engine.journal.webhooks import deliveries as webhook_log
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.journal.webhooks import event_rows, history
from risala.engine.journal.webhooks.endpoints import Endpoint
from risala.engine.journal.webhooks.history import WebhookDelivery
from risala.engine.model.errors import FieldFault, NotFound
from risala.engine.model.events import EventType
from risala.engine.operations import owners, traces
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeAnyText,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    OfOrganization,
    Text,
    fault,
    maybe,
    moment,
    text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.operations.webhook_wire import attempt_wire, delivery_wire, endpoint_wire
from risala.engine.rules.roles import DEVELOPERS, VIEWERS
from risala.engine.rules.webhooks.sign import with_sms_id
from risala.engine.services import Services
from risala.engine.webhooks.endpoints import Endpoints, Wish

PAGE_MAX: Final = 200
SUMMED_DAYS: Final = 7
"""Of the deliveries whose share and median are told with an endpoint."""
_DAY_MS: Final = 86_400_000
PAGE_USUAL: Final = 50
STATES: Final = ("pending", "delivered", "failed", "dropped")


def _types(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise fault("invalid_list", "`{name}` must be a list of texts.")
    return tuple(value)


def _headers(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise fault("invalid_headers", "`{name}` must be names with texts.")
    return dict(value)


def _mode(value: object) -> str:
    found = "live" if value is None else text(value)
    if found not in ("live", "test"):
        raise fault("invalid_mode", "An endpoint is for `live` or for `test` events.")
    return found


def _state(value: object) -> str:
    found = text(value)
    if found not in STATES:
        raise fault("invalid_state", f"A state is one of: {', '.join(STATES)}.")
    return found


def _since(value: object) -> int:
    if value is None:
        raise fault("missing", "`{name}` is required.")
    return moment(value)


class OfEndpoint(Arguments):
    """Names one endpoint."""

    endpoint_id: Text
    organization_id: MaybeText = None
    """Where it is given, the endpoint must be this organization's."""
    only_mode: Annotated[
        str | None, PlainValidator(maybe(_mode)), ArgumentKind("`live` or `test`")
    ] = None
    """Where it is given, the endpoint must be for these events."""


class Wished(Arguments):
    """The fields of an endpoint that can be set. Null leaves one as it is; in a new endpoint it
    takes the default."""

    url: MaybeText = Field(default=None, repr=False)
    types: Annotated[
        tuple[str, ...] | None, PlainValidator(maybe(_types)), ArgumentKind("list of types")
    ] = None
    description: MaybeAnyText = None
    headers: Annotated[
        dict[str, str] | None, PlainValidator(maybe(_headers)), ArgumentKind("names with texts")
    ] = Field(default=None, repr=False)
    notify: MaybeAnyText = None
    signature_header: MaybeAnyText = None
    """The header of a second signature, `t=…,v1=…`; empty: there is none."""

    @property
    def wish(self) -> Wish:
        return Wish(
            self.url,
            self.types,
            self.description,
            self.headers,
            self.notify,
            self.signature_header,
        )


class CreateEndpoint(Wished, OfOrganization):
    """Make an endpoint."""

    mode: Annotated[str, PlainValidator(_mode), ArgumentKind("`live` or `test`")] = "live"


class UpdateEndpoint(Wished, OfEndpoint):
    """Change the fields of an endpoint that are given."""

    version: MaybeWhole = None


class RotateSecret(OfEndpoint):
    """Give an endpoint a new secret; with ``at_once`` the old one signs no more."""

    at_once: MaybeFlag = None


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
class ShownEndpoint:
    """An endpoint, without its secret."""

    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class SecretTold:
    """An endpoint with its new secret."""

    endpoint: Endpoint
    secret: str = field(repr=False)
    """The secret, which is told here and never again."""


@dataclass(frozen=True, slots=True)
class EndpointStanding:
    """An endpoint with the number of its pending and failed deliveries."""

    endpoint: Endpoint
    pending: int
    failed: int
    last_days: DeliverySum


@dataclass(frozen=True, slots=True)
class EndpointList:
    """All endpoints of an organization."""

    endpoints: tuple[Endpoint, ...]


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


def _endpoint_wire(found: ShownEndpoint) -> Json:
    return {"endpoint": endpoint_wire(found.endpoint)}


def _secret_wire(told: SecretTold) -> Json:
    return {"endpoint": endpoint_wire(told.endpoint), "secret": told.secret}


def _standing_wire(found: EndpointStanding) -> Json:
    return {
        "endpoint": endpoint_wire(found.endpoint),
        "pending": found.pending,
        "failed": found.failed,
        "lastDays": {
            "days": SUMMED_DAYS,
            "delivered": found.last_days.delivered,
            "failed": found.last_days.failed,
            "medianMs": found.last_days.median_ms,
            "latestOnly": found.last_days.is_cut,
        },
    }


def _list_wire(found: EndpointList) -> Json:
    return {"endpoints": [endpoint_wire(each) for each in found.endpoints]}


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


def _endpoints(services: Services) -> Endpoints:
    have = services
    return Endpoints(have.settings.webhooks, have.recorder, have.reader, have.ids)


def endpoint_faults(services: Services, members: Mapping[str, object]) -> Sequence[FieldFault]:
    """What is wrong with those of these fields of an endpoint that have their type."""
    fit: Json = {}
    for name in Wished.model_fields.keys() & members.keys():
        with suppress(ValidationError):
            Wished.model_validate({name: members[name]})
            fit[name] = members[name]
    return _endpoints(services).faults(Wished.model_validate(fit).wish)


def _endpoint_id(call: Call[Any]) -> str:
    """The endpoint that is meant, of the organization and the mode that are given.

    Raises:
        NotFound: there is no such endpoint, or it is another organization's, or for other events.
    """
    given: OfEndpoint = call.given
    if given.organization_id is not None or given.only_mode is not None:
        found = webhooks.endpoint(call.services.reader, given.endpoint_id)
        is_meant = found.organization_id == (given.organization_id or found.organization_id)
        if not is_meant or found.mode != (given.only_mode or found.mode):
            raise NotFound(f"There is no webhook endpoint {given.endpoint_id}.")
    return given.endpoint_id


async def _create(call: Call[CreateEndpoint]) -> SecretTold:
    given = call.given
    made, secret = await _endpoints(call.services).create(
        given.organization_id, given.mode, given.wish, by=call.sign(traces.endpoint)
    )
    return SecretTold(made, secret)


async def _list(call: Call[OfOrganization]) -> EndpointList:
    reader, organization_id = call.services.reader, call.given.organization_id
    accounts.organization(reader, organization_id)
    return EndpointList(tuple(webhooks.endpoints(reader, organization_id)))


async def _show(call: Call[OfEndpoint]) -> EndpointStanding:
    reader, endpoint_id = call.services.reader, _endpoint_id(call)
    return EndpointStanding(
        webhooks.endpoint(reader, endpoint_id),
        history.pending(reader, endpoint_id),
        history.failed_since(reader, endpoint_id, 0),
        pages.summed(reader, endpoint_id, call.now_ms - SUMMED_DAYS * _DAY_MS),
    )


async def _update(call: Call[UpdateEndpoint]) -> ShownEndpoint:
    endpoint_id = _endpoint_id(call)
    by = call.sign(traces.endpoint, endpoint_id)
    return ShownEndpoint(
        await _endpoints(call.services).update(endpoint_id, call.given.wish, by=by)
    )


async def _switch(call: Call[OfEndpoint], *, enabled: bool) -> ShownEndpoint:
    endpoint_id = _endpoint_id(call)
    by = call.sign(traces.endpoint, endpoint_id)
    return ShownEndpoint(
        await _endpoints(call.services).set_enabled(endpoint_id, enabled=enabled, by=by)
    )


async def _enable(call: Call[OfEndpoint]) -> ShownEndpoint:
    return await _switch(call, enabled=True)


async def _disable(call: Call[OfEndpoint]) -> ShownEndpoint:
    return await _switch(call, enabled=False)


async def _rotate(call: Call[RotateSecret]) -> SecretTold:
    endpoint_id, at_once = _endpoint_id(call), bool(call.given.at_once)
    by = call.sign(traces.endpoint, endpoint_id, said={"atOnce": at_once})
    found, secret = await _endpoints(call.services).rotate(endpoint_id, at_once=at_once, by=by)
    return SecretTold(found, secret)


async def _delete(call: Call[OfEndpoint]) -> ShownEndpoint:
    endpoint_id = _endpoint_id(call)
    by = call.sign(traces.endpoint, endpoint_id)
    return ShownEndpoint(await _endpoints(call.services).delete(endpoint_id, by=by))


async def _test(call: Call[OfEndpoint]) -> TestOwed:
    """Queue a test event; the operation ``webhook.delivery`` tells what became of it."""
    services, endpoint_id = call.services, _endpoint_id(call)
    by = call.sign(traces.endpoint, endpoint_id)
    event_id = await _endpoints(services).test(endpoint_id, by=by)
    found = history.delivery(services.reader, endpoint_id, event_id)
    return TestOwed(found, services.delivery.running)


async def _deliveries(call: Call[ListDeliveries]) -> DeliveryPage:
    given, reader, endpoint_id = call.given, call.services.reader, _endpoint_id(call)
    webhooks.endpoint(reader, endpoint_id)
    limit = max(1, min(given.limit or PAGE_USUAL, PAGE_MAX))
    before, after = ((None if seq is None else (seq,)) for seq in (given.before, given.after))
    steps = Steps(limit, before=before, after=after)
    found = pages.page(reader, endpoint_id, given.state, steps)
    older, newer = (
        (None if place is None else int(place[0])) for place in (found.older, found.newer)
    )
    return DeliveryPage(tuple(history.shown(reader, row) for row in found.found), older, newer)


def _has_sms_ids(reader: sqlite3.Connection, endpoint_id: str) -> bool:
    """Whether what goes to an endpoint has ``smsId``; of one that is deleted nobody knows."""
    with suppress(NotFound):
        return webhooks.endpoint(reader, endpoint_id).signature_header is not None
    return False


async def _delivery(call: Call[OfDelivery]) -> DeliveryStory:
    reader = call.services.reader
    found = history.delivery(reader, _endpoint_id(call), call.given.event_id)
    event = event_rows.by_id(reader, found.event_id)
    hidden = event is None or event.type is EventType.SMS_RECEIVED
    body = None if event is None or hidden else event.told
    if body is not None and _has_sms_ids(reader, found.endpoint_id):
        body = with_sms_id(body)
    return DeliveryStory(found, tuple(history.attempts(reader, found.seq)), body)


async def _replay(call: Call[OfDelivery]) -> ShownDelivery:
    services, now_ms = call.services, call.now_ms
    endpoint_id, event_id = _endpoint_id(call), call.given.event_id
    found = await call.commit(
        lambda conn: history.replay(conn, endpoint_id, event_id, now_ms),
        call.sign(traces.endpoint, endpoint_id, said={"event": event_id}),
    )
    services.delivery.hint_webhook(endpoint_id)
    return ShownDelivery(found)


async def _replay_failed(call: Call[ReplayFailed]) -> Replayed:
    """One chunk: call again with the answer's ``until`` as long as ``done`` is false.

    ``total`` comes with the first answer only: counting is a walk through the index.
    """
    services, now_ms, since_ms = call.services, call.now_ms, call.given.since
    endpoint_id, until_ms = _endpoint_id(call), call.given.until
    total: int | None = None
    if until_ms is None:
        until_ms = now_ms
        total = history.failed_since(services.reader, endpoint_id, since_ms)
    replayed = await call.commit(
        lambda conn: history.replay_failed(conn, endpoint_id, since_ms, until_ms, now_ms),
        call.sign(traces.endpoint, endpoint_id),
    )
    services.delivery.hint_webhook(endpoint_id)
    return Replayed(replayed, total, until_ms, replayed < webhook_log.ROWS_AT_ONCE)


def _of_endpoint(
    name: str,
    arguments: type[Any],
    result: type[Any],
    wire: Any,  # noqa: ANN401 -- a function of `result`
    handler: Any,  # noqa: ANN401 -- a coroutine function of a call with `arguments`
    *,
    changes: bool,
) -> Operation[Any, Any]:
    """An operation on one endpoint: for viewers where it only shows, for developers where it
    changes."""
    return Operation(
        name=name,
        arguments=arguments,
        result=result,
        wire=wire,
        handler=handler,
        roles=DEVELOPERS if changes else VIEWERS,
        owner=owners.of_endpoint,
        changes=changes,
        edits="endpoint_id" if name in ("webhook.show", "webhook.update") else None,
    )


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="webhook.create",
        arguments=CreateEndpoint,
        result=SecretTold,
        wire=_secret_wire,
        handler=_create,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="webhook.list",
        arguments=OfOrganization,
        result=EndpointList,
        wire=_list_wire,
        handler=_list,
        roles=VIEWERS,
        owner=owners.named,
    ),
    *(
        _of_endpoint(*row, changes=False)
        for row in (
            ("webhook.show", OfEndpoint, EndpointStanding, _standing_wire, _show),
            ("webhook.deliveries", ListDeliveries, DeliveryPage, _page_wire, _deliveries),
            ("webhook.delivery", OfDelivery, DeliveryStory, _story_wire, _delivery),
        )
    ),
    *(
        _of_endpoint(*row, changes=True)
        for row in (
            ("webhook.update", UpdateEndpoint, ShownEndpoint, _endpoint_wire, _update),
            ("webhook.enable", OfEndpoint, ShownEndpoint, _endpoint_wire, _enable),
            ("webhook.disable", OfEndpoint, ShownEndpoint, _endpoint_wire, _disable),
            ("webhook.rotate", RotateSecret, SecretTold, _secret_wire, _rotate),
            ("webhook.delete", OfEndpoint, ShownEndpoint, _endpoint_wire, _delete),
            ("webhook.test", OfEndpoint, TestOwed, _test_wire, _test),
            ("webhook.replay", OfDelivery, ShownDelivery, _delivery_wire, _replay),
            ("webhook.replay_failed", ReplayFailed, Replayed, _replayed_wire, _replay_failed),
        )
    ),
)
