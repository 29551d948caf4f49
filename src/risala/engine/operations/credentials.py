"""Credentials for faces other than the API."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.model.audit import AuditImage
from risala.engine.model.records import credentials
from risala.engine.model.records.credentials import (
    CompatCredential,
    CompatCredentials,
    CreatedCredential,
)
from risala.engine.model.states import Mode
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    Addresses,
    ArgumentKind,
    Arguments,
    MaybeFlag,
    MaybeName,
    MaybeText,
    ModeWord,
    OfOrganization,
    Text,
    fault,
    maybe,
    text,
)
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import DEVELOPERS, READERS, SUPPORT, VIEWERS
from risala.engine.services import Services
from risala.sms.address import sender_fault


def _sender(value: object) -> str:
    found = text(value)
    if wrong := sender_fault(found):
        raise fault("invalid_sender", wrong)
    return found


class CreateCredential(OfOrganization):
    """Create a credential with which an organization uses a face other than the API."""

    face: Text
    """``kannel``, ``twilio``, ``playsms``, ``smpp``, or the name of a plugin's face."""
    username: MaybeText = None
    """None: made up."""
    mode: ModeWord = "live"
    name: MaybeName = None
    sender: Annotated[str | None, PlainValidator(maybe(_sender)), ArgumentKind("sender")] = Field(
        default=None, alias="from"
    )
    """The sender of messages that name none."""
    allowed_addresses: Addresses = None
    inbound: MaybeFlag = None
    """It also gets texts from phones, if its face delivers them."""


class OfCredential(Arguments):
    """Names one credential."""

    credential_id: Text


def of_credential(services: Services, given: OfCredential) -> str:
    """The organization of a credential. Raises ``NotFound``."""
    return services.credentials.credential(given.credential_id).organization_id


async def _create(call: Call[CreateCredential]) -> CreatedCredential:
    given = call.given
    return await call.services.credentials.create(
        given.organization_id,
        given.face,
        given.username,
        Mode(given.mode),
        call.caller.who,
        name=given.name,
        sender=given.sender,
        allowed_addresses=given.allowed_addresses,
        hears=bool(given.inbound),
        by=call.audit(AuditImage.CREDENTIAL),
    )


async def _list(call: Call[OfOrganization]) -> CompatCredentials:
    found = call.services.credentials.of_organization(call.given.organization_id)
    return CompatCredentials(tuple(found))


async def _revoke(call: Call[OfCredential]) -> CompatCredential:
    credential_id = call.given.credential_id
    by = call.audit(AuditImage.CREDENTIAL, credential_id)
    return await call.services.credentials.revoke(credential_id, by=by)


_CHANGES: Final[dict[str, Any]] = {"roles": DEVELOPERS, "changes": CompatCredential}
OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(
        credentials.CREATE, CreateCredential, _create, owner=owners.named, **_CHANGES, fresh=True
    ),
    operation(
        credentials.LIST,
        OfOrganization,
        _list,
        roles=VIEWERS,
        operators=READERS,
        owner=owners.named,
    ),
    operation(
        credentials.REVOKE,
        OfCredential,
        _revoke,
        operators=SUPPORT,
        owner=of_credential,
        **_CHANGES,
    ),
)
