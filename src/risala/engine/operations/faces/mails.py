"""A message by mail: the mail server's pipe brings it, and the settings say who may send so."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

import structlog
from pydantic import Field, PlainValidator

from risala.engine.limits.claims import TakeMail
from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import Conflict, Forbidden, Invalid
from risala.engine.model.records import messages
from risala.engine.model.records.accounts import DELETED
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import MailedMessage, MessageView
from risala.engine.model.states import Mode
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Flag,
    Number,
    Text,
    any_text,
)
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.faces.mails import ignored, text_of
from risala.engine.rules.roles import OPERATORS, SUPPORT
from risala.engine.services import Services

log = structlog.get_logger(__name__)

_AnyText = Annotated[str, PlainValidator(any_text), ArgumentKind("text, also empty")]
_NOBODY: Final = "Nobody may send by mail: the settings have no [[mail_to_sms]] table."


class SendMail(Arguments):
    """Send the text of a mail to one number, if the settings let its sender."""

    to: Number
    mail_from: _AnyText
    """The envelope's sender; empty for a bounce."""
    subject: _AnyText = Field(default="", repr=False)
    text: _AnyText = Field(repr=False)
    digest: Text
    """The same for the same mail: to one number it is sent once."""
    automatic: Flag = False
    """It is an automatic reply, or a report."""


def _payer(services: Services, organization_id: str | None) -> str:
    """The id of the organization that pays."""
    if organization_id is not None:
        return organization_id
    known = [each.id for each in services.accounts.list_organizations() if each.status != DELETED]
    if len(known) != 1:
        text = f"There are {len(known)} organizations: name one in [[mail_to_sms]]."
        raise Conflict(text)
    return known[0]


async def _send(call: Call[SendMail]) -> MailedMessage:
    given, services = call.given, call.services
    if (reason := ignored(given.mail_from, is_automatic=given.automatic)) is not None:
        log.info("mail.ignored", reason=reason)
        return MailedMessage(None, reason)
    if not services.mail_tables:
        raise Conflict(_NOBODY)
    table = services.mail_tables.of(given.mail_from)
    if table is None:
        raise Forbidden(f"{given.mail_from} may not send messages by mail.")
    body = text_of(given.subject, given.text, table)
    if not body:
        raise Invalid("text", "missing", "The mail has no text that could be sent.")
    organization = services.accounts.fresh_organization(_payer(services, table.organization))
    if organization.status != "active":
        raise Forbidden("The organization is not active.")
    key = f"mail:{given.digest}:{given.to}"
    if services.repositories.messages.known_answer(organization.id, Mode.LIVE, key) is None:
        await services.limits.ask(TakeMail(given.mail_from.casefold()))
    principal = Principal(organization.id, "operator", KeyType.SECRET, Mode.LIVE)
    command = SendMessage(to=given.to, body=body, sender=table.sender, idempotency_key=key)
    by = call.audit(AuditImage.MESSAGE, said={"mailFrom": given.mail_from})
    response = json.loads(await services.intake.send(principal, command, by=by))
    return MailedMessage(response["messageId"])


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(
        messages.MAIL, SendMail, _send, roles=OPERATORS, operators=SUPPORT, changes=MessageView
    ),
)
