"""Inbound messages: their routes, and opt-outs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator, ValidationInfo

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeContained,
    MaybeDigits,
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
    maybe,
    maybe_at_home,
    text,
    words,
)
from risala.engine.kernel.cursors import (
    MaybeIdPlace,
    MaybeTimedPlace,
    few_numbers,
    part_of,
    steps_of,
    written,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage, masked
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.records import inbound
from risala.engine.model.records.inbound import (
    InboundRoute,
    OptOutFilter,
    OptOutList,
    ReceivedFilter,
    ReceivedMessages,
    Recipient,
    Routes,
)
from risala.engine.rules.keywords import folded
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, READERS, SUPPORT, VIEWERS
from risala.sms.numbering.plan import DEFAULT, NumberingPlan

_NUMBER: Final = re.compile(r"\+?[0-9]{3,15}", re.ASCII)
_WORD: Final = re.compile(r"\w{1,20}")
NOTE_MAX: Final = 200
"""Characters of a note."""


def _our_number(value: object, info: ValidationInfo) -> str:
    """A number of ours that a route is for."""
    number = at_home(text(value), info.context or DEFAULT)
    if not _NUMBER.fullmatch(number):
        raise fault("invalid_number", "`{name}` is one of ours: digits, with or without +.")
    return number


def at_home(typed: str, plan: NumberingPlan) -> str:
    """A number as people write it in the form of received messages; a service's number or a name
    stays as it is."""
    try:
        return plan.read(typed)
    except ValueError:
        return plan.with_country(typed, plan.prefixes[0])


def _keyword(value: object) -> str:
    """The first word of messages for a route."""
    keyword = folded(text(value))
    if not _WORD.fullmatch(keyword):
        raise fault("invalid_keyword", "`{name}` is one word of 1 to 20 letters.")
    return keyword


class ListReceived(OfMaybeOrganization):
    """A page of inbound messages of one organization or of all, the newest first."""

    sender: MaybeText = Field(default=None, alias="from")
    """The number that sent them."""
    digits: MaybeDigits = None
    """The digits of the number that sent them."""
    contains: MaybeContained = None
    """Words of the text, or of a sender that is a name; for callers who see no texts only that."""
    to: MaybeText = None
    """Our number that received them."""
    since: MaybeMoment = None
    until: MaybeMoment = None
    before: MaybeIdPlace = None
    after: MaybeIdPlace = None
    limit: MaybeWhole = None


class AddRoute(OfOrganization):
    """Route inbound messages to an organization: those to a number, or those that begin with a
    word; if neither is given, all that no other route takes."""

    number: Annotated[
        str | None, PlainValidator(maybe_at_home(_our_number)), ArgumentKind("number of ours")
    ] = None
    keyword: Annotated[str | None, PlainValidator(maybe(_keyword)), ArgumentKind("one word")] = None


class OfRoute(Arguments):
    """Names one route of inbound messages."""

    route_id: Text


class SetOptOuts(OfOrganization):
    """Set whether an organization's opt-outs apply; None: only show a page of them."""

    heeds: MaybeFlag = None
    number: MaybeText = None
    """Show only whether this number has opted out."""
    digits: MaybeDigits = None
    """Show only numbers with these."""
    contains: MaybeContained = None
    """Show only those with this in the keyword, or in who noted it."""
    before: MaybeTimedPlace = None
    after: MaybeTimedPlace = None
    limit: MaybeWhole = None


class OfRecipient(OfOrganization):
    """Names a number that an organization writes to."""

    number: Text
    note: Annotated[
        str | None, PlainValidator(maybe(words(NOTE_MAX))), ArgumentKind("text on one line")
    ] = None
    """How its owner asked to get messages again."""


class NoteOptOut(OfOrganization):
    """Opt a number out of an organization's messages, after its owner asked for that elsewhere."""

    number: Number


OPERATIONS: Final = Operations()
_RECIPIENT: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": owners.named,
    "changes": Recipient,
}


@OPERATIONS(inbound.LIST, roles=VIEWERS, operators=SUPPORT, owner=owners.named, shows_texts=True)
async def _list(call: Call[ListReceived]) -> ReceivedMessages:
    arguments = call.arguments
    sender = (
        None if arguments.sender is None else at_home(arguments.sender, call.services.settings.plan)
    )
    steps = steps_of(arguments.limit, arguments.before, arguments.after)
    to = None if arguments.to is None else at_home(arguments.to, call.services.settings.plan)
    if arguments.digits is not None and arguments.organization_id is None:
        raise Invalid("digits", "needs_organization", "Digits are looked for in one organization.")
    received_filter = ReceivedFilter(
        arguments.organization_id,
        sender,
        to,
        arguments.since,
        arguments.until,
        part_of(call.services.settings.plan, arguments.digits),
        arguments.contains,
        searches_texts=not call.hides_texts,
    )
    stored = call.services.repositories.inbound
    with few_numbers():
        if received_filter.part is None:
            page = stored.received(received_filter, steps)
        else:
            page = await stored.received_by_part(received_filter, steps)
    if page.items:
        details = {"messages": len(page.items)}
        by = call.audit(organization_id=arguments.organization_id, details=details, always=True)
        await call.note_look(by)
    shown = page.items
    if call.hides_texts:
        shown = tuple(replace(each, body=None) for each in shown)
    reached = None if page.looked_to is None else page.looked_to.received_at
    return ReceivedMessages(shown, written(page.newer), written(page.older), reached)


@OPERATIONS(inbound.ROUTES, roles=OPERATORS, operators=READERS, reads_all_organizations=True)
async def _routes(call: Call[NoArguments]) -> Routes:
    return Routes(tuple(call.services.repositories.inbound.routes()))


@OPERATIONS(inbound.ROUTE, roles=OPERATORS, owner=owners.named, changes=InboundRoute)
async def _route(call: Call[AddRoute]) -> InboundRoute:
    arguments, services = call.arguments, call.services
    services.accounts.fresh_organization(arguments.organization_id)
    route_id = services.ids.new("inr")
    new = InboundRoute(
        route_id, arguments.organization_id, arguments.number, arguments.keyword, call.now_ms
    )
    ways = services.settings.plan.ways_to_write(arguments.number or "")
    by = call.audit(AuditImage.ROUTE, route_id)
    return await services.repositories.inbound.add_route(by, new, ways)


@OPERATIONS(inbound.UNROUTE, roles=OPERATORS, changes=InboundRoute)
async def _unroute(call: Call[OfRoute]) -> InboundRoute:
    route_id = call.arguments.route_id
    by = call.audit(AuditImage.ROUTE, route_id)
    return await call.services.repositories.inbound.remove_route(by, route_id)


@OPERATIONS(
    inbound.OPT_OUTS,
    roles=VIEWERS,
    operators=SUPPORT,
    owner=owners.named,
    reserved={"heeds": DEVELOPERS},
    changes=OptOutList,
)
async def _opt_outs(call: Call[SetOptOuts]) -> OptOutList:
    """The numbers that opted out of an organization's messages, after changing whether opt-outs
    apply."""
    arguments, services = call.arguments, call.services
    organization_id, stored = arguments.organization_id, services.repositories.inbound
    services.accounts.fresh_organization(organization_id)
    if arguments.heeds is not None:
        by = call.audit(AuditImage.OPT_OUT_POLICY, organization_id)
        await stored.set_policy(by, organization_id, call.now_ms, heeds=arguments.heeds)
        services.intake.opt_outs.look_again()
    number = (
        None if arguments.number is None else at_home(arguments.number, call.services.settings.plan)
    )
    steps = steps_of(arguments.limit, arguments.before, arguments.after)
    part = part_of(services.settings.plan, arguments.digits)
    opt_out_filter = OptOutFilter(number, part, arguments.contains)
    with few_numbers():
        if part is None:
            page = stored.opted_out(organization_id, opt_out_filter, steps)
        else:
            page = await stored.opted_out_by_part(organization_id, opt_out_filter, steps)
    heeds = organization_id in stored.policies()
    newer, older = written(page.newer), written(page.older)
    return OptOutList(organization_id, heeds, page.items, newer, older)


@OPERATIONS(inbound.OPT_OUT, operators=SUPPORT, **_RECIPIENT)
async def _opt_out(call: Call[NoteOptOut]) -> Recipient:
    organization_id, number = call.arguments.organization_id, call.arguments.number
    call.services.accounts.fresh_organization(organization_id)
    who, now_ms = call.caller.who, call.now_ms
    by = call.audit(subject=masked(number), organization_id=organization_id)
    await call.services.repositories.inbound.opt_out(by, organization_id, number, who, now_ms)
    return Recipient(organization_id, number)


@OPERATIONS(inbound.OPT_IN, operators=SUPPORT, **_RECIPIENT)
async def _opt_in(call: Call[OfRecipient]) -> Recipient:
    organization_id, note = call.arguments.organization_id, call.arguments.note
    number = at_home(call.arguments.number, call.services.settings.plan)
    details = {} if note is None else {"note": note}
    by = call.audit(subject=masked(number), organization_id=organization_id, details=details)
    if not await call.services.repositories.inbound.opt_in(by, organization_id, number, note):
        raise NotFound(f"{number} has not opted out of that organization's messages.")
    return Recipient(organization_id, number)
