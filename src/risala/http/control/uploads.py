"""Files over the control socket: ``POST /uploads?organization=org_…&name=people.csv``.

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
from risala.http.common.base import JsonApp
from risala.http.common.problems import plain
from risala.http.common.respond import json_bytes, json_response
from risala.http.server.peer import uid_of

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
