"""The end of an organization: what goes with it, and deleting it."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.records.accounts import DELETED
from risala.engine.model.records.people.organizations import DELETION, OrganizationEnd
from risala.engine.model.records.upkeep.erasure_progress import (
    DELETE_ORGANIZATION,
    ErasureProgress,
)
from risala.engine.operations import owners
from risala.engine.operations.account_data.erasing import progress_of
from risala.engine.operations.arguments import OfOrganization, Text
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OWNERS, READERS
from risala.sms.typed import Purpose, typed


class Delete(OfOrganization):
    """The caller types the organization's name, so as not to delete the wrong one."""

    name: Text


async def _preview(call: Call[OfOrganization]) -> OrganizationEnd:
    return call.services.repositories.erasures.of_deletion(call.given.organization_id)


async def _delete(call: Call[Delete]) -> ErasureProgress:
    """Keys, members and endpoints end at once; stored data is deleted afterwards, in steps."""
    given, services = call.given, call.services
    organization_id = given.organization_id
    organization = services.accounts.fresh_organization(organization_id)
    if organization.status == DELETED:
        raise NotFound("There is no such organization.")
    if typed(given.name, Purpose.HEADING) != typed(organization.name, Purpose.HEADING):
        text = "`name` must be the organization's name, as it is shown."
        raise Invalid("name", "other_name", text)
    erasure_id, now_ms, who = services.ids.new("del"), call.now_ms, call.caller.who
    actor_id = (call.caller.user_id or "") if call.caller.is_member else None
    try:
        deleted = await services.repositories.erasures.delete_organization(
            call.audit(AuditImage.ORGANIZATION, organization_id),
            organization_id,
            erasure_id,
            who,
            now_ms,
            actor_id=actor_id,
        )
    finally:
        services.accounts.forget_organization(organization_id)
        services.credentials.organization_changed(organization_id)
        services.forget_organization(organization_id)
    await services.delivery.reload_organization(organization_id)
    services.people.organization_deleted(organization_id, deleted.users)
    services.intake.opt_outs.look_again()
    for endpoint_id in deleted.endpoints:
        services.delivery.hint_webhook(endpoint_id)
    await services.requests.forget(organization_id)
    services.errands.erasing.ring()
    services.errands.exporting.ring()
    return progress_of(services.repositories.erasures.find(erasure_id))


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(
        DELETION, OfOrganization, _preview, roles=OWNERS, operators=READERS, owner=owners.named
    ),
    operation(
        DELETE_ORGANIZATION,
        Delete,
        _delete,
        roles=OWNERS,
        owner=owners.named,
        changes=ErasureProgress,
        deleted_too=True,
        fresh=True,
    ),
)
