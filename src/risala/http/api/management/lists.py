"""What an organization has, for programs with a secret key: messages, verifications, what came in,
money, senders (contract §8)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from risala.engine.model.commands import Principal
from risala.engine.model.money import money
from risala.engine.model.records import inbound, ledger, message_lists, senders
from risala.engine.model.records.inbound import Received
from risala.engine.model.records.message_lists import Listed
from risala.engine.model.records.people import countries, organizations
from risala.engine.model.records.verify import sessions
from risala.engine.model.records.verify.figures import FIGURES
from risala.engine.model.states import Mode
from risala.engine.model.wire import lean, message_wire
from risala.http.api import answers
from risala.http.api.fields import Compared
from risala.http.api.management.cursors import ListName, page
from risala.http.api.management.list_bodies import (
    LIMIT_USUAL,
    CodeFiguresBody,
    EmptyBody,
    ListEntriesBody,
    ListInboundBody,
    ListMessagesBody,
    ListVerificationsBody,
)
from risala.http.api.management.performer import KeyPerformer
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


Json = dict[str, Any]


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """What lists, and what tells of the balance."""
    lists = _Lists(gateway, context, auth)
    return {
        "/api/sms/list": lists.messages,
        "/api/verify/list": lists.verifications,
        "/api/verify/figures": lists.code_figures,
        "/api/inbound/list": lists.inbound,
        "/api/ledger/list": lists.ledger,
        "/api/balance/get": lists.balance,
        "/api/senders/list": lists.senders,
    }


class _Lists:
    def __init__(self, gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> None:
        self._ask = KeyPerformer(gateway, "There is no such organization.").ask
        self._gateway = gateway
        self._is_lean = gateway.is_lean
        self._context = context
        self._auth = auth

    async def _read(
        self, request: PlainRequest, model: type[RequestBody]
    ) -> tuple[Principal, Json]:
        """The key that asks, and the arguments of its body."""
        principal = self._auth.secret(request)
        arguments = parse_body(model, await read_body(request), self._context()).given()
        if "sender" in arguments:
            arguments["from"] = arguments.pop("sender")
        return principal, {"limit": LIMIT_USUAL, **_mine(principal), **arguments}

    async def messages(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, ListMessagesBody)
        # A code's message is the verification's matter, here as in `POST /api/sms/get`.
        arguments |= {"mode": principal.mode.value, "kind": "sms"}
        listed = await self._ask(principal, message_lists.LIST, **arguments)
        shape = _lean if self._is_lean(principal) else message_wire
        return page(ListName.MESSAGES, listed.messages, shape, (listed.older, listed.newer))

    async def verifications(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, ListVerificationsBody)
        listed = await self._ask(principal, sessions.LIST, **arguments, mode=principal.mode.value)
        places = listed.older, listed.newer
        shape = partial(answers.verification_answer, lean=self._is_lean(principal))
        return page(ListName.VERIFICATIONS, listed.sessions, shape, places)

    async def code_figures(self, request: PlainRequest) -> PlainAnswer:
        principal = self._auth.secret(request)
        body = parse_body(CodeFiguresBody, await read_body(request), self._context()).given()
        mode = principal.mode.value
        shown = await self._ask(principal, FIGURES, **_mine(principal), **body, mode=mode)
        return PlainAnswer(json_bytes(answers.CODE_FIGURES.wire(shown)))

    async def inbound(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, ListInboundBody)
        if principal.mode is Mode.TEST:  # what comes in comes from carriers: there is none of tests
            return page(ListName.INBOUND)
        arguments.pop("status", None)  # all have the same
        listed = await self._ask(principal, inbound.LIST, **arguments)
        places = listed.older, listed.newer
        return page(ListName.INBOUND, listed.messages, _received, places)

    async def ledger(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, ListEntriesBody)
        if principal.mode is Mode.TEST:  # tests cost nothing
            return page(ListName.LEDGER)
        kind = arguments.pop("kind", None)
        kinds = None if kind is None else [kind]
        listed = await self._ask(principal, ledger.LIST, **arguments, kinds=kinds)
        places = listed.next, listed.previous
        return page(ListName.LEDGER, listed.entries, answers.LEDGER_ENTRY.wire, places)

    async def balance(self, request: PlainRequest) -> PlainAnswer:
        principal, _ = await self._read(request, EmptyBody)
        organization = await self._ask(principal, organizations.SHOW, **_mine(principal))
        wire = answers.BALANCE.wire(organization)
        if self._gateway.is_self_paid:
            wire |= {"balance": money(0), "lowBalance": None}
        if principal.mode is Mode.TEST:  # nothing of the money is a test key's business
            wire |= {"balance": money(0), "lowBalance": None}
            wire |= {"spentToday": money(0), "spendCap": None}
        elif organization.low_balance is None and not self._gateway.is_self_paid:
            wire["lowBalance"] = money((await self._ask(principal, ledger.PRICE)).low_balance)
        if len(self._context().plan.countries) > 1:
            reached = await self._ask(principal, countries.LIST, **_mine(principal))
            wire["countries"] = [answers.COUNTRY.wire(each) for each in reached.countries]
        return PlainAnswer(json_bytes(wire))

    async def senders(self, request: PlainRequest) -> PlainAnswer:
        principal, _ = await self._read(request, EmptyBody)
        listed = await self._ask(principal, senders.LIST, **_mine(principal))
        volume = await self._ask(principal, senders.VOLUME, **_mine(principal))
        items = [answers.SENDER.wire(each, volume=volume.weekly) for each in listed.senders]
        return PlainAnswer(json_bytes({"items": items}))


def _lean(message: Listed) -> dict[str, Any]:
    """For an organization that wants seven fields and four states."""
    return lean(message_wire(message))


def _mine(principal: Principal) -> dict[str, str]:
    return {"organization_id": principal.organization_id}


def _received(message: Received) -> dict[str, Any]:
    return answers.INBOUND.wire(message, status="received")
