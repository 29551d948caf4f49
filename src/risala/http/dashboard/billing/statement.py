"""The billing page: the balance and how long it lasts, ways to pay, what waits, the statement,
receipts, and the low-balance alert."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.money import money
from risala.engine.model.records import ledger
from risala.engine.model.records.people import organizations
from risala.engine.model.records.people.countries import CountryUse
from risala.engine.model.records.people.organizations import Organization
from risala.http.dashboard.abroad import open_abroad
from risala.http.dashboard.billing.entries import FILTERS, page_of
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.lists import is_seq
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

ALERT_SAVED: Final = N_("We write to the owners when the balance falls below.")
PAGE: Final = "billing/show.html"
_DAY_MS: Final = 86_400_000
_DAYS_TOLD_MAX: Final = 1000
"""A balance that lasts longer is not shown in days: the pace will not stay the same for years."""


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(PAGE, await values(request), form=request.form)


async def set_alert(request: PageRequest) -> TrioResponse:
    """An empty field restores the general amount."""
    form = request.form
    try:
        amount = form.amount("low_balance") or None
        await request.ask_here(organizations.SET, low_balance=amount, **as_seen(form))
    except Refusal as error:
        return await request.again(PAGE, error, await values(request, error), form=form)
    return request.go(request.at("billing"), ALERT_SAVED)


async def receipt(request: PageRequest) -> TrioResponse:
    """One payment, on a page that prints well."""
    entry, _ = await payment_named(request)
    shown = {"has_paper": False, **await request.of_features("receipt")}
    return await request.page("billing/receipt.html", entry=entry, **shown)


async def payment_named(request: PageRequest) -> tuple[ledger.LedgerEntry, str]:
    """The payment in the address, and its currency.

    Raises:
        NotFound: there is no such payment.
    """
    seq = str(request.arguments.get("seq"))
    if not is_seq(seq):
        raise NotFound("There is no such entry.")
    before = int(seq) + 1
    page = await request.ask_here(ledger.LIST, before=before, limit=1, by_hand=True)
    for entry in page.entries:
        if entry.seq == int(seq) and entry.kind == "topup":
            return entry, page.currency
    raise NotFound("There is no such entry.")


async def values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    """The values of the page; with those of a refused alert."""
    page, shown = await page_of(request)
    prices = await request.ask(ledger.PRICE)
    here = {"organization_id": request.organization_id}
    organization, version = await request.ask_to_edit(organizations.SHOW, **here)
    own, alert = organization.price_per_segment, _alert(request, organization)
    typed = None if error is None else request.form
    billing = await request.of_features("billing")
    balance_at = billing.get("balance_at")
    return {
        **shown,
        **_lasting(request, page.balance, page.spent_a_day),
        "statement": None,
        "invoice": None,
        "invoices": (),
        "price": prices.per_segment if own is None else own,
        "abroad": await open_abroad(request, CountryUse.SEND),
        "general_low": money(prices.low_balance),
        "organization": organization,
        "low_balance": alert["low_balance"].value,
        "methods": (),
        "titles": {},
        "under_way": [],
        **billing,
        **({} if balance_at is None else balance_at(page.spent_a_day)),
        **edit(error, typed, version, alert),
    }


def _alert(request: PageRequest, organization: Organization) -> dict[str, StoredField]:
    """The alert's field, as it is stored."""
    low = organization.low_balance
    shown = None if low is None else request.formats.money(low)
    label = request.words("When the balance falls below")
    return {
        "low_balance": StoredField(label, "" if low is None else money(low), shown, is_amount=True)
    }


def _lasting(request: PageRequest, balance: int, a_day: int) -> dict[str, Any]:
    """How long the balance lasts at that pace, and when it ends; ``lasts`` is None: no pace, or no
    foreseeable end."""
    days = Decimal(max(balance, 0)) / a_day if a_day > 0 else _DAYS_TOLD_MAX + 1
    if days > _DAYS_TOLD_MAX:
        return {"lasts": None}
    span_ms = int(days * _DAY_MS)
    formats = request.formats
    return {"lasts": formats.lasting(span_ms), "ends_at": formats.now_ms + span_ms}


ROUTES: Final = (
    PageRoute(path="/app/<org>/billing", view=show, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(
        path="/app/<org>/billing/alert", view=set_alert, access=PageAccess.OWNER, method="POST"
    ),
    PageRoute(path="/app/<org>/billing/receipts/<seq>", view=receipt, access=PageAccess.VIEWER),
)
