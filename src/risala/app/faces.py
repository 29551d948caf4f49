"""The service's addresses: what is served at each, and what of it is made later."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import trio

from risala.app.listening import ServiceAddresses
from risala.config.model import Settings
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.commands import NOTES, RequestNotes
from risala.engine.model.errors import NotFound
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import features, required
from risala.engine.wiring.engine import Engine
from risala.http.api.app import late_api
from risala.http.api.metrics import add_metrics, create_metrics
from risala.http.common.client_address import ClientAddresses
from risala.http.common.failed_keys import AnswerTally, FailedKeys
from risala.http.common.plain import Handler, PlainRoutes
from risala.http.control.app import serve_control
from risala.http.control.streams import Streams
from risala.http.faces.paths import PathMounting
from risala.http.server.late import LateApp
from risala.http.server.server import serve_app
from risala.plugins.face import GatewayFace

if TYPE_CHECKING:
    from risala.http.common.base import JsonApp, Pages


async def open_faces(
    faces: trio.Nursery,
    settings: Settings,
    engine: Engine,
    stop: trio.Event,
    listening: ServiceAddresses,
    tally: AnswerTally,
    others: Mapping[str, GatewayFace],
    control_paths: Mapping[str, Handler],
) -> None:
    """Serve the API, the control socket, and at their own addresses console and metrics.

    Args:
        control_paths: further paths of the control socket.
    """
    gateway, api, metrics = engine.gateway, listening.api, listening.metrics
    serve = partial(serve_app, http=settings.http, shutdown=stop)
    own = listening.console
    pages = partial(_pages, gateway, settings, stop, console=own is None)
    failed_keys = FailedKeys(ClientAddresses(settings.http.trusted_proxies), tally)
    shows_metrics = settings.http.metrics.enabled and metrics is None
    app = late_api(
        gateway,
        settings,
        pages=pages,
        metrics=partial(add_metrics, gateway=gateway, everybody=False) if shows_metrics else None,
        notes=_notes(gateway),
        tally=tally,
        failed_keys=failed_keys,
    )
    faces.start_soon(app.attend, stop)
    mounting = PathMounting(app, gateway, settings, others, listening.api.url, stop)
    for feature in features():
        if feature.mounts is not None:
            feature.mounts()(mounting)
    await faces.start(partial(serve, app, sock=api.sock, tls=api.tls))
    if own is not None:
        console = _late_console(gateway, settings, stop)
        faces.start_soon(console.attend, stop)
        await faces.start(partial(serve, console, sock=own.sock, tls=own.tls))
    streams = Streams(gateway, stop)
    faces.start_soon(streams.run)
    control = partial(serve_control, gateway, settings.http, settings.storage.data_dir)
    more = control_paths
    await faces.start(
        partial(control, streams=streams, plan=settings.plan, more=more, shutdown=stop)
    )
    if listening.smpp:
        serve_smpp = required(Duty.SMPP)
        smpp = partial(serve_smpp, settings.smpp_server, engine, failed_keys, listening.smpp, stop)
        await faces.start(smpp)
    if metrics is not None:
        measured = create_metrics(gateway, settings, app.tally)
        await faces.start(partial(serve, measured, sock=metrics.sock))


def _notes(gateway: Gateway) -> RequestNotes | None:
    """The log of requests; None: the service has none."""
    try:
        return gateway.access(NOTES)
    except NotFound:
        return None


def _pages(
    gateway: Gateway, settings: Settings, stop: trio.Event, *, console: bool
) -> tuple[Pages, ...]:
    """The pages of customers; with ``console`` those of operators too."""
    # Imported here, because a service whose pages nobody opens does without them: see LateApp.
    from risala.http.dashboard.app import create_dashboard
    from risala.http.operator.app import create_console

    dashboard = create_dashboard(gateway, settings, shutdown=stop)
    return (
        (create_console(gateway, settings, shutdown=stop), dashboard) if console else (dashboard,)
    )


def _late_console(gateway: Gateway, settings: Settings, stop: trio.Event) -> LateApp:
    """The pages of operators, at an address of their own."""

    def make(_: PlainRoutes) -> JsonApp:
        from risala.http.operator.app import create_console

        return create_console(gateway, settings, shutdown=stop)

    none = PlainRoutes(
        body_bytes_max=settings.http.body_max_bytes,
        body_timeout_s=settings.http.body_timeout_s,
        tally=AnswerTally(),
        failed_keys=None,
    )
    return LateApp(none, make)
