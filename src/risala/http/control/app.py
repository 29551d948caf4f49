"""The control socket: the way of a command to the service that holds the data directory.

``POST /perform`` with ``{"operation": "org.list", "arguments": {}}`` answers ``{"result": {…}}`` or
an error in the API's shape; :mod:`risala.http.control.tail` adds streams of events, and
:mod:`risala.http.control.uploads` takes files. The socket's file mode (0600) is the authentication.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import trio
from pydantic import Field

from risala.config.model import HttpSection
from risala.engine.model.callers import Caller, CallerKind, operator_by
from risala.http.common.base import JsonApp
from risala.http.common.facade import UploadOperator
from risala.http.common.parse import read_body
from risala.http.common.plain import Client, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body
from risala.http.control.streams import Streams
from risala.http.control.tail import add_tail
from risala.http.control.uploads import add_uploads
from risala.http.server.peer import uid_of
from risala.http.server.server import serve_app
from risala.http.server.sockets import listen_control
from risala.sms.currencies import USUAL, decimals

_BODY_BYTES_MAX: Final = 1024 * 1024
_BODY_TIMEOUT_S: Final = 5.0
"""Seconds for a request's body: the client is a command on this machine that has it ready."""


class PerformBody(RequestBody):
    operation: Annotated[str, Field(min_length=1)]
    arguments: dict[str, Any] = Field(default_factory=dict)


def create_control(operator: UploadOperator) -> JsonApp:
    """The app behind the control socket."""
    app = JsonApp(
        "risala.http.control.app", body_bytes_max=_BODY_BYTES_MAX, body_timeout_s=_BODY_TIMEOUT_S
    )

    async def perform(request: PlainRequest) -> PlainAnswer:
        body = parse_body(PerformBody, await read_body(request))
        result = await operator.perform(body.operation, body.arguments, _caller(request.client))
        return PlainAnswer(json_bytes({"result": result}))

    async def alive(_: PlainRequest) -> PlainAnswer:
        return PlainAnswer(json_bytes({"status": "ok", **_decimals()}))

    app.route_plain("/perform", perform)
    app.route_plain("/healthz", alive, method="GET")
    add_uploads(app, operator)
    return app


def _decimals() -> dict[str, int]:
    """The decimals of the service's currency, for commands that read no settings; left out where
    they are the usual ones."""
    places = decimals()
    return {} if places == USUAL else {"decimals": places}


def _caller(client: Client | None) -> Caller:
    """The caller of a request: the user of this machine who connected. It is the operator, since
    the socket's file mode let them in."""
    return operator_by(CallerKind.CONTROL, uid_of(client))


async def serve_control(
    operator: UploadOperator,
    http: HttpSection,
    data_dir: Path,
    *,
    streams: Streams | None = None,
    shutdown: trio.Event,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``data_dir/control.sock`` until ``shutdown``. The caller holds the directory's lock.

    Raises:
        ListenError: the socket cannot be made.
    """
    app = create_control(operator)
    if streams is not None:
        add_tail(app, streams)
    with listen_control(data_dir) as sock:
        await serve_app(app, http, sock=sock, shutdown=shutdown, task_status=task_status)
