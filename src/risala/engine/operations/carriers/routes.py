"""Where a message would go, which numbers nobody serves, receipts without a message, and what goes
over the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from risala.engine.delivery.worker.traffic import TrafficLine
from risala.engine.model.errors import Invalid, SenderNotApproved
from risala.engine.model.records.carriers import UnmatchedReceipt
from risala.engine.model.times import iso
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeText,
    MaybeWhole,
    NoArguments,
    Number,
    Text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS

RECEIPTS_MAX: Final = 500
"""Receipts of one page at most."""
RECEIPTS_USUAL: Final = 50
TRAFFIC_MAX: Final = 1000
"""Lines of traffic of one answer at most."""
TRAFFIC_USUAL: Final = 200


class TestRoute(Arguments):
    """Asks where a message to a number would go now."""

    to: Number
    segments: MaybeWhole = None
    """Parts of the message; 1 unless given."""
    organization_id: MaybeText = None
    sender: MaybeText = None
    """The ``from`` that the organization would give."""


class LookAtTraffic(Arguments):
    """What went over a carrier's wire in the last minutes."""

    carrier: Text
    after: MaybeWhole = None
    """The number of a line: only later ones."""
    limit: MaybeWhole = None


class ListReceipts(Arguments):
    """A page of receipts that matched no message."""

    carrier: MaybeText = None
    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The number of a receipt: only older ones are listed."""


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """Where a message would go, and why."""

    told: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnservedNumbers:
    """Beginnings of numbers that nobody serves now."""

    told: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Lines of traffic, the oldest first."""

    lines: tuple[TrafficLine, ...]


@dataclass(frozen=True, slots=True)
class ReceiptsPage:
    """Receipts that matched no message, the newest first."""

    receipts: tuple[UnmatchedReceipt, ...]
    next: int | None
    """The ``before`` of the next page; None: this is the last one."""


def _route_wire(found: RouteAnswer) -> Json:
    return dict(found.told)


def _unserved_wire(found: UnservedNumbers) -> Json:
    return dict(found.told)


def _traffic_wire(found: Traffic) -> Json:
    return {
        "lines": [
            {
                "seq": line.seq,
                "at": iso(line.at_ms),
                "sent": line.sent,
                "text": line.text,
                "left_out": line.left_out,
            }
            for line in found.lines
        ]
    }


def _receipts_wire(page: ReceiptsPage) -> Json:
    return {
        "receipts": [
            {
                "seq": each.seq,
                "at": iso(each.received_at),
                "carrier": each.carrier,
                "id": each.carrier_id,
                "state": each.state,
                "says": each.raw,
                "recipient": each.recipient,
                "why": each.why,
            }
            for each in page.receipts
        ],
        "next": page.next,
    }


async def _test_route(call: Call[TestRoute]) -> RouteAnswer:
    given, services = call.given, call.services
    segments = given.segments or 1
    if not 1 <= segments <= SEGMENTS_MAX:
        raise Invalid("segments", "invalid_number", f"`segments` is from 1 to {SEGMENTS_MAX}.")
    told = services.delivery.route(given.to, segments)
    return RouteAnswer({**told, **_customer(call)})


SEGMENTS_MAX: Final = 255
"""As many parts as a message can have (3GPP TS 23.040 §9.2.3.24.1)."""


def _customer(call: Call[TestRoute]) -> Json:
    """What the organization, and the sender that it asks for, make of it."""
    given, services = call.given, call.services
    if given.organization_id is None:
        if given.sender is not None:
            raise Invalid("organization_id", "missing", "A sender is an organization's: give it.")
        return {"organization": None, "sender": None}
    organization = services.accounts.organization(given.organization_id)
    account = {
        "id": organization.id,
        "name": organization.name,
        "reason": {
            "code": "sends" if organization.status == "active" else str(organization.status),
            "values": {},
        },
    }
    try:
        name, notice = services.intake.drafts.sender_of(organization.id, given.sender)
    except SenderNotApproved:
        reason = {"code": "not_approved", "values": {"asked": given.sender}}
        return {"organization": account, "sender": {"name": None, "reason": reason}}
    code = "approved" if notice is None else "awaits_approval"
    reason = {"code": code, "values": {"asked": given.sender}}
    return {"organization": account, "sender": {"name": name, "reason": reason}}


async def _unserved(call: Call[NoArguments]) -> UnservedNumbers:
    return UnservedNumbers(call.services.delivery.unserved())


async def _traffic(call: Call[LookAtTraffic]) -> Traffic:
    given = call.given
    count = max(1, min(given.limit or TRAFFIC_USUAL, TRAFFIC_MAX))
    found = call.services.delivery.traffic(given.carrier, given.after or 0, count)
    return Traffic(tuple(found))


async def _receipts(call: Call[ListReceipts]) -> ReceiptsPage:
    given = call.given
    limit = max(1, min(given.limit or RECEIPTS_USUAL, RECEIPTS_MAX))
    found = call.services.repositories.carriers.unmatched(
        limit + 1, carrier=given.carrier, before=given.before
    )
    shown = tuple(found[:limit])
    return ReceiptsPage(shown, shown[-1].seq if len(found) > limit else None)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="route.test",
        arguments=TestRoute,
        result=RouteAnswer,
        wire=_route_wire,
        handler=_test_route,
        roles=OPERATORS,
    ),
    Operation(
        name="route.unserved",
        arguments=NoArguments,
        result=UnservedNumbers,
        wire=_unserved_wire,
        handler=_unserved,
        roles=OPERATORS,
    ),
    Operation(
        name="carriers.traffic",
        arguments=LookAtTraffic,
        result=Traffic,
        wire=_traffic_wire,
        handler=_traffic,
        roles=OPERATORS,
    ),
    Operation(
        name="receipts.unmatched",
        arguments=ListReceipts,
        result=ReceiptsPage,
        wire=_receipts_wire,
        handler=_receipts,
        roles=OPERATORS,
    ),
)
