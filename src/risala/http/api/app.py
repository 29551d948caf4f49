"""The public face: the API and the probes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from risala.config.model import Settings
from risala.engine.model.clock import Clock, SystemClock
from risala.http.api.batch import add_batch
from risala.http.api.clients import add_clients
from risala.http.api.fields import BodyContext
from risala.http.api.management.actions import add_actions
from risala.http.api.management.lists import add_lists
from risala.http.api.management.webhooks import add_webhooks
from risala.http.api.reference import add_reference
from risala.http.api.sms import add_sms
from risala.http.api.verify import add_verify
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.base import JsonApp, Pages
from risala.http.common.client_address import ClientAddresses
from risala.http.common.facade import ApiGateway
from risala.http.common.failed_keys import FailedKeys
from risala.http.common.plain import PlainAnswer, PlainRequest, RequestNotes
from risala.http.common.problems import Problem
from risala.http.common.respond import json_bytes
from risala.http.common.tally import AnswerTally

_ALIVE: Final = json_bytes({"status": "ok"})
_READY: Final = json_bytes({"status": "ready"})


def create_api(
    gateway: ApiGateway,
    settings: Settings,
    clock: Clock | None = None,
    pages: Sequence[Pages] = (),
    notes: RequestNotes | None = None,
    tally: AnswerTally | None = None,
    failed_keys: FailedKeys | None = None,
) -> JsonApp:
    """The app that :func:`risala.http.server.server.serve_app` serves to the world.

    Args:
        pages: those of people, on the same listener.
        notes: is told of each request with a valid key.
        tally: counts the answers, where somebody else wants to know them too.
        failed_keys: counts wrong keys, where wrong passwords of another face count as well.
    """
    tally = AnswerTally() if tally is None else tally
    addresses = ClientAddresses(settings.http.trusted_proxies)
    app = JsonApp(
        "risala.http.api",
        body_bytes_max=settings.http.body_max_bytes,
        body_timeout_s=settings.http.body_timeout_s,
        tally=tally,
        failed_keys=failed_keys or FailedKeys(addresses, tally),
        pages=pages,
        notes=notes,
        addresses=addresses,
    )
    _add_probes(app, gateway)
    clock = clock or SystemClock()
    door = ApiKeyAuth(gateway, addresses)

    def context() -> BodyContext:
        return BodyContext(clock.now_ms(), settings.plan)

    add_sms(app, gateway, context, door)
    add_batch(app, gateway, context, settings.http, door)
    add_verify(app, gateway, context, door)
    add_lists(app, gateway, context, door)
    add_actions(app, gateway, context, door)
    add_webhooks(app, gateway, door)
    add_reference(app, settings.plan, settings.service.currency)
    add_clients(app)
    return app


def _add_probes(app: JsonApp, gateway: ApiGateway) -> None:
    async def alive(_: PlainRequest) -> PlainAnswer:
        return PlainAnswer(_ALIVE)

    async def ready(_: PlainRequest) -> PlainAnswer:
        readiness = gateway.readiness()
        if not readiness.ready:
            raise Problem(
                503,
                "The service is not ready.",
                {"reasons": list(readiness.reasons)},
                {"Retry-After": "1"},
            )
        return PlainAnswer(_READY)

    app.route_plain("/healthz", alive, method="GET")
    app.route_plain("/readyz", ready, method="GET")
