"""Organizations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import Organization
from risala.engine.model.records.accounts import DELETED, OrganizationChange
from risala.engine.model.wire import organization_wire
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeAmount,
    MaybeFlag,
    MaybeRate,
    MaybeText,
    MaybeWhole,
    OfOrganization,
    Text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS, OWNERS


class CreateOrganization(Arguments):
    """Make an organization."""

    name: Text
    price_per_segment: MaybeAmount = None
    """None: the general price."""


class FindOrganization(Arguments):
    """Find the one organization of this name, or the only one."""

    name: MaybeText = None
    """None: any."""


class SetOrganization(OfOrganization):
    """What is not given stays; null takes the organization's own price, rate or limit away."""

    name: MaybeText = None
    smart_encoding: MaybeFlag = None
    price_per_segment: MaybeAmount = None
    sms_per_s: MaybeRate = None
    low_balance: MaybeAmount = None
    spend_cap: MaybeAmount = None
    """The operator's, of a day."""
    owner_spend_cap: MaybeAmount = None
    time_zone: MaybeText = None
    lean_answers: MaybeFlag = None
    """Whether `sms/get` and its like answer seven fields and four states, and no more."""
    version: MaybeWhole = None


@dataclass(frozen=True, slots=True)
class FoundOrganization:
    """Which organization is meant: no more of it than that, so that no line is left."""

    count: int
    organization_id: str | None
    """Where there is one and no other."""


def _found_wire(found: FoundOrganization) -> Json:
    return {"count": found.count, "organizationId": found.organization_id}


async def _org_create(call: Call[CreateOrganization]) -> Organization:
    given, services = call.given, call.services
    return await services.accounts.create_organization(
        given.name,
        services.settings.service.currency,
        given.price_per_segment,
        by=call.audit(AuditImage.ORGANIZATION),
    )


async def _org_find(call: Call[FindOrganization]) -> FoundOrganization:
    name = call.given.name
    found = [
        each.id
        for each in call.services.accounts.list_organizations()
        if name in (None, each.name) and each.status != DELETED
    ]
    return FoundOrganization(len(found), found[0] if len(found) == 1 else None)


async def _org_suspend(call: Call[OfOrganization]) -> Organization:
    services, organization_id = call.services, call.given.organization_id
    by = call.audit(AuditImage.ORGANIZATION, organization_id)
    organization = await services.accounts.set_status(organization_id, "suspended", by=by)
    await services.delivery.reload_organization(organization_id)
    services.people.organization_changed(organization_id)
    services.credentials.organization_changed(organization_id)
    return organization


async def _org_resume(call: Call[OfOrganization]) -> Organization:
    services, organization_id = call.services, call.given.organization_id
    by = call.audit(AuditImage.ORGANIZATION, organization_id)
    organization = await services.accounts.set_status(organization_id, "active", by=by)
    await services.delivery.reload_organization(organization_id)
    services.people.organization_changed(organization_id)
    services.credentials.organization_changed(organization_id)
    return organization


async def _org_set(call: Call[SetOrganization]) -> Organization:
    given = call.given
    change = OrganizationChange(
        name=given.name,
        smart_encoding=given.smart_encoding,
        sets_price="price_per_segment" in given.model_fields_set,
        price_per_segment=given.price_per_segment,
        sets_rate="sms_per_s" in given.model_fields_set,
        sms_per_s=given.sms_per_s,
        sets_low_balance="low_balance" in given.model_fields_set,
        low_balance=given.low_balance,
        sets_operator_spend_cap="spend_cap" in given.model_fields_set,
        operator_spend_cap=given.spend_cap,
        sets_owner_spend_cap="owner_spend_cap" in given.model_fields_set,
        owner_spend_cap=given.owner_spend_cap,
        time_zone=given.time_zone,
        lean_answers=given.lean_answers,
    )
    by = call.audit(AuditImage.ORGANIZATION, given.organization_id)
    return await call.services.accounts.change(given.organization_id, change, by=by)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="org.create",
        arguments=CreateOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_org_create,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="org.find",
        arguments=FindOrganization,
        result=FoundOrganization,
        wire=_found_wire,
        handler=_org_find,
        roles=OPERATORS,
    ),
    Operation(
        name="org.suspend",
        arguments=OfOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_org_suspend,
        roles=OPERATORS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="org.resume",
        arguments=OfOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_org_resume,
        roles=OPERATORS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="org.set",
        arguments=SetOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_org_set,
        edits="organization_id",
        roles=OWNERS,
        owner=owners.named,
        reserved=dict.fromkeys(("price_per_segment", "sms_per_s", "spend_cap"), OPERATORS),
        changes=True,
    ),
)
