"""What an organization has, for programs with a secret key: messages, verifications, what came in,
money, senders (contract §8)."""

from __future__ import annotations

from typing import Any

from risala.engine.model.commands import Principal
from risala.engine.model.money import money
from risala.engine.model.records import inbound, ledger, message_lists, senders
from risala.engine.model.records.inbound import Received
from risala.engine.model.records.message_lists import Listed
from risala.engine.model.records.people import countries, organizations
from risala.engine.model.records.verify import sessions
from risala.engine.model.states import Mode
from risala.engine.model.wire import lean, message_wire
from risala.http.api import answers
from risala.http.api.fields import Compared
from risala.http.api.management.cursors import ListName, page
from risala.http.api.management.list_bodies import (
    EmptyBody,
    ListEntriesBody,
    ListInboundBody,
    ListMessagesBody,
    ListVerificationsBody,
)
from risala.http.api.management.performer import KeyPerformer
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.facade import ApiGateway
from risala.http.common.parse import read_body
from risala.http.common.plain import PlainAnswer, PlainRequest, PlainRoutes
from risala.http.common.respond import json_bytes
from risala.http.common.validation import Body, parse_body


def add_lists(paths: PlainRoutes, gateway: ApiGateway, context: Compared, door: ApiKeyAuth) -> None:
    """Serve what lists, and what tells of the balance."""
    lists = _Lists(gateway, context, door)
    paths.route("/api/sms/list", lists.messages)
    paths.route("/api/verify/list", lists.verifications)
    paths.route("/api/inbound/list", lists.inbound)
    paths.route("/api/ledger/list", lists.ledger)
    paths.route("/api/balance/get", lists.balance)
    paths.route("/api/senders/list", lists.senders)


class _Lists:
    def __init__(self, gateway: ApiGateway, context: Compared, door: ApiKeyAuth) -> None:
        self._ask = KeyPerformer(gateway, "There is no such organization.").ask
        self._gateway = gateway
        self._is_lean = gateway.is_lean
        self._context = context
        self._door = door

    async def _asked(self, request: PlainRequest, model: type[Body]) -> tuple[Principal, Body]:
        principal = self._door.secret(request)
        return principal, parse_body(model, await read_body(request), self._context())

    async def messages(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, ListMessagesBody)
        found = await self._ask(
            principal,
            message_lists.LIST,
            **{**_wanted(principal, body), "from": body.sender},
            mode=principal.mode.value,
            # A code's message is the verification's matter, here as in `POST /api/sms/get`.
            kind="sms",
            status=body.status,
        )
        shape = _lean if self._is_lean(principal) else message_wire
        return page(ListName.MESSAGES, found.messages, shape, (found.older, found.newer))

    async def verifications(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, ListVerificationsBody)
        found = await self._ask(
            principal,
            sessions.LIST,
            **_wanted(principal, body),
            mode=principal.mode.value,
            status=body.status,
        )
        places = found.older, found.newer
        return page(ListName.VERIFICATIONS, found.sessions, answers.VERIFICATION.wire, places)

    async def inbound(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, ListInboundBody)
        if principal.mode is Mode.TEST:  # what comes in comes from carriers: there is none of tests
            return page(ListName.INBOUND)
        wanted = {**_wanted(principal, body), "from": body.sender}
        found = await self._ask(principal, inbound.LIST, **wanted)
        places = found.older, found.newer
        return page(ListName.INBOUND, found.messages, _received, places)

    async def ledger(self, request: PlainRequest) -> PlainAnswer:
        principal, body = await self._asked(request, ListEntriesBody)
        if principal.mode is Mode.TEST:  # tests cost nothing
            return page(ListName.LEDGER)
        before, after = (
            None if place is None else int(place) for place in (body.before, body.after)
        )
        found = await self._ask(
            principal,
            ledger.LIST,
            **_mine(principal),
            limit=body.count,
            before=before,
            after=after,
            kinds=None if body.kind is None else [body.kind],
            since=body.since,
            until=body.until,
        )
        return page(
            ListName.LEDGER, found.entries, answers.LEDGER_ENTRY.wire, (found.next, found.previous)
        )

    async def balance(self, request: PlainRequest) -> PlainAnswer:
        principal, _ = await self._asked(request, EmptyBody)
        found = await self._ask(principal, organizations.SHOW, **_mine(principal))
        told = answers.BALANCE.wire(found)
        if self._gateway.is_self_paid:
            told |= {"balance": money(0), "lowBalance": None}
        if principal.mode is Mode.TEST:  # nothing of the money is a test key's business
            told |= {"balance": money(0), "lowBalance": None}
            told |= {"spentToday": money(0), "spendCap": None}
        elif found.low_balance is None and not self._gateway.is_self_paid:
            told["lowBalance"] = money((await self._ask(principal, ledger.PRICE)).low_balance)
        if len(self._context().plan.countries) > 1:
            reached = await self._ask(principal, countries.LIST, **_mine(principal))
            told["countries"] = [answers.COUNTRY.wire(each) for each in reached.countries]
        return PlainAnswer(json_bytes(told))

    async def senders(self, request: PlainRequest) -> PlainAnswer:
        principal, _ = await self._asked(request, EmptyBody)
        found = await self._ask(principal, senders.LIST, **_mine(principal))
        volume = await self._ask(principal, senders.VOLUME, **_mine(principal))
        items = [answers.SENDER.wire(each, volume=volume.weekly) for each in found.senders]
        return PlainAnswer(json_bytes({"items": items}))


def _lean(found: Listed) -> dict[str, Any]:
    """For an organization that wants seven fields and four states."""
    return lean(message_wire(found))


def _mine(principal: Principal) -> dict[str, str]:
    return {"organization_id": principal.organization_id}


def _wanted(
    principal: Principal, body: ListMessagesBody | ListVerificationsBody | ListInboundBody
) -> dict[str, Any]:
    names = ("before", "after", "to", "since", "until")
    return {
        **_mine(principal),
        "limit": body.count,
        **{name: getattr(body, name) for name in names},
    }


def _received(found: Received) -> dict[str, Any]:
    return answers.INBOUND.wire(found, status="received")
