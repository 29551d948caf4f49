"""The route of a message, numbers that no carrier serves, receipts without a message, and a
carrier's traffic."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from risala.engine.kernel.arguments import (
    Arguments,
    MaybeText,
    MaybeWhole,
    NoArguments,
    Number,
    Text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Invalid, SenderNotApproved
from risala.engine.model.records.carriers import routes, stored
from risala.engine.model.records.carriers.routes import (
    RouteAnswer,
    RouteOrganization,
    RouteSender,
    Traffic,
    UnservedNumbers,
)
from risala.engine.model.records.carriers.state import CarrierCondition
from risala.engine.model.records.carriers.stored import UnmatchedReceipts
from risala.engine.rules.roles import OPERATORS, READERS, SUPPORT

RECEIPTS_MAX: Final = 500
"""The most receipts on one page."""
RECEIPTS_USUAL: Final = 50
TRAFFIC_MAX: Final = 1000
"""The most lines of traffic in one answer."""
TRAFFIC_USUAL: Final = 200


class TestRoute(Arguments):
    """Ask where a message to a number would go now."""

    to: Number
    segments: MaybeWhole = None
    """Parts of the message; 1 by default."""
    organization_id: MaybeText = None
    sender: MaybeText = None
    """The organization's ``from``."""


class LookAtTraffic(Arguments):
    """A carrier's traffic of the last minutes."""

    carrier: Text
    after: MaybeWhole = None
    """The number of a line: only later ones are listed."""
    limit: MaybeWhole = None


class ListReceipts(Arguments):
    """A page of receipts that matched no message."""

    carrier: MaybeText = None
    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The number of a receipt: only older ones are listed."""


OPERATIONS: Final = Operations()


@OPERATIONS(routes.TEST, roles=OPERATORS, operators=READERS)
async def _test_route(call: Call[TestRoute]) -> RouteAnswer:
    given, services = call.given, call.services
    segments = given.segments or 1
    if not 1 <= segments <= SEGMENTS_MAX:
        raise Invalid("segments", "invalid_number", f"`segments` is from 1 to {SEGMENTS_MAX}.")
    organization, sender = _customer(call)
    found = services.delivery.route(given.to, segments)
    return replace(found, organization=organization, sender=sender)


SEGMENTS_MAX: Final = 255
"""The most parts that a message can have (3GPP TS 23.040 §9.2.3.24.1)."""


def _customer(call: Call[TestRoute]) -> tuple[RouteOrganization | None, RouteSender | None]:
    """The effect of the organization and of its requested sender."""
    given, services = call.given, call.services
    drafts, asked = services.intake.drafts, {"asked": given.sender}
    numeric = drafts.numeric_of(given.to)
    instead = None if numeric is None else RouteSender(numeric, CarrierCondition("numeric", asked))
    if given.organization_id is None:
        if given.sender is not None:
            raise Invalid("organization_id", "missing", "Give the sender's organization too.")
        return None, instead
    organization = services.accounts.organization(given.organization_id)
    code = "sends" if organization.status == "active" else str(organization.status)
    if code == "sends" and not drafts.reaches(organization, given.to):
        code = "country_not_open"
    account = RouteOrganization(organization.id, organization.name, CarrierCondition(code, {}))
    try:
        name, notice = drafts.sender_of(organization.id, given.sender)
    except SenderNotApproved:
        return account, RouteSender(None, CarrierCondition("not_approved", asked))
    code = "approved" if notice is None else "awaits_approval"
    return account, instead or RouteSender(name, CarrierCondition(code, asked))


@OPERATIONS(routes.UNSERVED, roles=OPERATORS, operators=READERS)
async def _unserved(call: Call[NoArguments]) -> UnservedNumbers:
    return call.services.delivery.unserved(call.services.settings.plan)


@OPERATIONS(routes.TRAFFIC, roles=OPERATORS, operators=SUPPORT)
async def _traffic(call: Call[LookAtTraffic]) -> Traffic:
    given = call.given
    count = max(1, min(given.limit or TRAFFIC_USUAL, TRAFFIC_MAX))
    found = call.services.delivery.traffic(given.carrier, given.after or 0, count)
    return Traffic(tuple(found))


@OPERATIONS(stored.UNMATCHED, roles=OPERATORS, operators=SUPPORT)
async def _receipts(call: Call[ListReceipts]) -> UnmatchedReceipts:
    given = call.given
    limit = max(1, min(given.limit or RECEIPTS_USUAL, RECEIPTS_MAX))
    found = call.services.repositories.carriers.unmatched(
        limit + 1, carrier=given.carrier, before=given.before
    )
    shown = tuple(found[:limit])
    return UnmatchedReceipts(shown, shown[-1].seq if len(found) > limit else None)
