"""Messages by the operator's hand."""

from __future__ import annotations

import json
from typing import Final

from risala.engine.commands import KeyType, Mode, Principal, SendMessage
from risala.engine.errors import Invalid
from risala.engine.gateway import Gateway
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.wire import message_wire, timeline_wire
from risala.sms.address import is_number, sender_fault


async def _send(gateway: Gateway, arguments: Arguments) -> Json:
    to, body = arguments.text("to"), arguments.text("body")
    sender = arguments.text_or_none("from")
    if not is_number(to):
        raise Invalid("to", "invalid_phone_number", "`to` must look like +22236123456.")
    if len(body) > 1600:
        raise Invalid("body", "too_long", "A message has 1 to 1600 characters.")
    if sender is not None and (fault := sender_fault(sender)):
        raise Invalid("from", "invalid_sender", fault)
    key = arguments.text_or_none("idempotency_key")
    if key is not None and not 8 <= len(key) <= 128:
        raise Invalid("idempotency_key", "invalid_length", "A key has 8 to 128 characters.")
    organization = gateway.parts.accounts.fresh_organization(arguments.text("organization_id"))
    principal = Principal(organization.id, "operator", KeyType.SECRET, Mode.LIVE)
    command = SendMessage(
        to=to,
        body=body,
        sender=sender,
        idempotency_key=key,
        urgent=bool(arguments.values.get("urgent", False)),
    )
    response: Json = json.loads(await gateway.send_message(principal, command))
    return response


async def _message_show(gateway: Gateway, arguments: Arguments) -> Json:
    view, entries = gateway.show_message(arguments.text("message_id"))
    return {
        "message": {**message_wire(view), "organizationId": view.organization_id},
        "timeline": [timeline_wire(entry) for entry in entries],
    }


async def _message_cancel(gateway: Gateway, arguments: Arguments) -> Json:
    message_id = arguments.text("message_id")
    await gateway.parts.recorder.cancel(message_id)
    view, _ = gateway.show_message(message_id)
    return {"message": message_wire(view)}


OPERATIONS: Final[dict[str, Operation]] = {
    "message.cancel": _message_cancel,
    "send": _send,
    "message.show": _message_show,
}
