"""The control socket: the way of a command to the service that holds the data directory.

``POST /perform`` with ``{"operation": "org.list", "arguments": {}}`` answers ``{"result": {…}}`` or
an error in the API's shape; :mod:`risala.http.control.routes` adds streams of events, and
:mod:`risala.http.control.routes` takes files. The socket's file mode (0600) is the authentication.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import trio
from pydantic import Field

from risala.config.model import HttpSection
from risala.engine.model.callers import Caller, CallerKind, operator_by
from risala.http.common.failed_keys import AnswerTally
from risala.http.common.parse import read_body
from risala.http.common.plain import Client, Handler, PlainAnswer, PlainRequest, PlainRoutes
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body
from risala.http.control.streams import Streams
from risala.http.server.connection import uid_of
from risala.http.server.late import LateApp
from risala.http.server.server import serve_app
from risala.http.server.sockets import listen_control
from risala.sms.currencies import USUAL, decimals
from risala.sms.numbering.plan import DEFAULT, NumberingPlan

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway
    from risala.http.common.base import JsonApp

_BODY_BYTES_MAX: Final = 1024 * 1024
_BODY_TIMEOUT_S: Final = 5.0
"""Seconds for a request's body: the client is a command on this machine that has it ready."""


class PerformBody(RequestBody):
    operation: Annotated[str, Field(min_length=1)]
    arguments: dict[str, Any] = Field(default_factory=dict)


def create_control(gateway: Gateway) -> JsonApp:
    """As :func:`late_control`, with the app made already, and without streams."""
    return late_control(gateway, None).now()


def late_control(
    gateway: Gateway,
    streams: Streams | None,
    plan: NumberingPlan = DEFAULT,
    more: Mapping[str, Handler] | None = None,
) -> LateApp:
    """The app behind the control socket; without ``streams`` it has none.

    Args:
        more: answers POST at further paths.
    """
    plain = PlainRoutes(
        body_bytes_max=_BODY_BYTES_MAX,
        body_timeout_s=_BODY_TIMEOUT_S,
        tally=AnswerTally(),
        failed_keys=None,
    )

    async def perform(request: PlainRequest) -> PlainAnswer:
        body = parse_body(PerformBody, await read_body(request))
        result = await gateway.perform(body.operation, body.arguments, _caller(request.client))
        return PlainAnswer(json_bytes({"result": result}))

    async def alive(_: PlainRequest) -> PlainAnswer:
        return PlainAnswer(json_bytes({"status": "ok", **_decimals(), **_countries(plan)}))

    plain.route("/perform", perform)
    for path, handler in (more or {}).items():
        plain.route(path, handler)
    plain.route("/healthz", alive, method="GET")

    def make(plain: PlainRoutes) -> JsonApp:
        # Imported here: see LateApp. Files and streams are seldom asked for.
        from risala.http.common.base import JsonApp
        from risala.http.control.routes import add_tail, add_uploads

        app = JsonApp(
            "risala.http.control.app",
            body_bytes_max=_BODY_BYTES_MAX,
            body_timeout_s=_BODY_TIMEOUT_S,
            plain=plain,
        )
        add_uploads(app, gateway)
        if streams is not None:
            add_tail(app, streams)
        return app

    return LateApp(plain, make)


def _decimals() -> dict[str, int]:
    """The decimals of the service's currency, for commands that read no settings; left out where
    they are the usual ones."""
    places = decimals()
    return {} if places == USUAL else {"decimals": places}


def _countries(plan: NumberingPlan) -> dict[str, list[str]]:
    """The countries that the service serves, whichever settings a command finds; left out where
    they are the usual one."""
    return {} if plan.is_default else {"countries": [each.code for each in plan.countries]}


def _caller(client: Client | None) -> Caller:
    """The caller of a request: the user of this machine who connected. It is the operator, since
    the socket's file mode let them in."""
    return operator_by(CallerKind.CONTROL, uid_of(client))


async def serve_control(
    gateway: Gateway,
    http: HttpSection,
    data_dir: Path,
    *,
    streams: Streams | None = None,
    plan: NumberingPlan = DEFAULT,
    more: Mapping[str, Handler] | None = None,
    shutdown: trio.Event,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``data_dir/control.sock`` until ``shutdown``. The caller holds the directory's lock.

    Raises:
        ListenError: the socket cannot be made.
    """
    app = late_control(gateway, streams, plan, more)
    with listen_control(data_dir) as sock:
        await serve_app(app, http, sock=sock, shutdown=shutdown, task_status=task_status)
