"""A file with everything of an organization: asked for, watched, fetched, deleted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from risala.engine.model.errors import Conflict, Forbidden, NotFound
from risala.engine.model.records.upkeep.exports import Export, ExportState
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations import owners
from risala.engine.operations.arguments import Arguments, Json, OfOrganization, Text
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OWNERS
from risala.engine.services import Services
from risala.engine.upkeep.exporting import file_of

SHOWN_MAX: Final = 20
"""Files that a list shows: the latest."""


class OfExport(Arguments):
    export_id: Text


@dataclass(frozen=True, slots=True)
class Exports:
    exports: tuple[Export, ...]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where the file of an export is, for a face that hands it on."""

    export: Export
    path: Path


def export_wire(export: Export) -> Json:
    return {
        "id": export.id,
        "organizationId": export.organization_id,
        "state": export.state.value,
        "reason": export.reason,
        "written": export.written,
        "expected": export.expected,
        "bytes": export.bytes,
        "askedBy": export.asked_by,
        "createdAt": iso(export.created_at),
        "endedAt": maybe_iso(export.ended_at),
        "expiresAt": maybe_iso(export.expires_at),
    }


def _exports_wire(found: Exports) -> Json:
    return {"exports": [export_wire(each) for each in found.exports]}


def _fetched_wire(found: Fetched) -> Json:
    return {"export": export_wire(found.export), "path": str(found.path)}


def _owner(services: Services, given: OfExport) -> str:
    return services.repositories.exports.find(given.export_id).organization_id


async def _ask(call: Call[OfOrganization]) -> Export:
    """Have a file written; ``export.show`` tells how far it is."""
    organization_id, services, now_ms = call.given.organization_id, call.services, call.now_ms
    services.accounts.fresh_organization(organization_id)
    if not services.delivery.running:
        raise Conflict("The service is not running, which writes files.")
    export_id, who = services.ids.new("exp"), call.caller.who
    by = call.audit(organization_id=organization_id)
    export = await services.repositories.exports.begin(
        export_id, organization_id, who, now_ms, by=by
    )
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
        raise Forbidden("The file has messages' texts: it is for its owners, not for the console.")
    export = call.services.repositories.exports.find(call.given.export_id)
    over = export.expires_at is not None and export.expires_at <= call.now_ms
    if export.state is not ExportState.READY or over:
        raise NotFound("There is no such file any more.")
    by = call.audit(subject=export.id, organization_id=export.organization_id, always=True)
    await call.note(by)
    return Fetched(export, file_of(call.services, export))


async def _drop(call: Call[OfExport]) -> Export:
    export_id, now_ms = call.given.export_id, call.now_ms
    export = call.services.repositories.exports.find(export_id)
    by = call.audit(subject=export_id, organization_id=export.organization_id)
    dropped = await call.services.repositories.exports.drop(export_id, now_ms, by=by)
    call.services.errands.exporting.ring()
    return dropped


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="export.ask",
        arguments=OfOrganization,
        result=Export,
        wire=export_wire,
        handler=_ask,
        roles=OWNERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="export.list",
        arguments=OfOrganization,
        result=Exports,
        wire=_exports_wire,
        handler=_list,
        roles=OWNERS,
        owner=owners.named,
    ),
    Operation(
        name="export.show",
        arguments=OfExport,
        result=Export,
        wire=export_wire,
        handler=_show,
        roles=OWNERS,
        owner=_owner,
    ),
    Operation(
        name="export.fetch",
        arguments=OfExport,
        result=Fetched,
        wire=_fetched_wire,
        handler=_fetch,
        roles=OWNERS,
        owner=_owner,
        reveals=True,
    ),
    Operation(
        name="export.delete",
        arguments=OfExport,
        result=Export,
        wire=export_wire,
        handler=_drop,
        roles=OWNERS,
        owner=_owner,
        changes=True,
    ),
)
