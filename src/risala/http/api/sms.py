"""``POST /api/sms`` and ``POST /api/sms/get`` (contract §3)."""

from __future__ import annotations

from risala.engine.model.answers import without_id
from risala.engine.model.wire import lean, message_wire
from risala.http.api.bodies import parse_get, parse_send
from risala.http.api.fields import Compared
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.facade import GatewayFacade
from risala.http.common.parse import read_body
from risala.http.common.plain import PlainAnswer, PlainRequest, PlainRoutes
from risala.http.common.respond import json_bytes


def add_sms(
    paths: PlainRoutes, gateway: GatewayFacade, context: Compared, door: ApiKeyAuth
) -> None:
    """Serve ``POST /api/sms`` and ``POST /api/sms/get``."""

    async def send(request: PlainRequest) -> PlainAnswer:
        principal = door.secret(request)
        command = parse_send(await read_body(request), context())
        # The bytes are the journal's own: a repeated idempotency key gets them again.
        answer = await gateway.send_message(principal, command)
        return PlainAnswer(without_id(answer) if principal.without_id else answer)

    async def get(request: PlainRequest) -> PlainAnswer:
        principal = door.secret(request)
        message_id = parse_get(await read_body(request))
        told = message_wire(gateway.get_message(principal, message_id))
        return PlainAnswer(json_bytes(lean(told) if gateway.is_lean(principal) else told))

    paths.route("/api/sms", send)
    paths.route("/api/sms/get", get)
