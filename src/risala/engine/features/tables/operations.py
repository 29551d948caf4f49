"""Files with the rows of mailings and lists, on their way in, and how a sheet is named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.features.tables.records import NAME_MAX
from risala.engine.features.tables.uploads import uploads_of
from risala.engine.kernel.arguments import ArgumentKind, maybe, name_text
from risala.engine.kernel.operation import HIDDEN, SUSPENDED
from risala.engine.model.callers import Caller
from risala.engine.model.errors import Conflict, Forbidden, NotFound
from risala.engine.model.records.accounts import DELETED
from risala.engine.rules.roles import DEVELOPERS, RoleVerdict, judge
from risala.engine.services import Services

MaybeSheet = Annotated[
    str | None, PlainValidator(maybe(name_text(NAME_MAX))), ArgumentKind("name of a sheet")
]
NOT_RUNNING: Final = (
    "The file cannot be read because the service is not running. Start the service first."
)


async def receive_upload(
    services: Services,
    caller: Caller,
    organization_id: str,
    chunks: AsyncIterator[bytes],
    name: str,
) -> str:
    """See :meth:`Gateway.receive_upload`."""
    verdict = judge(caller, DEVELOPERS, organization_id)
    if verdict is RoleVerdict.HIDDEN:
        raise NotFound(HIDDEN)
    if verdict is RoleVerdict.FORBIDDEN:
        raise Forbidden(f"This is not for the role {caller.role_word!r}.")
    status = services.accounts.fresh_organization(organization_id).status
    if status == DELETED:
        raise Conflict("The organization is deleted.")
    if caller.is_member and status != "active":
        raise Forbidden(SUSPENDED)
    if not services.delivery.running:
        raise Conflict(NOT_RUNNING)
    return await services.part(uploads_of).receive(organization_id, chunks, name)


async def waiting(services: Services, organization_id: str) -> tuple[int, int]:
    """How many uploads of an organization wait, and their bytes."""
    return await services.part(uploads_of).waiting(organization_id)
