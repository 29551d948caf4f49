"""The public face: the API and the probes, and behind them the pages and the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from risala.config.model import Settings
from risala.engine.model.clock import Clock, SystemClock
from risala.http.api.batch import add_batch
from risala.http.api.fields import BodyContext
from risala.http.api.management.actions import add_actions
from risala.http.api.management.lists import add_lists
from risala.http.api.management.webhooks import add_webhooks
from risala.http.api.sms import add_sms
from risala.http.api.verify import add_verify
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.client_address import ClientAddresses
from risala.http.common.facade import ApiGateway
from risala.http.common.failed_keys import FailedKeys
from risala.http.common.plain import PlainAnswer, PlainRequest, PlainRoutes, RequestNotes
from risala.http.common.problems import Problem
from risala.http.common.respond import json_bytes
from risala.http.common.tally import AnswerTally
from risala.http.server.late import LateApp

if TYPE_CHECKING:
    from risala.http.common.base import JsonApp, Pages

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
    """As :func:`late_api`, with the app and its pages made already."""
    return late_api(
        gateway,
        settings,
        clock,
        pages=lambda: pages,
        notes=notes,
        tally=tally,
        failed_keys=failed_keys,
    ).now()


def late_api(
    gateway: ApiGateway,
    settings: Settings,
    clock: Clock | None = None,
    *,
    pages: Callable[[], Sequence[Pages]],
    metrics: Callable[[JsonApp], None] | None = None,
    notes: RequestNotes | None = None,
    tally: AnswerTally | None = None,
    failed_keys: FailedKeys | None = None,
) -> LateApp:
    """The app that :func:`risala.http.server.server.serve_app` serves to the world.

    Args:
        pages: makes those of people, on the same listener; called when one is first asked for.
        metrics: adds ``/metrics`` to the app; None: it has none.
        notes: is told of each request with a valid key.
        tally: counts the answers, where somebody else wants to know them too.
        failed_keys: counts wrong keys, where wrong passwords of another face count as well.
    """
    tally = AnswerTally() if tally is None else tally
    addresses = ClientAddresses(settings.http.trusted_proxies)
    plain = PlainRoutes(
        body_bytes_max=settings.http.body_max_bytes,
        body_timeout_s=settings.http.body_timeout_s,
        tally=tally,
        failed_keys=failed_keys or FailedKeys(addresses, tally),
        notes=notes,
        addresses=addresses,
    )
    _add_api(plain, gateway, settings, clock or SystemClock(), ApiKeyAuth(gateway, addresses))

    def make(plain: PlainRoutes) -> JsonApp:
        # Imported here: see LateApp.
        from risala.http.api.clients import add_clients
        from risala.http.api.reference import add_reference
        from risala.http.common.base import JsonApp

        app = JsonApp(
            "risala.http.api",
            body_bytes_max=settings.http.body_max_bytes,
            body_timeout_s=settings.http.body_timeout_s,
            plain=plain,
            pages=pages(),
        )
        add_clients(app, add_reference(app, settings.plan, settings.service.currency))
        if metrics is not None:
            metrics(app)
        return app

    return LateApp(plain, make)


def _add_api(
    plain: PlainRoutes, gateway: ApiGateway, settings: Settings, clock: Clock, door: ApiKeyAuth
) -> None:
    """Answer the API's paths and the probes."""

    def context() -> BodyContext:
        return BodyContext(clock.now_ms(), settings.plan)

    _add_probes(plain, gateway)
    add_sms(plain, gateway, context, door)
    add_batch(plain, gateway, context, settings.http, door)
    add_verify(plain, gateway, context, door)
    add_lists(plain, gateway, context, door)
    add_actions(plain, gateway, context, door)
    add_webhooks(plain, gateway, door)


def _add_probes(paths: PlainRoutes, gateway: ApiGateway) -> None:
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

    paths.route("/healthz", alive, method="GET")
    paths.route("/readyz", ready, method="GET")
