"""``POST /api/sms`` and ``POST /api/sms/get`` (contract §3)."""

from __future__ import annotations

from collections.abc import Sequence

from risala.dataclass import dataclass
from risala.engine.model.answers import without_id
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.wire import lean, message_wire
from risala.http.api.bodies import parse_get, parse_send
from risala.http.api.fields import Compared
from risala.http.api.quick import quick_send
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.facade import GatewayFacade
from risala.http.common.parse import quick_object, read_body
from risala.http.common.plain import JSON, Fields, PlainAnswer, PlainRequest, PlainRoutes
from risala.http.common.respond import json_bytes


@dataclass(frozen=True, slots=True)
class _SendsTogether:
    """Sends of one key that come together."""

    gateway: GatewayFacade
    context: Compared
    door: ApiKeyAuth

    def takes(self, fields: Fields) -> bool:
        return fields.get(b"content-type") == [JSON.encode()] and b"content-encoding" not in fields

    def command(self, raw: bytes) -> SendMessage | None:
        members = quick_object(raw)
        return None if members is None else quick_send(members, self.context().plan)

    def holder(self, request: PlainRequest) -> Principal:
        return self.door.secret(request)

    async def answers(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[bytes | Exception | None] | None:
        found = await self.gateway.send_together(principal, commands)
        if found is None or not principal.without_id:
            return found
        return [without_id(each) if isinstance(each, bytes) else each for each in found]


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
    paths.together("/api/sms", _SendsTogether(gateway, context, door))
    paths.route("/api/sms/get", get)
