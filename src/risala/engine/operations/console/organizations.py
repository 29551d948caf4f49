"""Organizations as operators look for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.commands import Organization
from risala.engine.model.money import money
from risala.engine.model.records.accounts import DELETED, OrganizationFilter
from risala.engine.model.records.paging import Place, Steps
from risala.engine.model.times import maybe_iso
from risala.engine.model.wire import organization_wire
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeText,
    MaybeWhole,
    OfOrganization,
    maybe,
    one_of,
)
from risala.engine.operations.cursors import MaybeIdPlace, written
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS, VIEWERS

PAGE_MAX: Final = 200
PAGE_USUAL: Final = 50
_STATES: Final = ("active", "suspended", DELETED)


_status: Final = one_of("invalid_status", _STATES)


class ListOrganizations(Arguments):
    """A page of organizations, the newest first."""

    search: MaybeText = None
    """Part of the name or of the id, or an owner's whole address."""
    status: Annotated[
        str | None,
        PlainValidator(maybe(_status)),
        ArgumentKind("`active`, `suspended` or `deleted`"),
    ] = None
    before: MaybeIdPlace = None
    after: MaybeIdPlace = None
    limit: MaybeWhole = None


@dataclass(frozen=True, slots=True)
class OrganizationDetails:
    """An organization with what its own row does not tell."""

    organization: Organization
    last_send_at: int | None
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OrganizationPage:
    organizations: tuple[OrganizationDetails, ...]
    newer: Place | None
    older: Place | None
    looked_to: int | None
    """UTC epoch milliseconds: so far it was looked; None: as far as there are any."""


@dataclass(frozen=True, slots=True)
class General:
    """What holds for an organization that has nothing of its own."""

    per_segment: int
    sms_per_s: float | None
    low_balance: int


@dataclass(frozen=True, slots=True)
class OrganizationStory:
    """An organization, and for operators what they look for beside it."""

    organization: Organization
    told: OrganizationDetails | None
    """None: a member asks."""
    general: General | None


def _details_wire(found: OrganizationDetails) -> Json:
    return {
        **organization_wire(found.organization),
        "lastSendAt": maybe_iso(found.last_send_at),
        "owners": list(found.owners),
    }


def _page_wire(page: OrganizationPage) -> Json:
    return {
        "organizations": [_details_wire(each) for each in page.organizations],
        "newer": written(page.newer),
        "older": written(page.older),
        "lookedTo": maybe_iso(page.looked_to),
    }


def _story_wire(story: OrganizationStory) -> Json:
    if story.told is None or story.general is None:
        return organization_wire(story.organization)
    return {
        **_details_wire(story.told),
        "general": {
            "pricePerSegment": money(story.general.per_segment),
            "smsPerSecond": story.general.sms_per_s,
            "lowBalance": money(story.general.low_balance),
        },
    }


def _details_of(call: Call[Any], organization: Organization) -> OrganizationDetails:
    facts = call.services.repositories.organizations.facts(organization, call.now_ms)
    spent = replace(organization, spent_today=facts.spent_today)
    return OrganizationDetails(spent, facts.last_send_at, facts.owners)


async def _list(call: Call[ListOrganizations]) -> OrganizationPage:
    given = call.given
    limit = max(1, min(given.limit or PAGE_USUAL, PAGE_MAX))
    found = call.services.repositories.organizations.page(
        OrganizationFilter(given.search, given.status), Steps(limit, given.before, given.after)
    )
    looked_to = None if found.looked_to is None else found.looked_to.created_at
    told = tuple(_details_of(call, each) for each in found.found)
    return OrganizationPage(told, found.newer, found.older, looked_to)


async def _show(call: Call[OfOrganization]) -> OrganizationStory:
    services = call.services
    found = services.accounts.fresh_organization(call.given.organization_id)
    if call.caller.is_member:
        return OrganizationStory(found, None, None)
    intake = services.intake
    sms_per_s = services.settings.limits.sms_per_s
    general = General(intake.per_segment, sms_per_s, intake.low_balance)
    return OrganizationStory(found, _details_of(call, found), general)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="org.list",
        arguments=ListOrganizations,
        result=OrganizationPage,
        wire=_page_wire,
        handler=_list,
        roles=OPERATORS,
        crosses=True,
    ),
    Operation(
        name="org.show",
        arguments=OfOrganization,
        result=OrganizationStory,
        wire=_story_wire,
        handler=_show,
        edits="organization_id",
        roles=VIEWERS,
        owner=owners.named,
    ),
)
