"""A file with all data of an organization: order it, watch it, fetch it, delete it."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.errors import Conflict, Forbidden, NotFound
from risala.engine.model.records.upkeep import exports
from risala.engine.model.records.upkeep.exports import Export, Exports, ExportState, Fetched
from risala.engine.operations import owners
from risala.engine.operations.arguments import Arguments, OfOrganization, Text
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OWNERS, READERS
from risala.engine.services import Services
from risala.engine.upkeep.exporting import file_of

SHOWN_MAX: Final = 20
"""Files that a list shows: the latest."""


class OfExport(Arguments):
    export_id: Text


def _owner(services: Services, given: OfExport) -> str:
    return services.repositories.exports.find(given.export_id).organization_id


async def _ask(call: Call[OfOrganization]) -> Export:
    """Have a file written; ``export.show`` shows the progress."""
    organization_id, services, now_ms = call.given.organization_id, call.services, call.now_ms
    services.accounts.fresh_organization(organization_id)
    if not services.delivery.running:
        raise Conflict(
            "The file cannot be written because the service is not running. Start the service "
            "first."
        )
    export_id, who = services.ids.new("exp"), call.caller.who
    by = call.audit(organization_id=organization_id)
    export = await services.repositories.exports.begin(by, export_id, organization_id, who, now_ms)
    services.errands.exporting.ring()
    return export


async def _list(call: Call[OfOrganization]) -> Exports:
    organization_id = call.given.organization_id
    call.services.accounts.fresh_organization(organization_id)
    found = call.services.repositories.exports.of_organization(organization_id, SHOWN_MAX)
    return Exports(tuple(found))


async def _show(call: Call[OfExport]) -> Export:
    return call.services.repositories.exports.find(call.given.export_id)


async def _fetch(call: Call[OfExport]) -> Fetched:
    if call.hides_texts:
        raise Forbidden("The file holds messages' texts. Only owners may fetch it, on their pages.")
    export = call.services.repositories.exports.find(call.given.export_id)
    over = export.expires_at is not None and export.expires_at <= call.now_ms
    if export.state is not ExportState.READY or over:
        raise NotFound("This file no longer exists.")
    by = call.audit(subject=export.id, organization_id=export.organization_id, always=True)
    await call.note(by)
    return Fetched(export, str(file_of(call.services, export)))


async def _drop(call: Call[OfExport]) -> Export:
    export_id, now_ms = call.given.export_id, call.now_ms
    export = call.services.repositories.exports.find(export_id)
    by = call.audit(subject=export_id, organization_id=export.organization_id)
    dropped = await call.services.repositories.exports.drop(by, export_id, now_ms)
    call.services.errands.exporting.ring()
    return dropped


_ONE: Final[dict[str, Any]] = {"roles": OWNERS, "owner": _owner}
_NAMED: Final[dict[str, Any]] = {"roles": OWNERS, "owner": owners.named}
OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(exports.REQUEST, OfOrganization, _ask, changes=Export, **_NAMED, fresh=True),
    operation(exports.LIST, OfOrganization, _list, operators=READERS, **_NAMED),
    operation(exports.SHOW, OfExport, _show, operators=READERS, **_ONE),
    operation(exports.FETCH, OfExport, _fetch, reveals=True, **_ONE, fresh=True),
    operation(exports.DELETE, OfExport, _drop, changes=Export, **_ONE),
)
