"""Senders that organizations ask for."""

from __future__ import annotations

from typing import Final

from risala.engine.gateway import Gateway
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.wire import sender_wire


async def _sender_request(gateway: Gateway, arguments: Arguments) -> Json:
    sender = await gateway.parts.senders.request(
        arguments.text("organization_id"),
        arguments.text("name"),
        arguments.text_or_none("description") or "",
    )
    return sender_wire(sender)


async def _sender_list(gateway: Gateway, arguments: Arguments) -> Json:
    found = gateway.parts.senders.list(arguments.text_or_none("organization_id"))
    return {"senders": [sender_wire(sender) for sender in found]}


async def _sender_clear(gateway: Gateway, arguments: Arguments) -> Json:
    sender_id = arguments.text("sender_id")
    return sender_wire(await gateway.parts.senders.clear(sender_id, waive=False))


async def _sender_waive(gateway: Gateway, arguments: Arguments) -> Json:
    sender_id = arguments.text("sender_id")
    return sender_wire(await gateway.parts.senders.clear(sender_id, waive=True))


async def _sender_deny(gateway: Gateway, arguments: Arguments) -> Json:
    sender_id, reason = arguments.text("sender_id"), arguments.text("reason")
    return sender_wire(await gateway.parts.senders.deny(sender_id, reason))


OPERATIONS: Final[dict[str, Operation]] = {
    "sender.request": _sender_request,
    "sender.list": _sender_list,
    "sender.clear": _sender_clear,
    "sender.waive": _sender_waive,
    "sender.deny": _sender_deny,
}
