"""The bodies that the SMS endpoints take, and the codes of their faults."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from risala.engine.model.commands import SendMessage
from risala.http.api import fields
from risala.http.api.quick import quick_get, quick_send
from risala.http.common.parse import has_escapes, is_fit, quick_object, read_object
from risala.http.common.validation import RequestBody, parse_body, validate


class SendBody(RequestBody):
    """A message to send."""

    to: fields.Number
    body: fields.MessageText
    sender: Annotated[
        fields.SenderName | None,
        Field(
            alias="from",
            description="The sender ID: the default sender, or one on your account. If left "
            "out, the default sender is used.",
            examples=["RISALA"],
        ),
    ] = None
    idempotency_key: Annotated[
        fields.IdempotencyKey | None,
        Field(
            alias="idempotencyKey",
            description=(
                "A request with the same key returns the original response and sends no second "
                "message."
            ),
            examples=["order-7-paid"],
        ),
    ] = None
    send_at: Annotated[
        fields.SendAt | None,
        Field(
            alias="sendAt",
            description="When to send, at most 30 days ahead. A time in the past means now.",
            examples=[fields.PAST],
        ),
    ] = None
    validity_seconds: Annotated[
        fields.ValiditySeconds | None,
        Field(
            alias="validitySeconds",
            description="How many seconds to try, counted from `sendAt`. After that the message "
            "fails. If left out, the service's default applies: two days, unless the operator "
            "changed it.",
            examples=[3600],
        ),
    ] = None
    message_class: Annotated[
        fields.MessageClass | None,
        Field(
            alias="messageClass",
            description="0: a flash message, which the phone shows at once and does not keep. It "
            "leaves only by carriers that can send one; where none can, it is refused with "
            "`data.code` `CLASS_NOT_POSSIBLE`. If left out, the message is an ordinary one.",
            examples=[0],
        ),
    ] = None
    metadata: Annotated[
        fields.Metadata | None,
        Field(
            description="Your own data. It is returned by `POST /api/sms/get` and in events.",
            examples=[{"order": "7"}],
        ),
    ] = None

    def command(self) -> SendMessage:
        return SendMessage(
            to=self.to,
            body=self.body,
            sender=self.sender,
            idempotency_key=self.idempotency_key,
            metadata=self.metadata or {},
            send_at=self.send_at,
            validity_s=self.validity_seconds,
            message_class=self.message_class,
        )


class BatchBody(RequestBody):
    """Many messages. Each stands alone: one that is refused spoils no other."""

    # For the reference only: risala.http.api.batch_reader reads a batch item by item.
    messages: Annotated[list[SendBody], Field(min_length=1, max_length=fields.BATCH_ITEMS_MAX)]


class GetBody(RequestBody):
    """Which message."""

    message_id: Annotated[fields.MessageId, Field(alias="messageId")]


def parse_send(raw: bytes, context: fields.BodyContext) -> SendMessage:
    """The command that a body asks for.

    Raises:
        Problem: 400 with every fault.
    """
    members = quick_object(raw)
    command = None if members is None else quick_send(members, context.plan)
    return command or explained_send(raw, context)


def explained_send(raw: bytes, context: fields.BodyContext) -> SendMessage:
    """As :func:`parse_send`, by the model alone, which names every fault."""
    return validate(SendBody, read_object(raw), escapes=has_escapes(raw), context=context).command()


def parse_item(
    members: dict[str, Any], context: fields.BodyContext, *, escapes: bool
) -> SendMessage:
    """The command that one item of a batch asks for.

    Args:
        escapes: whether the item's text may hold escapes of characters that are not allowed.

    Raises:
        Problem: 400 with every fault.
    """
    command = quick_send(members, context.plan) if not escapes or is_fit(members) else None
    return command or validate(SendBody, members, escapes=escapes, context=context).command()


def parse_get(raw: bytes) -> str:
    """The message id that a body names, unchecked.

    Raises:
        Problem: 400 with every fault.
    """
    members = quick_object(raw)
    message_id = None if members is None else quick_get(members, "messageId")
    return message_id or parse_body(GetBody, raw).message_id
