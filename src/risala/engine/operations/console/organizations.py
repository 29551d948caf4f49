"""Operators' list of organizations."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeSearch,
    MaybeWhole,
    OfOrganization,
    maybe,
    one_of,
)
from risala.engine.kernel.cursors import MaybeIdPlace, limit_of, written
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.accounts import DELETED, OrganizationFilter
from risala.engine.model.records.paging import Steps
from risala.engine.model.records.payer import PartsToday
from risala.engine.model.records.people import organizations
from risala.engine.model.records.people.organizations import (
    GeneralLimits,
    ListedOrganization,
    Organization,
    OrganizationPage,
    OrganizationStory,
)
from risala.engine.model.records.record import shallow
from risala.engine.rules.days import day_of
from risala.engine.rules.people.emails import masked_email
from risala.engine.rules.roles import OPERATORS, READERS, STAFF, VIEWERS
from risala.engine.services import Services

_STATES: Final = ("active", "suspended", DELETED)


_status: Final = one_of("invalid_status", _STATES)


class ListOrganizations(Arguments):
    """A page of organizations, the newest first."""

    search: MaybeSearch = None
    """Part of the name or of the id, or an owner's whole address."""
    status: Annotated[
        str | None,
        PlainValidator(maybe(_status)),
        ArgumentKind("`active`, `suspended` or `deleted`"),
    ] = None
    before: MaybeIdPlace = None
    after: MaybeIdPlace = None
    limit: MaybeWhole = None


def parts_today(services: Services, organization: Organization, now_ms: int) -> PartsToday | None:
    """What an organization has sent today, of what it may; None: customers pay instead."""
    payer = services.intake.payer
    if not payer.is_self:
        return None
    today = day_of(organization.time_zone, now_ms)
    sent = services.repositories.organizations.parts_of(organization.id, today)
    return PartsToday(sent, payer.parts_per_day)


def _listed(call: Call[Any], organization: Organization) -> ListedOrganization:
    services = call.services
    facts = services.repositories.organizations.facts(organization, call.now_ms)
    parts = parts_today(services, organization, call.now_ms)
    found = ListedOrganization(
        **{**shallow(organization), **shallow(facts)},
        parts_today=None if parts is None else parts.sent,
        parts_per_day=None if parts is None else parts.limit,
    )
    if call.caller.operator_role in STAFF:
        return found
    return replace(found, owners=tuple(map(masked_email, found.owners)))


OPERATIONS: Final = Operations()


@OPERATIONS(organizations.LIST, roles=OPERATORS, operators=READERS, reads_all_organizations=True)
async def _list(call: Call[ListOrganizations]) -> OrganizationPage:
    given = call.given
    limit = limit_of(given.limit)
    found = call.services.repositories.organizations.page(
        OrganizationFilter(given.search, given.status), Steps(limit, given.before, given.after)
    )
    looked_to = None if found.looked_to is None else found.looked_to.created_at
    listed = tuple(_listed(call, each) for each in found.found)
    return OrganizationPage(listed, written(found.newer), written(found.older), looked_to)


@OPERATIONS(
    organizations.SHOW,
    roles=VIEWERS,
    operators=READERS,
    owner=owners.named,
    versioned_by="organization_id",
)
async def _show(call: Call[OfOrganization]) -> Organization:
    services = call.services
    found = services.accounts.fresh_organization(call.given.organization_id)
    if call.caller.is_member:
        return found
    general = GeneralLimits(
        services.intake.per_segment,
        services.settings.limits.sms_per_s,
        services.intake.low_balance,
    )
    return OrganizationStory(**shallow(_listed(call, found)), general=general)
