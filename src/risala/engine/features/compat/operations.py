"""Credentials for faces other than the API, and messages by mail: the mail server's pipe brings
them, and the settings say who may send so."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

import structlog
import trio
from pydantic import Field, PlainValidator

from risala.config.model import Settings
from risala.engine.features.compat import records
from risala.engine.features.compat.credentials import Credentials
from risala.engine.features.compat.records import (
    CompatCredential,
    CompatCredentials,
    CreatedCredential,
    MailedMessage,
)
from risala.engine.features.compat.rules import MailSenders, ignored, text_of
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    Addresses,
    ArgumentKind,
    Arguments,
    Flag,
    MaybeFlag,
    MaybeName,
    MaybeSender,
    MaybeText,
    ModeWord,
    Number,
    OfOrganization,
    Text,
    any_text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import Conflict, Forbidden, Invalid
from risala.engine.model.records.accounts import DELETED
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.search import Findable
from risala.engine.model.states import Mode
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, READERS, SUPPORT, VIEWERS
from risala.engine.services import Services

log = structlog.get_logger(__name__)


class CreateCredential(OfOrganization):
    """Create a credential with which an organization uses a face other than the API."""

    face: Text
    """``kannel``, ``twilio``, ``playsms``, ``smsgate``, ``smpp``, or the name of a
    plugin's face."""
    username: MaybeText = None
    """None: made up."""
    mode: ModeWord = "live"
    name: MaybeName = None
    sender: MaybeSender = Field(default=None, alias="from")
    """The sender of messages that name none."""
    allowed_addresses: Addresses = None
    inbound: MaybeFlag = None
    """Whether it also gets texts from phones, if its face delivers them."""


class OfCredential(Arguments):
    """Names one credential."""

    credential_id: Text


def of_credential(services: Services, arguments: OfCredential) -> str:
    """The organization of a credential. Raises ``NotFound``."""
    return services.part(Credentials).credential(arguments.credential_id).organization_id


FOUND: Final = (
    Findable(
        kind="credential",
        table="face_credentials",
        title="coalesce(name, username)",
        names=("name", "username", "last4", "face"),
        prefix="crd",
        newest="created_at",
        where="revoked_at IS NULL",
        mode="mode",
        note="face || ' · ' || username || ' · …' || last4",
        page="keys",
    ),
)
"""What a search finds of credentials."""
OPERATIONS: Final = Operations()
_CHANGES: Final[dict[str, Any]] = {"roles": DEVELOPERS, "changes": CompatCredential}


@OPERATIONS(records.CREATE, owner=owners.named, fresh=True, **_CHANGES)
async def _create(call: Call[CreateCredential]) -> CreatedCredential:
    arguments = call.arguments
    return await call.part(Credentials).create(
        **arguments.values_of(CompatCredential, besides=("username", "mode")),
        username=arguments.username,
        mode=Mode(arguments.mode),
        created_by=call.caller.who,
        hears=bool(arguments.inbound),
        by=call.audit(AuditImage.CREDENTIAL),
    )


@OPERATIONS(records.LIST, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _list(call: Call[OfOrganization]) -> CompatCredentials:
    credentials = call.part(Credentials).of_organization(call.arguments.organization_id)
    return CompatCredentials(tuple(credentials))


@OPERATIONS(records.REVOKE, operators=SUPPORT, owner=of_credential, **_CHANGES)
async def _revoke(call: Call[OfCredential]) -> CompatCredential:
    credential_id = call.arguments.credential_id
    by = call.audit(AuditImage.CREDENTIAL, credential_id)
    return await call.part(Credentials).revoke(credential_id, by=by)


# -- mails

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
    """A digest that is the same for the same mail: to one number the mail is sent once."""
    automatic: Flag = False
    """Whether the mail is an automatic reply, or a report."""


def _payer(services: Services, organization_id: str | None) -> str:
    """The id of the organization that pays."""
    if organization_id is not None:
        return organization_id
    known = [
        each.id for each in services.repositories.organizations.all() if each.status != DELETED
    ]
    if len(known) != 1:
        text = f"There are {len(known)} organizations: name one in [[mail_to_sms]]."
        raise Conflict(text)
    return known[0]


@OPERATIONS(records.MAIL, roles=OPERATORS, operators=SUPPORT, changes=MessageView)
async def _send(call: Call[SendMail]) -> MailedMessage:
    arguments, services = call.arguments, call.services
    if (reason := ignored(arguments.mail_from, is_automatic=arguments.automatic)) is not None:
        log.info("mail.ignored", reason=reason)
        return MailedMessage(None, reason)
    senders = services.part(mail_senders)
    if not senders:
        raise Conflict(_NOBODY)
    table = senders.of(arguments.mail_from)
    if table is None:
        raise Forbidden(f"{arguments.mail_from} may not send messages by mail.")
    body = text_of(arguments.subject, arguments.text, table)
    if not body:
        raise Invalid("text", "missing", "The mail has no text that could be sent.")
    organization = services.accounts.fresh_organization(_payer(services, table.organization))
    if organization.status != "active":
        raise Forbidden("The organization is not active.")
    key = f"mail:{arguments.digest}:{arguments.to}"
    if services.repositories.messages.known_answer(organization.id, Mode.LIVE, key) is None:
        senders.take(arguments.mail_from, trio.current_time())
    principal = Principal(organization.id, "operator", KeyType.SECRET, Mode.LIVE)
    command = SendMessage(to=arguments.to, body=body, sender=table.sender, idempotency_key=key)
    by = call.audit(AuditImage.MESSAGE, details={"mailFrom": arguments.mail_from})
    response = json.loads(await services.intake.send(principal, command, by=by))
    return MailedMessage(response["messageId"])


def mail_senders(services: Services) -> MailSenders:
    return MailSenders(services.settings)


def retune(services: Services, settings: Settings) -> None:
    """Apply tables that were changed at run time."""
    services.part(mail_senders).retune(settings)
