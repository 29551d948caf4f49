"""The reference of statements and invoices, for secret keys."""

from __future__ import annotations

from typing import Any, Final

from risala.http.api.management import billing as bodies
from risala.http.api.management.cursors import ListName, written
from risala.http.api.openapi.management import ID, PAGES
from risala.http.api.openapi.sms import WITH_BODY, ApiOperation

_SOURCES: Final = [{"source": "key", "messages": 1208, "amount": "604.00"}]
_ISSUER: Final = {
    "name": "Chinguetti Messages SARL",
    "address": ["12 Harbour Road"],
    "taxId": "00441122",
    "tradeRegister": "81234/GU/2026",
}
_MONTH: Final = {"month": "2026-10", "timeZone": "UTC", "currency": "MRU"}
_DAY: Final = {"day": "2026-10-28", "sources": _SOURCES, "refunded": "0.50"}
_STATEMENT: Final[dict[str, Any]] = {
    **_MONTH,
    "opening": "703.00",
    "closing": "1099.50",
    "charged": "604.00",
    "refunded": "0.50",
    "credited": "1000.00",
    "sources": _SOURCES,
    "senders": [{**_SOURCES[0], "of": f"key_{ID}", "name": "Shop"}],
    "days": [{**_DAY, "credited": "1000.00", "balanceAfter": "1099.50"}],
    "ownParts": [],
    "countedUntil": None,
}
_INVOICE: Final[dict[str, Any]] = {
    "id": f"inv_{ID}",
    "number": "F-0042",
    "organizationName": "Atlas",
    "customerAddress": ["3 Palm Avenue", "Rosso"],
    "customerTaxId": "00778899",
    "issuer": _ISSUER,
    **_MONTH,
    "charged": "604.00",
    "refunded": "0.50",
    "total": "603.50",
    "vatPercent": "16",
    "vat": "83.24",
    "sources": _SOURCES,
    "days": [_DAY],
    "issuedAt": "2026-11-01T01:00:00.000Z",
}
OPERATIONS: Final = (
    ApiOperation(
        path="/api/billing/statement",
        name="getStatement",
        tag="Account",
        summary="The statement of a month",
        description=(
            "What was charged, refunded and paid in a month: by day, and by what was sent. The "
            "opening balance and all changes make the closing one. Needs a secret key. A test key "
            "gets zeros, because it costs nothing."
        ),
        body=bodies.StatementBody,
        answer=bodies.MONTH,
        errors=WITH_BODY,
        body_examples={"month": {"summary": "Of October", "value": {"month": "2026-10"}}},
        answer_examples={"month": {"summary": "October", "value": _STATEMENT}},
    ),
    ApiOperation(
        path="/api/billing/invoices",
        name="listInvoices",
        tag="Account",
        summary="Invoices",
        description=(
            "Invoices of months, as they were issued: their numbers have no gaps, and nothing of "
            "them changes later. There are some where whoever runs the service issues them. Test "
            f"keys have none.{PAGES}"
        ),
        body=bodies.ListInvoicesBody,
        answer=bodies.INVOICES,
        errors=WITH_BODY,
        body_examples={"newest": {"summary": "The newest", "value": {}}},
        answer_examples={
            "page": {
                "summary": "The first page",
                "value": {
                    "items": [_INVOICE],
                    "next": written(ListName.INVOICES, f"inv_{ID}"),
                    "previous": None,
                },
            }
        },
    ),
)
REFERENCE: Final = (OPERATIONS, bodies.COMPONENTS)
