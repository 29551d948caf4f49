"""Messages by the operator's hand."""

from __future__ import annotations

import json
from typing import Final

from risala.engine import overview
from risala.engine.journal.messages import waiting
from risala.engine.model.commands import (
    KeyType,
    Mode,
    Principal,
    SendMessage,
)
from risala.engine.model.errors import Forbidden, Invalid
from risala.engine.model.limits import AHEAD_MAX_S
from risala.engine.model.wire import message_wire, timeline_wire
from risala.engine.operations.arguments import Arguments, Json, Operation, is_text
from risala.engine.services import Services
from risala.sms.address import is_number, sender_fault

BODY_MAX: Final = 1600
VALIDITY_S: Final = (60, 259_200)


async def _send(services: Services, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    command = _command(arguments, services.recorder.clock.now_ms())
    organization = services.accounts.fresh_organization(organization_id)
    if organization.status != "active":
        raise Forbidden("The organization is not active.")
    principal = Principal(organization.id, "operator", KeyType.SECRET, Mode.LIVE)
    response: Json = json.loads(await services.intake.send(principal, command))
    return {**response, **unserved_warning(services, response["messageId"])}


def unserved_warning(services: Services, message_id: str) -> Json:
    """``{"warning": …}`` where the message waits because nobody serves its number; else empty."""
    if not waiting.is_unserved(services.reader, message_id):
        return {}
    text = (
        "It waits: no enabled carrier serves this number. Name its network or prefix in a"
        " carrier's table before its validity is over."
    )
    return {"warning": text}


def _command(arguments: Arguments, now_ms: int) -> SendMessage:
    to, body = arguments.text("to"), arguments.text("body")
    sender, key = arguments.text_or_none("from"), arguments.text_or_none("idempotency_key")
    send_at = arguments.moment_or_none("send_at")
    validity_s = arguments.whole_or_none("validity_s")
    if not is_number(to):
        raise Invalid("to", "invalid_phone_number", "`to` must look like +22236123456.")
    if len(body) > BODY_MAX or not is_text(body):
        text = f"A message has 1 to {BODY_MAX} characters, no NUL and no lone surrogate."
        raise Invalid("body", "too_long", text)
    if sender is not None and (fault := sender_fault(sender)):
        raise Invalid("from", "invalid_sender", fault)
    if key is not None and not (8 <= len(key) <= 128 and is_text(key)):
        raise Invalid("idempotency_key", "invalid_length", "A key has 8 to 128 characters.")
    if send_at is not None and send_at > now_ms + AHEAD_MAX_S * 1000:
        days = AHEAD_MAX_S // 86_400
        raise Invalid("send_at", "too_late", f"A message is sent within {days} days.")
    if validity_s is not None and not VALIDITY_S[0] <= validity_s <= VALIDITY_S[1]:
        text = f"A validity is {VALIDITY_S[0]} to {VALIDITY_S[1]} seconds."
        raise Invalid("validity_s", "out_of_range", text)
    return SendMessage(
        to=to,
        body=body,
        sender=sender,
        idempotency_key=key,
        urgent=bool(arguments.flag_or_none("urgent")),
        send_at=send_at,
        validity_s=validity_s,
    )


async def _message_show(services: Services, arguments: Arguments) -> Json:
    view, entries = overview.message(services, arguments.text("message_id"))
    return {
        "message": {**message_wire(view), "organizationId": view.organization_id},
        "timeline": [timeline_wire(entry) for entry in entries],
    }


async def _message_cancel(services: Services, arguments: Arguments) -> Json:
    message_id = arguments.text("message_id")
    await services.recorder.cancel(message_id)
    view, _ = overview.message(services, message_id)
    return {"message": {**message_wire(view), "organizationId": view.organization_id}}


OPERATIONS: Final[dict[str, Operation]] = {
    "message.cancel": _message_cancel,
    "send": _send,
    "message.show": _message_show,
}
