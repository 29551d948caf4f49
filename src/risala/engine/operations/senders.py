"""Senders that organizations ask for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from risala.engine.model.commands import Sender
from risala.engine.model.wire import sender_wire
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.services import Services


def _wire(services: Services, *found: Sender) -> list[Json]:
    """With the marks: these operations are operators', who may read of other organizations."""
    marks = services.senders.marks(found)
    return [
        {**sender_wire(sender), "marks": [asdict(mark) for mark in of_it]}
        for sender, of_it in zip(found, marks, strict=True)
    ]


async def _sender_request(services: Services, arguments: Arguments) -> Json:
    sender = await services.senders.request(
        arguments.text("organization_id"),
        arguments.text("name"),
        arguments.text_or_none("description") or "",
    )
    return _wire(services, sender)[0]


async def _sender_list(services: Services, arguments: Arguments) -> Json:
    found = services.senders.list(arguments.text_or_none("organization_id"))
    return {"senders": _wire(services, *found)}


async def _sender_clear(services: Services, arguments: Arguments) -> Json:
    sender_id = arguments.text("sender_id")
    return _wire(services, await services.senders.clear(sender_id, waive=False))[0]


async def _sender_waive(services: Services, arguments: Arguments) -> Json:
    sender_id = arguments.text("sender_id")
    return _wire(services, await services.senders.clear(sender_id, waive=True))[0]


async def _sender_deny(services: Services, arguments: Arguments) -> Json:
    sender_id, reason = arguments.text("sender_id"), arguments.text("reason")
    return _wire(services, await services.senders.deny(sender_id, reason))[0]


OPERATIONS: Final[dict[str, Operation]] = {
    "sender.request": _sender_request,
    "sender.list": _sender_list,
    "sender.clear": _sender_clear,
    "sender.waive": _sender_waive,
    "sender.deny": _sender_deny,
}
