"""Webhooks by the operator's or the owner's hand."""

from __future__ import annotations

from typing import Final

from risala.engine.journal.accounts import accounts
from risala.engine.journal.webhooks import (
    deliveries as webhook_log,
)
from risala.engine.journal.webhooks import (
    endpoints as webhooks,
)
from risala.engine.journal.webhooks import (
    history as webhook_history,
)
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.operations.arguments import Arguments, Json, Operation, is_text
from risala.engine.operations.webhook_wire import attempt_wire, delivery_wire, endpoint_wire
from risala.engine.services import Services
from risala.engine.webhooks.endpoints import Endpoints, Wish

PAGE_MAX: Final = 200
STATES: Final = ("pending", "delivered", "failed", "dropped")


def _endpoints(services: Services) -> Endpoints:
    have = services
    return Endpoints(have.settings.webhooks, have.recorder, have.reader, have.ids)


def _endpoint_id(services: Services, arguments: Arguments) -> str:
    """The endpoint that is meant; with an ``organization_id`` only if it is that one's."""
    endpoint_id, owner = arguments.text("endpoint_id"), arguments.text_or_none("organization_id")
    if owner is not None:
        found = webhooks.endpoint(services.reader, endpoint_id)
        if found.organization_id != owner:
            raise NotFound(f"There is no webhook endpoint {endpoint_id}.")
    return endpoint_id


def _wish(arguments: Arguments) -> Wish:
    return Wish(
        url=arguments.text_or_none("url"),
        types=_texts(arguments, "types"),
        description=_text(arguments, "description"),
        headers=_headers(arguments),
        notify=_text(arguments, "notify"),
    )


def _text(arguments: Arguments, name: str) -> str | None:
    """A text that may be empty."""
    value = arguments.values.get(name)
    if value is not None and not (isinstance(value, str) and is_text(value)):
        raise Invalid(name, "invalid_text", f"`{name}` must be text.")
    return value


def _texts(arguments: Arguments, name: str) -> list[str] | None:
    value = arguments.values.get(name)
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise Invalid(name, "invalid_list", f"`{name}` must be a list of texts.")
    return list(value)


def _headers(arguments: Arguments) -> dict[str, str] | None:
    value = arguments.values.get("headers")
    if value is None:
        return None
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise Invalid("headers", "invalid_headers", "`headers` must be names with texts.")
    return dict(value)


async def _create(services: Services, arguments: Arguments) -> Json:
    mode = arguments.text_or_none("mode") or "live"
    if mode not in ("live", "test"):
        raise Invalid("mode", "invalid_mode", "An endpoint is for `live` or for `test` events.")
    made, secret = await _endpoints(services).create(
        arguments.text("organization_id"), mode, _wish(arguments)
    )
    return {"endpoint": endpoint_wire(made), "secret": secret}


async def _list(services: Services, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    accounts.organization(services.reader, organization_id)
    found = webhooks.endpoints(services.reader, organization_id)
    return {"endpoints": [endpoint_wire(each) for each in found]}


async def _show(services: Services, arguments: Arguments) -> Json:
    reader, endpoint_id = services.reader, _endpoint_id(services, arguments)
    return {
        "endpoint": endpoint_wire(webhooks.endpoint(reader, endpoint_id)),
        "pending": webhook_history.pending(reader, endpoint_id),
        "failed": webhook_history.failed_since(reader, endpoint_id, 0),
    }


async def _update(services: Services, arguments: Arguments) -> Json:
    found = await _endpoints(services).update(_endpoint_id(services, arguments), _wish(arguments))
    return {"endpoint": endpoint_wire(found)}


def _switch(*, enabled: bool) -> Operation:
    async def switch(services: Services, arguments: Arguments) -> Json:
        endpoint_id = _endpoint_id(services, arguments)
        found = await _endpoints(services).set_enabled(endpoint_id, enabled=enabled)
        return {"endpoint": endpoint_wire(found)}

    return switch


async def _rotate(services: Services, arguments: Arguments) -> Json:
    found, secret = await _endpoints(services).rotate(
        _endpoint_id(services, arguments), at_once=bool(arguments.flag_or_none("at_once"))
    )
    return {"endpoint": endpoint_wire(found), "secret": secret}


async def _delete(services: Services, arguments: Arguments) -> Json:
    found = await _endpoints(services).delete(_endpoint_id(services, arguments))
    return {"endpoint": endpoint_wire(found)}


async def _test(services: Services, arguments: Arguments) -> Json:
    """Owes the event; ``webhook.delivery`` tells what became of it."""
    endpoint_id = _endpoint_id(services, arguments)
    event_id = await _endpoints(services).test(endpoint_id)
    found = webhook_history.delivery(services.reader, endpoint_id, event_id)
    return {"delivery": delivery_wire(found), "running": services.delivery.running}


async def _deliveries(services: Services, arguments: Arguments) -> Json:
    reader, endpoint_id = services.reader, _endpoint_id(services, arguments)
    webhooks.endpoint(reader, endpoint_id)
    state, limit = arguments.text_or_none("state"), arguments.whole_or_none("limit") or 50
    if state is not None and state not in STATES:
        raise Invalid("state", "invalid_state", f"A state is one of: {', '.join(STATES)}.")
    limit = max(1, min(limit, PAGE_MAX))
    before = arguments.whole_or_none("before")
    found = webhook_history.deliveries(reader, endpoint_id, state, before, limit)
    return {
        "deliveries": [delivery_wire(each) for each in found],
        "before": found[-1].seq if len(found) == limit else None,
    }


async def _delivery(services: Services, arguments: Arguments) -> Json:
    reader = services.reader
    found = webhook_history.delivery(
        reader, _endpoint_id(services, arguments), arguments.text("event_id")
    )
    rows = webhook_history.attempts(reader, found.seq)
    return {"delivery": delivery_wire(found), "attempts": [attempt_wire(row) for row in rows]}


async def _replay(services: Services, arguments: Arguments) -> Json:
    endpoint_id, event_id = _endpoint_id(services, arguments), arguments.text("event_id")
    now_ms = services.recorder.clock.now_ms()
    found = await services.recorder.journal.commit(
        lambda conn: webhook_history.replay(conn, endpoint_id, event_id, now_ms)
    )
    services.delivery.hint_webhook(endpoint_id)
    return {"delivery": delivery_wire(found)}


async def _replay_failed(services: Services, arguments: Arguments) -> Json:
    """One chunk: call again with the answer's ``until`` as long as ``done`` is false.

    ``total`` comes with the first answer only: counting is a walk through the index.
    """
    endpoint_id = _endpoint_id(services, arguments)
    since_ms, now_ms = arguments.moment_or_none("since"), services.recorder.clock.now_ms()
    if since_ms is None:
        raise Invalid("since", "missing", "`since` is required.")
    until_ms = arguments.whole_or_none("until")
    total: int | None = None
    if until_ms is None:
        until_ms = now_ms
        total = webhook_history.failed_since(services.reader, endpoint_id, since_ms)
    replayed = await services.recorder.journal.commit(
        lambda conn: webhook_history.replay_failed(conn, endpoint_id, since_ms, until_ms, now_ms)
    )
    services.delivery.hint_webhook(endpoint_id)
    done = replayed < webhook_log.ROWS_AT_ONCE
    return {"replayed": replayed, "total": total, "until": until_ms, "done": done}


OPERATIONS: Final[dict[str, Operation]] = {
    "webhook.create": _create,
    "webhook.list": _list,
    "webhook.show": _show,
    "webhook.update": _update,
    "webhook.enable": _switch(enabled=True),
    "webhook.disable": _switch(enabled=False),
    "webhook.rotate": _rotate,
    "webhook.delete": _delete,
    "webhook.test": _test,
    "webhook.deliveries": _deliveries,
    "webhook.delivery": _delivery,
    "webhook.replay": _replay,
    "webhook.replay_failed": _replay_failed,
}
