"""Organizations: made, found, suspended, changed and listed."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeAmount,
    MaybeFlag,
    MaybeName,
    MaybeRate,
    MaybeSearch,
    MaybeText,
    MaybeWhole,
    Name,
    OfOrganization,
    fault,
    maybe,
    one_of,
)
from risala.engine.kernel.cursors import MaybeIdPlace, limit_of, written
from risala.engine.kernel.operation import Call, Operations, Weight
from risala.engine.model.audit import AuditImage
from risala.engine.model.records.accounts import DELETED, OrganizationFilter
from risala.engine.model.records.asks import Steps
from risala.engine.model.records.ledger import PartsToday
from risala.engine.model.records.people import organizations
from risala.engine.model.records.people.organizations import (
    FoundOrganization,
    GeneralLimits,
    ListedOrganization,
    Organization,
    OrganizationEnd,
    OrganizationPage,
    OrganizationStory,
)
from risala.engine.model.records.record import fields_of, shallow
from risala.engine.rules.days import day_of
from risala.engine.rules.people.emails import masked_email
from risala.engine.rules.people.key_age import AGE_DAYS_MAX
from risala.engine.rules.roles import FINANCE, OPERATORS, OWNERS, READERS, STAFF, SUPPORT, VIEWERS
from risala.engine.services import Services
from risala.sms.typed import Purpose, typed


def _key_age_days(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= AGE_DAYS_MAX:
        raise fault("invalid_age", f"`{{name}}` must be 1 to {AGE_DAYS_MAX} days.")
    return value


KeyAgeDays = Annotated[
    int | None,
    PlainValidator(maybe(_key_age_days)),
    ArgumentKind(f"days, 1 to {AGE_DAYS_MAX}"),
]


class CreateOrganization(Arguments):
    """Make an organization."""

    name: Name
    price_per_segment: MaybeAmount = None
    """None: the general price."""


class FindOrganization(Arguments):
    """Find the one organization of this name, or the only one."""

    name: MaybeName = None
    """None: any."""


class SetOrganization(OfOrganization):
    """Settings not given stay; null removes the organization's own price, rate or limit."""

    name: MaybeName = None
    smart_encoding: MaybeFlag = None
    price_per_segment: MaybeAmount = None
    sms_per_s: MaybeRate = None
    low_balance: MaybeAmount = None
    spend_cap: MaybeAmount = None
    """The operator's limit, for a day."""
    owner_spend_cap: MaybeAmount = None
    time_zone: MaybeText = None
    lean_answers: MaybeFlag = None
    """Whether `sms/get` and similar calls answer with only seven fields and four states."""
    factor_required: MaybeFlag = None
    """Whether members need a second factor."""
    key_age_days: KeyAgeDays = None
    """The most days that a value of its API keys works."""
    version: MaybeWhole = None


OPERATIONS: Final = Operations()
_ONE: Final[dict[str, Any]] = {"owner": owners.named, "changes": Organization}


def _weigh_new(call: Call[CreateOrganization]) -> Weight | None:
    """An organization with a price of its own."""
    return None if call.arguments.price_per_segment is None else Weight(None)


@OPERATIONS(
    organizations.CREATE,
    four_eyes=_weigh_new,
    roles=OPERATORS,
    operators=FINANCE,
    changes=Organization,
)
async def _org_create(call: Call[CreateOrganization]) -> Organization:
    arguments, services = call.arguments, call.services
    return await services.accounts.create_organization(
        arguments.name,
        services.settings.service.currency,
        arguments.price_per_segment,
        by=call.audit(AuditImage.ORGANIZATION),
    )


def _weigh(call: Call[SetOrganization]) -> Weight | None:
    """The weight of another price: the price as it is now."""
    arguments = call.arguments
    if "price_per_segment" not in arguments.model_fields_set:
        return None
    now = call.services.accounts.fresh_organization(arguments.organization_id).price_per_segment
    return None if now == arguments.price_per_segment else Weight(None, {"price": now})


@OPERATIONS(organizations.FIND, roles=OPERATORS, operators=READERS)
async def _org_find(call: Call[FindOrganization]) -> FoundOrganization:
    name = call.arguments.name
    organization_ids = [
        each.id
        for each in call.services.repositories.organizations.all()
        if name in (None, typed(each.name, Purpose.NAME)) and each.status != DELETED
    ]
    return FoundOrganization(
        len(organization_ids), organization_ids[0] if len(organization_ids) == 1 else None
    )


async def _set_status(call: Call[OfOrganization], status: str) -> Organization:
    services, organization_id = call.services, call.arguments.organization_id
    by = call.audit(AuditImage.ORGANIZATION, organization_id)
    organization = await services.accounts.set_status(organization_id, status, by=by)
    await services.delivery.reload_organization(organization_id)
    services.people.organization_changed(organization_id)
    services.forget_organization(organization_id)
    return organization


@OPERATIONS(organizations.DELETION, roles=OWNERS, owner=owners.named, operators=READERS)
async def _org_deletion(call: Call[OfOrganization]) -> OrganizationEnd:
    return call.services.repositories.organizations.of_deletion(call.arguments.organization_id)


@OPERATIONS(organizations.SUSPEND, roles=OPERATORS, operators=SUPPORT, **_ONE)
async def _org_suspend(call: Call[OfOrganization]) -> Organization:
    return await _set_status(call, "suspended")


@OPERATIONS(organizations.RESUME, roles=OPERATORS, operators=SUPPORT, **_ONE)
async def _org_resume(call: Call[OfOrganization]) -> Organization:
    return await _set_status(call, "active")


@OPERATIONS(
    organizations.SET,
    four_eyes=_weigh,
    roles=OWNERS,
    operators=FINANCE,
    versioned_by="organization_id",
    reserved=dict.fromkeys(("price_per_segment", "sms_per_s", "spend_cap"), OPERATORS),
    **_ONE,
    fresh=True,
)
async def _org_set(call: Call[SetOrganization]) -> Organization:
    arguments = call.arguments
    changes = arguments.given_of(Organization)
    if "spend_cap" in arguments.model_fields_set:
        changes["operator_spend_cap"] = arguments.spend_cap
    changes = {
        name: value for name, value in changes.items() if value is not None or name in _MAY_BE_NONE
    }
    by = call.audit(AuditImage.ORGANIZATION, arguments.organization_id)
    return await call.services.accounts.change(arguments.organization_id, changes, by=by)


_MAY_BE_NONE: Final = frozenset(each.name for each in fields_of(Organization) if each.may_be_none)


# -- as operators list them


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
    listed = ListedOrganization(
        **{**shallow(organization), **shallow(facts)},
        parts_today=None if parts is None else parts.sent,
        parts_per_day=None if parts is None else parts.limit,
    )
    if call.caller.operator_role in STAFF:
        return listed
    return replace(listed, owners=tuple(map(masked_email, listed.owners)))


@OPERATIONS(organizations.LIST, roles=OPERATORS, operators=READERS, reads_all_organizations=True)
async def _org_list(call: Call[ListOrganizations]) -> OrganizationPage:
    arguments = call.arguments
    limit = limit_of(arguments.limit)
    page = call.services.repositories.organizations.page(
        OrganizationFilter(arguments.search, arguments.status),
        Steps(limit, arguments.before, arguments.after),
    )
    looked_to = None if page.looked_to is None else page.looked_to.created_at
    listed = tuple(_listed(call, each) for each in page.items)
    return OrganizationPage(listed, written(page.newer), written(page.older), looked_to)


@OPERATIONS(
    organizations.SHOW,
    roles=VIEWERS,
    operators=READERS,
    owner=owners.named,
    versioned_by="organization_id",
)
async def _org_show(call: Call[OfOrganization]) -> Organization:
    services = call.services
    organization = services.accounts.fresh_organization(call.arguments.organization_id)
    if call.caller.is_member:
        return organization
    general = GeneralLimits(
        services.intake.per_segment,
        services.settings.limits.sms_per_s,
        services.intake.low_balance,
    )
    return OrganizationStory(**shallow(_listed(call, organization)), general=general)
