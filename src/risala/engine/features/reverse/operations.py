"""What people at the machine do with reverse verifications: start one."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.features.reverse.service import ReverseStarting
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeNumber,
    MaybeText,
    ModeWord,
    OfOrganization,
    one_of,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Conflict
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.verify.sessions import (
    START,
    Method,
    StartedReverse,
    VerificationView,
)
from risala.engine.model.states import Mode
from risala.engine.rules.roles import DEVELOPERS

OPERATIONS: Final = Operations()
NOT_RUNNING: Final = (
    "No text and no call comes in, because the service is not running. Start the service first."
)


class StartReverse(OfOrganization):
    """Start a verification in which the user sends a text, or calls."""

    to: MaybeNumber = None
    """The number to prove. Without it the number that sends the text is proven."""
    method: Annotated[
        str,
        PlainValidator(one_of("invalid_method", Method)),
        ArgumentKind(" or ".join(f"`{each}`" for each in Method)),
    ] = Method.INBOUND_SMS.value
    locale: MaybeText = None
    """The language of the page."""
    mode: ModeWord = "live"
    """To a test one the text comes by itself."""


@OPERATIONS(START, roles=DEVELOPERS, owner=owners.named, changes=VerificationView)
async def _start(call: Call[StartReverse]) -> StartedReverse:
    """Start a verification in which the user sends a text, or calls."""
    arguments, services = call.arguments, call.services
    organization = services.accounts.fresh_organization(arguments.organization_id)
    mode = Mode(arguments.mode)
    if mode is Mode.LIVE and not services.delivery.workers():
        raise Conflict(NOT_RUNNING)
    return await services.part(ReverseStarting).start(
        Principal(organization.id, "operator", KeyType.SECRET, mode),
        Method(arguments.method),
        arguments.to,
        arguments.locale,
        by=call.audit(AuditImage.VERIFICATION),
    )
