"""Files with the rows of mailings and lists, on their way in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from risala.engine.model.callers import Caller
from risala.engine.model.errors import Conflict, Forbidden, NotFound
from risala.engine.model.records.accounts import DELETED
from risala.engine.operations.operation import HIDDEN, SUSPENDED
from risala.engine.rules.roles import DEVELOPERS, RoleVerdict, judge
from risala.engine.services import Services

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
    return await services.mailings.uploads.receive(organization_id, chunks, name)
