"""Messages that come in: where they go, and who has opted out."""

from __future__ import annotations

import re
from typing import Final

from risala.engine.journal.inbound import inbound, opt_outs
from risala.engine.journal.inbound.inbound import Received, Route
from risala.engine.model.clock import iso
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.rules.keywords import folded
from risala.engine.services import Services
from risala.sms.address import COUNTRY_CODE, with_country

PAGE_MAX: Final = 200
OPTED_OUT_MAX: Final = 1000
_HOME: Final = f"+{COUNTRY_CODE}"
"""What people leave out when they type a number."""
_NUMBER: Final = re.compile(r"\+?[0-9]{3,15}", re.ASCII)
_WORD: Final = re.compile(r"\w{1,20}")


def _route_wire(route: Route) -> Json:
    return {
        "id": route.id,
        "organizationId": route.organization_id,
        "number": route.recipient or None,
        "keyword": route.keyword or None,
        "createdAt": iso(route.created_at),
    }


def _received_wire(message: Received) -> Json:
    return {
        "id": message.id,
        "organizationId": message.organization_id,
        "carrier": message.carrier,
        "from": message.sender,
        "to": message.recipient,
        "text": message.body,
        "receivedAt": iso(message.received_at),
    }


async def _list(services: Services, arguments: Arguments) -> Json:
    limit = max(1, min(arguments.whole_or_none("limit") or 50, PAGE_MAX))
    organization_id = arguments.text_or_none("organization_id")
    found = inbound.received(services.reader, organization_id, limit)
    return {"messages": [_received_wire(each) for each in found]}


async def _routes(services: Services, _: Arguments) -> Json:
    return {"routes": [_route_wire(each) for each in inbound.routes(services.reader)]}


async def _route(services: Services, arguments: Arguments) -> Json:
    """Neither a number nor a keyword: all that no other route takes."""
    organization_id = arguments.text("organization_id")
    services.accounts.fresh_organization(organization_id)
    number = with_country(arguments.text_or_none("number") or "", _HOME)
    keyword = folded(arguments.text_or_none("keyword") or "")
    if number and not _NUMBER.fullmatch(number):
        text = "`number` is one of ours: digits, with or without +."
        raise Invalid("number", "invalid_number", text)
    if arguments.text_or_none("keyword") and not _WORD.fullmatch(keyword):
        raise Invalid("keyword", "invalid_keyword", "`keyword` is one word of 1 to 20 letters.")
    now_ms = services.recorder.clock.now_ms()
    new = Route(services.ids.new("inr"), organization_id, number, keyword, now_ms)
    made = await services.recorder.journal.commit(lambda conn: inbound.add_route(conn, new))
    return _route_wire(made)


async def _unroute(services: Services, arguments: Arguments) -> Json:
    route_id = arguments.text("route_id")
    gone = await services.recorder.journal.commit(lambda conn: inbound.remove_route(conn, route_id))
    return _route_wire(gone)


async def _opt_outs(services: Services, arguments: Arguments) -> Json:
    """Who has opted out of an organization's messages, after changing whether that is heeded."""
    organization_id, heeds = arguments.text("organization_id"), arguments.flag_or_none("heeds")
    services.accounts.fresh_organization(organization_id)
    if heeds is not None:
        now_ms = services.recorder.clock.now_ms()
        await services.recorder.journal.commit(
            lambda conn: opt_outs.set_policy(conn, organization_id, now_ms, heeds=heeds)
        )
        services.intake.opt_outs.look_again()
    reader = services.reader
    found = opt_outs.opted_out(reader, organization_id, OPTED_OUT_MAX)
    return {
        "organizationId": organization_id,
        "heeds": organization_id in opt_outs.policies(reader),
        "numbers": [
            {"number": number, "carrier": carrier, "at": iso(at)} for number, carrier, at in found
        ],
    }


async def _opt_in(services: Services, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    number = with_country(arguments.text("number"), _HOME)
    if not await services.recorder.journal.commit(
        lambda conn: opt_outs.take_back(conn, organization_id, number)
    ):
        raise NotFound(f"{number} has not opted out of that organization's messages.")
    return {"organizationId": organization_id, "number": number}


OPERATIONS: Final[dict[str, Operation]] = {
    "inbound.list": _list,
    "inbound.routes": _routes,
    "inbound.route": _route,
    "inbound.unroute": _unroute,
    "inbound.opt_outs": _opt_outs,
    "inbound.opt_in": _opt_in,
}
