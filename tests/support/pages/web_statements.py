"""What a gateway tells of an organization's month, for pages."""

from __future__ import annotations

from typing import Any


def month_payment(month: str = "2026-11") -> dict[str, Any]:
    return {
        "id": "led_1",
        "seq": 1,
        "organizationId": "org_1",
        "kind": "topup",
        "amount": "10000.00",
        "balanceAfter": "15234.00",
        "reference": "MS-220814",
        "messages": None,
        "note": "<script>alert(1)</script>",
        "at": f"{month}-02T16:02:00.000Z",
    }


def month_statement(
    *, organization_id: str, month: str = "2026-11", **changes: Any
) -> dict[str, Any]:
    """A month with a day of each kind: messages of all sources, a refund, a payment."""
    sources = [
        {"source": "mailing", "messages": 4000, "amount": "2000.00"},
        {"source": "key", "messages": 1208, "amount": "604.00"},
        {"source": "codes", "messages": 300, "amount": "150.00"},
    ]
    return {
        "organizationId": organization_id,
        "organizationName": "Baraka <Market>",
        "issuer": {
            "name": "Risala SARL",
            "address": ["Rue 1", "Nouakchott"],
            "taxId": "NIF 77",
            "tradeRegister": "",
        },
        "timeZone": "Africa/Nouakchott",
        "month": month,
        "currency": "MRU",
        "opening": "5234.00",
        "closing": "12480.50",
        "sources": sources,
        "senders": [
            {
                "source": "mailing",
                "of": "mlg_1",
                "name": "Autumn",
                "messages": 4000,
                "amount": "2000.00",
            },
            {
                "source": "key",
                "of": "key_1",
                "name": "<Shop>",
                "messages": 1208,
                "amount": "604.00",
            },
        ],
        "charged": "2754.00",
        "refunded": "0.50",
        "credited": "10000.00",
        "days": [
            {
                "day": f"{month}-02",
                "sources": sources[:2],
                "refunded": "0.00",
                "credited": "10000.00",
                "balanceAfter": "12630.00",
            },
            {
                "day": f"{month}-19",
                "sources": sources[2:],
                "refunded": "0.50",
                "credited": "0.00",
                "balanceAfter": "12480.50",
            },
        ],
        "payments": [month_payment(month)],
        "ownParts": [{"day": f"{month}-02", "parts": 1208}, {"day": f"{month}-19", "parts": 3}],
        "firstMonth": "2026-09",
        "endsAt": "2026-12-01T00:00:00.000Z",
        "countedUntil": None,
        **changes,
    }


def month_invoice(month: str = "2026-10", **changes: Any) -> dict[str, Any]:
    """The invoice of a month, with two sources and a refund."""
    statement = month_statement(organization_id="org_1", month=month)
    names = ("organizationId", "organizationName", "issuer", "month", "timeZone", "currency")
    days = [
        {name: each[name] for name in ("day", "sources", "refunded")} for each in statement["days"]
    ]
    return {
        "id": "inv_1",
        "number": "F-0042",
        **{name: statement[name] for name in names},
        "sources": statement["sources"],
        "days": days,
        "charged": "2754.00",
        "refunded": "0.50",
        "total": "2753.50",
        "issuedAt": "2026-11-01T01:00:00.000Z",
        **changes,
    }


def invoice_customer() -> dict[str, Any]:
    return {"organizationId": "org_1", "address": ["3 <Palm> Avenue", "Rosso"], "taxId": "0077"}


def invoice_page(*invoices: dict[str, Any], month: str | None = None) -> dict[str, Any]:
    """The newest two, or that of a month."""
    page = [each for each in invoices if each["month"] == month] if month else [*invoices[:2]]
    older = page[-1]["id"] if len(invoices) > len(page) and not month else None
    return {"invoices": page, "next": older, "previous": None, "canIssue": bool(invoices)}
