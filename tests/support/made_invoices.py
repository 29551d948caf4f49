"""Months of the past with charges, and their invoices, without waiting for a month to end."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, Final

from risala.config.payments import LegalSection
from risala.engine.features.invoices.records import Invoice
from risala.engine.features.invoices.stored import InvoiceRepository
from risala.engine.features.statements.records import CostSource, Issuer, SourceCost
from risala.engine.services import Services

DAYS: Final = 40
"""Whenever it is now, so many days ago is in a month that is closed."""
_SPAN_MS: Final = DAYS * 86_400_000
LEGAL: Final = LegalSection(name="Chinguetti Messages SARL", tax_id="00441122", invoice_series="F-")


async def age_entries(services: Services) -> str:
    """Move the whole ledger into the past; returns a closed month that has the newest entry."""

    def work(conn: Any) -> int:
        conn.execute("UPDATE entry SET at = coalesce(at, message >> 15) - ?", (_SPAN_MS,))
        (newest,) = conn.execute("SELECT max(at) FROM entry WHERE kind = 0").fetchone()
        return int(newest)

    newest = await services.repositories._store.commit(work)
    return f"{date.fromtimestamp(newest / 1000):%Y-%m}"


async def issued(services: Services, organization_id: str, months: int = 0) -> Invoice:
    """An invoice of some month before that of aged entries, or of so many before that."""
    now_ms = services.recorder.clock.now_ms()
    day = date.fromtimestamp(now_ms / 1000) - timedelta(days=(3 + months) * DAYS)
    sources = (SourceCost(CostSource.KEY, 1, 50),)
    draft = Invoice(
        id=services.ids.new("inv"),
        number="",
        organization_id=organization_id,
        organization_name="Shop",
        issuer=Issuer(LEGAL.name, LEGAL.address, LEGAL.tax_id, LEGAL.trade_register),
        month=f"{day:%Y-%m}",
        time_zone="UTC",
        currency="MRU",
        sources=sources,
        days=(),
        charged=50,
        refunded=0,
        total=50,
        issued_at=now_ms,
    )
    return await services.repositories.part(InvoiceRepository).issue(None, draft, "T-")
