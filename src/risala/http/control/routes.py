"""Files and streams over the control socket.

Files: ``POST /uploads?organization=org_…&name=people.csv``.

The body is the file as it is. It is stored while it comes in, and the answer has the id by which
``mailing.create`` and others name it: ``{"upload": "upl_…"}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio
from quart import request
from quart_trio.wrappers import TrioResponse

from risala.engine.features.tables.records import FILE_BYTES_MAX
from risala.engine.model.callers import CallerKind, operator_by
from risala.engine.model.errors import Invalid
from risala.engine.model.following import What
from risala.http.common.base import JsonApp, View
from risala.http.common.problems import plain
from risala.http.common.respond import json_bytes, json_response
from risala.http.control.streams import Streams
from risala.http.server.connection import uid_of

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

PATH: Final = "/uploads"
TIMEOUT_S: Final = 60.0
"""Seconds for a whole file: it comes from a command on this machine, and is written to its disk."""
_SLACK_BYTES: Final = 1_000_000
"""A file that is a little too large is refused by the engine, with a sentence that says how large
one may be; none of a larger one is read."""


def add_uploads(app: JsonApp, gateway: Gateway) -> None:
    """Take files for any organization."""

    async def upload() -> TrioResponse:
        organization_id = request.args.get("organization", "")
        if not organization_id:
            raise Invalid("organization", "missing", "`organization` is required.")
        name = request.args.get("name", "")
        caller = operator_by(CallerKind.CONTROL, uid_of(request.scope.get("client")))
        with trio.move_on_after(TIMEOUT_S):
            stored = await gateway.receive_upload(organization_id, request.body, name, caller)
            return json_response(json_bytes({"upload": stored}))
        raise plain(408)

    app.route_to(PATH, upload, body_bytes_max=FILE_BYTES_MAX + _SLACK_BYTES)


# The streams of :mod:`risala.http.control.streams` over the control socket, for the operator.
#
# ``GET /tail/life``, ``/tail/events``, ``/tail/all``; ``?organization=org_…`` for one alone, a
# header ``Last-Event-ID`` to go on from there.

_PATHS: Final = {
    "/tail/life": What.LIFE,
    "/tail/events": What.EVENTS,
    "/tail/all": What.LIFE | What.EVENTS,
}


def add_tail(app: JsonApp, streams: Streams) -> None:
    """Serve the streams of any organization."""
    for path, what in _PATHS.items():
        app.route_to(path, _tail(streams, what), method="GET")


def _tail(streams: Streams, what: What) -> View:
    async def tail() -> TrioResponse:
        organization_id = request.args.get("organization")
        return streams.response(what, organization_id, request.headers.get("Last-Event-ID"))

    return tail
