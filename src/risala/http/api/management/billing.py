"""Statements of months and invoices, for programs with a secret key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from risala.dataclass import dataclass
from risala.engine.features.invoices.records import LIST, Invoice, InvoiceDay
from risala.engine.features.statements.records import (
    STATEMENT,
    Issuer,
    MonthStatement,
    PartsDay,
    SenderCost,
    SourceCost,
    StatementDay,
)
from risala.engine.model.commands import Principal
from risala.engine.model.states import Mode
from risala.http.api.answers import ApiAnswer, Component, listed
from risala.http.api.fields import Compared
from risala.http.api.management.cursors import ListName, page
from risala.http.api.management.list_bodies import (
    LIMIT_USUAL,
    InvoiceCursor,
    PageBody,
    PlacesBody,
)
from risala.http.api.management.performer import KeyPerformer
from risala.http.common.auth import ApiKeyAuth
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway

MISSING: Final = "There is no such organization."


class StatementBody(RequestBody):
    """The month of the statement."""

    month: Annotated[
        str | None,
        Field(
            pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$",
            description="Of the organization's time zone; without it the present one.",
            examples=["2026-10"],
        ),
    ] = None


class ListInvoicesBody(PlacesBody[InvoiceCursor], PageBody):
    """Which invoices, newest first; without any member the newest of all."""


def _each(item: ApiAnswer, about: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": item.reference}, "description": about}


ISSUER: Final = ApiAnswer("IssuerAnswer", record=Issuer)
SOURCE_COST: Final = ApiAnswer("SourceCostAnswer", record=SourceCost)
SENDER_COST: Final = ApiAnswer("SenderCostAnswer", record=SenderCost)
_SOURCES: Final = {"sources": _each(SOURCE_COST, "What each source cost.")}
_ISSUED_BY: Final = {
    "issuer": {"$ref": ISSUER.reference, "description": "The company that runs the service."}
}
STATEMENT_DAY: Final = ApiAnswer("StatementDayAnswer", record=StatementDay, more=_SOURCES)
INVOICE_DAY: Final = ApiAnswer("InvoiceDayAnswer", record=InvoiceDay, more=_SOURCES)
OWN_PARTS: Final = ApiAnswer("PartsDayAnswer", record=PartsDay)
MONTH: Final = ApiAnswer(
    "StatementAnswer",
    record=MonthStatement,
    members="month timeZone currency opening closing charged refunded credited sources senders"
    " days ownParts countedUntil",
    more={
        **_SOURCES,
        "senders": _each(SENDER_COST, "Keys and mailings, the most expensive first."),
        "days": _each(STATEMENT_DAY, "Days with entries, in their order."),
        "ownParts": _each(OWN_PARTS, "Days on which something left for which nobody pays."),
    },
)
INVOICE: Final = ApiAnswer(
    "InvoiceAnswer",
    record=Invoice,
    members="id number organizationName customerAddress customerTaxId issuer month timeZone"
    " currency charged refunded total vatPercent vat sources days issuedAt",
    more={
        **_ISSUED_BY,
        **_SOURCES,
        "days": _each(INVOICE_DAY, "Days for which something was charged or refunded."),
    },
)
INVOICES: Final = listed("InvoicePage", "Invoices, newest first.", INVOICE)
COMPONENTS: Final[tuple[Component, ...]] = (
    *(ISSUER, SOURCE_COST, SENDER_COST, STATEMENT_DAY, INVOICE_DAY, OWN_PARTS),
    *(MONTH, INVOICE, INVOICES),
)


def handlers(gateway: Gateway, context: Compared, auth: ApiKeyAuth) -> Mapping[str, Handler]:
    """``/api/billing/…``."""
    made = _Billing(KeyPerformer(gateway, MISSING), context, auth)
    return {
        "/api/billing/statement": made.statement,
        "/api/billing/invoices": made.invoices,
    }


@dataclass(frozen=True, slots=True)
class _Billing:
    performer: KeyPerformer
    context: Compared
    auth: ApiKeyAuth

    async def _read(
        self, request: PlainRequest, model: type[RequestBody]
    ) -> tuple[Principal, dict[str, Any]]:
        """The key that asks, and the arguments of its body."""
        principal = self.auth.secret(request)
        arguments = parse_body(model, await read_body(request), self.context()).given()
        return principal, {"organization_id": principal.organization_id, **arguments}

    async def statement(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, StatementBody)
        statement = await self.performer.ask(principal, STATEMENT, **arguments)
        if principal.mode is Mode.TEST:  # nothing of the money is a test key's business
            statement = _nothing(statement)
        return PlainAnswer(json_bytes(MONTH.wire(statement)))

    async def invoices(self, request: PlainRequest) -> PlainAnswer:
        principal, arguments = await self._read(request, ListInvoicesBody)
        if principal.mode is Mode.TEST:  # tests cost nothing
            return page(ListName.INVOICES)
        limited = {"limit": LIMIT_USUAL, **arguments}
        invoices = await self.performer.ask(principal, LIST, **limited)
        places = invoices.next, invoices.previous
        return page(ListName.INVOICES, invoices.invoices, INVOICE.wire, places)


_nothing: Final = partial(
    replace,
    opening=0,
    closing=0,
    sources=(),
    senders=(),
    charged=0,
    refunded=0,
    credited=0,
    days=(),
    payments=(),
    own_parts=(),
    counted_until=None,
)
"""A month in which nothing cost anything."""
