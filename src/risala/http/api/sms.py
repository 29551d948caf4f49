"""``POST /api/sms`` and ``POST /api/sms/get`` (contract §3)."""

from __future__ import annotations

from quart.wrappers import Request
from quart_trio.wrappers import TrioResponse

from risala.engine.model.clock import Clock
from risala.engine.model.wire import message_wire
from risala.http.api.bodies import parse_get, parse_send
from risala.http.common.auth import secret_key
from risala.http.common.base import JsonApp
from risala.http.common.facade import GatewayFacade
from risala.http.common.parse import read_body
from risala.http.common.respond import json_bytes, json_response


def add_sms(app: JsonApp, gateway: GatewayFacade, clock: Clock) -> None:
    async def send(request: Request) -> TrioResponse:
        principal = secret_key(gateway, request.headers)
        command = parse_send(await read_body(request), clock.now_ms())
        # The bytes are the journal's own: a repeated idempotency key gets them again.
        return json_response(await gateway.send_message(principal, command))

    async def get(request: Request) -> TrioResponse:
        principal = secret_key(gateway, request.headers)
        message_id = parse_get(await read_body(request))
        return json_response(json_bytes(message_wire(gateway.get_message(principal, message_id))))

    app.route_direct("/api/sms", send)
    app.route_direct("/api/sms/get", get)
