"""The streams of :mod:`risala.http.control.streams` over the control socket, for the operator.

``GET /tail/life``, ``/tail/events``, ``/tail/all``; ``?organization=org_…`` for one alone, a header
``Last-Event-ID`` to go on from there.
"""

from __future__ import annotations

from typing import Final

from quart import request
from quart_trio.wrappers import TrioResponse

from risala.engine.model.following import What
from risala.http.common.base import JsonApp, View
from risala.http.control.streams import Streams

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
