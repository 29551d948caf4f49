"""Credentials for faces other than the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import CompatCredential, CreatedCredential
from risala.engine.model.states import Mode
from risala.engine.model.wire import credential_wire
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    Addresses,
    ArgumentKind,
    Arguments,
    Json,
    MaybeFlag,
    MaybeText,
    ModeWord,
    OfOrganization,
    Text,
    fault,
    maybe,
    text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import DEVELOPERS, VIEWERS
from risala.sms.address import sender_fault


def _sender(value: object) -> str:
    found = text(value)
    if wrong := sender_fault(found):
        raise fault("invalid_sender", wrong)
    return found


class CreateCredential(OfOrganization):
    """Make a credential by which an organization uses a face other than the API."""

    face: Text
    """``kannel``, ``twilio``, ``smpp``, or what a plugin calls its face."""
    username: MaybeText = None
    """None: made up."""
    mode: ModeWord = "live"
    name: MaybeText = None
    sender: Annotated[str | None, PlainValidator(maybe(_sender)), ArgumentKind("sender")] = Field(
        default=None, alias="from"
    )
    """Whom a message is from that names nobody."""
    allowed_addresses: Addresses = None
    inbound: MaybeFlag = None
    """Texts from phones go to it too, where its face delivers any."""


class OfCredential(Arguments):
    """Names one credential."""

    credential_id: Text


@dataclass(frozen=True, slots=True)
class CompatCredentials:
    """The credentials of an organization, without their passwords."""

    credentials: tuple[CompatCredential, ...]


def _list_wire(found: CompatCredentials) -> Json:
    return {"credentials": [credential_wire(each) for each in found.credentials]}


def _created_wire(created: CreatedCredential) -> Json:
    return {"credential": credential_wire(created.credential), "password": created.password}


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


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="credential.create",
        arguments=CreateCredential,
        result=CreatedCredential,
        wire=_created_wire,
        handler=_create,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="credential.list",
        arguments=OfOrganization,
        result=CompatCredentials,
        wire=_list_wire,
        handler=_list,
        roles=VIEWERS,
        owner=owners.named,
    ),
    Operation(
        name="credential.revoke",
        arguments=OfCredential,
        result=CompatCredential,
        wire=credential_wire,
        handler=_revoke,
        roles=DEVELOPERS,
        owner=owners.of_credential,
        changes=True,
    ),
)
