"""Messages that come in: where they go, and who has opted out."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.model.audit import AuditImage, masked
from risala.engine.model.errors import NotFound
from risala.engine.model.records.inbound import InboundRoute, Received, ReceivedFilter
from risala.engine.model.records.paging import Place, Steps
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeFlag,
    MaybeMoment,
    MaybeText,
    MaybeWhole,
    NoArguments,
    Number,
    OfMaybeOrganization,
    OfOrganization,
    Text,
    fault,
    text,
)
from risala.engine.operations.cursors import MaybeIdPlace, MaybeTimedPlace, written
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.keywords import folded
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, VIEWERS
from risala.sms.address import COUNTRY_CODE, with_country

PAGE_MAX: Final = 200
PAGE_USUAL: Final = 50
_HOME: Final = f"+{COUNTRY_CODE}"
"""The country code, which people leave out when they type a number."""
_NUMBER: Final = re.compile(r"\+?[0-9]{3,15}", re.ASCII)
_WORD: Final = re.compile(r"\w{1,20}")


def _our_number(value: object) -> str:
    """A number of ours that a route is for; empty: any number."""
    found = "" if value is None else with_country(text(value), _HOME)
    if found and not _NUMBER.fullmatch(found):
        raise fault("invalid_number", "`{name}` is one of ours: digits, with or without +.")
    return found


def _keyword(value: object) -> str:
    """The first word of messages that a route is for; empty: any word."""
    if value is None:
        return ""
    found = folded(text(value))
    if not _WORD.fullmatch(found):
        raise fault("invalid_keyword", "`{name}` is one word of 1 to 20 letters.")
    return found


class ListReceived(OfMaybeOrganization):
    """A page of inbound messages, the latest first, of one organization or of all."""

    sender: MaybeText = Field(default=None, alias="from")
    """The number that they came from."""
    to: MaybeText = None
    """The number of ours that they came to."""
    since: MaybeMoment = None
    until: MaybeMoment = None
    before: MaybeIdPlace = None
    after: MaybeIdPlace = None
    limit: MaybeWhole = None


class AddRoute(OfOrganization):
    """Route inbound messages to an organization: those to a number, those that begin with a word,
    or with neither given, all that no other route takes."""

    number: Annotated[str, PlainValidator(_our_number), ArgumentKind("number of ours")] = ""
    keyword: Annotated[str, PlainValidator(_keyword), ArgumentKind("one word")] = ""


class OfRoute(Arguments):
    """Names one route of inbound messages."""

    route_id: Text


class SetOptOuts(OfOrganization):
    """Set whether an organization's opt-outs are heeded; None: only show a page of them."""

    heeds: MaybeFlag = None
    number: MaybeText = None
    """Only whether this one has opted out."""
    before: MaybeTimedPlace = None
    after: MaybeTimedPlace = None
    limit: MaybeWhole = None


class OfRecipient(OfOrganization):
    """Names a number that an organization writes to."""

    number: Text


class NoteOptOut(OfOrganization):
    """Let an organization write no more to a number that asked for it by another way."""

    number: Number


@dataclass(frozen=True, slots=True)
class ReceivedMessages:
    """Inbound messages, the newest first, and where the next pages begin."""

    messages: tuple[Received, ...]
    newer: Place | None
    older: Place | None
    looked_to: int | None
    """UTC epoch milliseconds: so far it was looked; None: as far as there are any."""


@dataclass(frozen=True, slots=True)
class Routes:
    """All routes of inbound messages, in the order in which they are tried."""

    routes: tuple[InboundRoute, ...]


@dataclass(frozen=True, slots=True)
class OptedOut:
    """A number that wants no more messages, since ``at`` (UTC epoch milliseconds)."""

    number: str
    carrier: str | None
    """Through which it said so; None: somebody noted it."""
    at: int
    who: str | None
    keyword: str | None


@dataclass(frozen=True, slots=True)
class OptOutList:
    """The numbers that have opted out of an organization's messages, and whether that is heeded."""

    organization_id: str
    heeds: bool
    numbers: tuple[OptedOut, ...]
    newer: Place | None
    older: Place | None


@dataclass(frozen=True, slots=True)
class Recipient:
    """A number whose opt-out was noted or taken back."""

    organization_id: str
    number: str


def _route_wire(route: InboundRoute) -> Json:
    return {
        "id": route.id,
        "organizationId": route.organization_id,
        "number": route.recipient or None,
        "keyword": route.keyword or None,
        "createdAt": iso(route.created_at),
    }


def _routes_wire(found: Routes) -> Json:
    return {"routes": [_route_wire(each) for each in found.routes]}


def _received_wire(found: ReceivedMessages) -> Json:
    return {
        "messages": [
            {
                "id": message.id,
                "organizationId": message.organization_id,
                "carrier": message.carrier,
                "from": message.sender,
                "to": message.recipient,
                "text": message.body,
                "receivedAt": iso(message.received_at),
            }
            for message in found.messages
        ],
        "newer": written(found.newer),
        "older": written(found.older),
        "lookedTo": maybe_iso(found.looked_to),
    }


def _opt_outs_wire(found: OptOutList) -> Json:
    return {
        "organizationId": found.organization_id,
        "heeds": found.heeds,
        "numbers": [{**asdict(each), "at": iso(each.at)} for each in found.numbers],
        "newer": written(found.newer),
        "older": written(found.older),
    }


def _recipient_wire(done: Recipient) -> Json:
    return {"organizationId": done.organization_id, "number": done.number}


async def _list(call: Call[ListReceived]) -> ReceivedMessages:
    given = call.given
    sender = None if given.sender is None else with_country(given.sender, _HOME)
    steps = Steps(_limit(given.limit), before=given.before, after=given.after)
    to = None if given.to is None else with_country(given.to, _HOME)
    wanted = ReceivedFilter(given.organization_id, sender, to, given.since, given.until)
    found = call.services.repositories.inbound.received(wanted, steps)
    if found.found:
        told = {"messages": len(found.found)}
        by = call.audit(organization_id=given.organization_id, said=told, always=True)
        await call.note_look(by)
    shown = found.found
    if call.hides_texts:
        shown = tuple(replace(each, body=None) for each in shown)
    reached = found.looked_to
    return ReceivedMessages(
        shown, found.newer, found.older, None if reached is None else reached.received_at
    )


def _limit(asked: int | None) -> int:
    return max(1, min(asked or PAGE_USUAL, PAGE_MAX))


async def _routes(call: Call[NoArguments]) -> Routes:
    return Routes(tuple(call.services.repositories.inbound.routes()))


async def _route(call: Call[AddRoute]) -> InboundRoute:
    given, services = call.given, call.services
    services.accounts.fresh_organization(given.organization_id)
    route_id = services.ids.new("inr")
    new = InboundRoute(route_id, given.organization_id, given.number, given.keyword, call.now_ms)
    by = call.audit(AuditImage.ROUTE, route_id)
    return await services.repositories.inbound.add_route(new, by=by)


async def _unroute(call: Call[OfRoute]) -> InboundRoute:
    route_id = call.given.route_id
    by = call.audit(AuditImage.ROUTE, route_id)
    return await call.services.repositories.inbound.remove_route(route_id, by=by)


async def _opt_outs(call: Call[SetOptOuts]) -> OptOutList:
    """Who has opted out of an organization's messages, after changing whether that is heeded."""
    organization_id, heeds = call.given.organization_id, call.given.heeds
    services, inbound = call.services, call.services.repositories.inbound
    services.accounts.fresh_organization(organization_id)
    if heeds is not None:
        by = call.audit(AuditImage.OPT_OUT_POLICY, organization_id)
        await inbound.set_policy(organization_id, call.now_ms, heeds=heeds, by=by)
        services.intake.opt_outs.look_again()
    given = call.given
    number = None if given.number is None else with_country(given.number, _HOME)
    steps = Steps(_limit(given.limit), before=given.before, after=given.after)
    found = inbound.opted_out(organization_id, number, steps)
    return OptOutList(
        organization_id,
        organization_id in inbound.policies(),
        tuple(
            OptedOut(each.recipient, each.carrier or None, each.at, each.who, each.keyword)
            for each in found.found
        ),
        found.newer,
        found.older,
    )


async def _opt_out(call: Call[NoteOptOut]) -> Recipient:
    organization_id, number = call.given.organization_id, call.given.number
    call.services.accounts.fresh_organization(organization_id)
    who, now_ms = call.caller.who, call.now_ms
    by = call.audit(subject=masked(number), organization_id=organization_id)
    await call.services.repositories.inbound.opt_out(organization_id, number, who, now_ms, by=by)
    return Recipient(organization_id, number)


async def _opt_in(call: Call[OfRecipient]) -> Recipient:
    organization_id = call.given.organization_id
    number = with_country(call.given.number, _HOME)
    by = call.audit(subject=masked(number), organization_id=organization_id)
    if not await call.services.repositories.inbound.opt_in(organization_id, number, by=by):
        raise NotFound(f"{number} has not opted out of that organization's messages.")
    return Recipient(organization_id, number)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="inbound.list",
        arguments=ListReceived,
        result=ReceivedMessages,
        wire=_received_wire,
        handler=_list,
        roles=VIEWERS,
        owner=owners.named,
        reveals=True,
    ),
    Operation(
        name="inbound.routes",
        arguments=NoArguments,
        result=Routes,
        wire=_routes_wire,
        handler=_routes,
        roles=OPERATORS,
        crosses=True,
    ),
    Operation(
        name="inbound.route",
        arguments=AddRoute,
        result=InboundRoute,
        wire=_route_wire,
        handler=_route,
        roles=OPERATORS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="inbound.unroute",
        arguments=OfRoute,
        result=InboundRoute,
        wire=_route_wire,
        handler=_unroute,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="inbound.opt_outs",
        arguments=SetOptOuts,
        result=OptOutList,
        wire=_opt_outs_wire,
        handler=_opt_outs,
        roles=VIEWERS,
        owner=owners.named,
        reserved={"heeds": DEVELOPERS},
        changes=True,
    ),
    Operation(
        name="inbound.opt_out",
        arguments=NoteOptOut,
        result=Recipient,
        wire=_recipient_wire,
        handler=_opt_out,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="inbound.opt_in",
        arguments=OfRecipient,
        result=Recipient,
        wire=_recipient_wire,
        handler=_opt_in,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=True,
    ),
)
