"""How long an organization keeps things, as its owner chooses within the operator's bounds."""

from __future__ import annotations

from typing import Any, Final

from risala.config.model import RetentionSection
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import FieldFault, Invalid
from risala.engine.model.features import features
from risala.engine.model.records.upkeep import retention
from risala.engine.model.records.upkeep.retention import (
    OrganizationRetention,
    RetentionDays,
    RetentionOfKind,
    holding,
    offered,
)
from risala.engine.model.records.upkeep.stored import StoredOfKind
from risala.engine.operations import owners
from risala.engine.operations.arguments import MaybeWhole, OfOrganization
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OWNERS, READERS


class Choose(OfOrganization):
    """Null or not given: kept for the operator's own time."""

    texts_days: MaybeWhole = None
    events_days: MaybeWhole = None
    inbound_days: MaybeWhole = None
    version: MaybeWhole = None


async def _found(call: Call[Any], organization_id: str) -> OrganizationRetention:
    settings, have = call.services.settings, call.services
    days = have.repositories.retention.days_of(organization_id)
    mailings, lists, written = await have.repositories.storage.of_organization(organization_id)
    waiting, size = 0, 0
    for feature in features():
        if feature.waiting is not None:
            waiting, size = await feature.waiting()(have, organization_id)
    return OrganizationRetention(
        organization_id,
        _of_each_kind(days, settings.retention),
        (mailings, lists, StoredOfKind("uploads", waiting, 0, size), written),
        settings.limits.stored_bytes,
    )


def _of_each_kind(days: RetentionDays, section: RetentionSection) -> tuple[RetentionOfKind, ...]:
    return tuple(
        RetentionOfKind(
            name,
            holding(chosen, operators) or None,
            chosen,
            operators or None,
            offered(operators),
        )
        for name, chosen, operators in (
            ("texts", days.texts, section.texts_days),
            ("events", days.events, section.events_days),
            ("inbound", days.inbound, section.inbound_days),
        )
    )


async def _show(call: Call[OfOrganization]) -> OrganizationRetention:
    organization_id = call.given.organization_id
    call.services.accounts.fresh_organization(organization_id)
    return await _found(call, organization_id)


async def _set(call: Call[Choose]) -> OrganizationRetention:
    given, organization_id = call.given, call.given.organization_id
    call.services.accounts.fresh_organization(organization_id)
    days = RetentionDays(given.texts_days, given.events_days, given.inbound_days)
    faults = [
        FieldFault(
            f"{each.name}_days",
            "invalid_days",
            f"`{each.name}_days` is one of {', '.join(map(str, each.offered)) or 'none'}.",
        )
        for each in _of_each_kind(days, call.services.settings.retention)
        if each.chosen is not None and each.chosen not in each.offered
    ]
    if faults:
        raise Invalid.of(faults)
    by = call.audit(AuditImage.RETENTION_DAYS, organization_id)
    await call.services.repositories.retention.choose(by, organization_id, days)
    return await _found(call, organization_id)


_ONE: Final[dict[str, Any]] = {
    "roles": OWNERS,
    "owner": owners.named,
    "edits": "organization_id",
}
OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(retention.SHOW, OfOrganization, _show, operators=READERS, **_ONE),
    operation(retention.SET, Choose, _set, changes=RetentionDays, **_ONE),
)
