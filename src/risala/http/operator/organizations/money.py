"""Manual entries by an operator: cash payments, corrections with a reason, the statement.

Both ask for confirmation: the effect is shown with its figures first, and then happens once.
Neither can be undone; another entry corrects a wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.money import minor_units
from risala.engine.model.records import ledger
from risala.http.operator.organizations.one import organization_named, organization_of
from risala.http.web.face import PageAccess
from risala.http.web.languages import ENTRY_KINDS, N_
from risala.http.web.lists import counts, pager_of, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import amount_sentence
from risala.http.web.routes import PageRoute

CREDITED: Final = N_("The payment is credited.")
ADJUSTED: Final = N_("The balance is corrected.")
_TOP_UP: Final = "organizations/topup.html"
_ADJUST: Final = "organizations/adjust.html"
_ROWS: Final = 25


async def ask_top_up(request: PageRequest) -> TrioResponse:
    return await _draw(request, _TOP_UP)


async def check_top_up(request: PageRequest) -> TrioResponse:
    """A preview of the credit."""
    amount = _amount(request)
    if not amount:
        return await _wrong_amount(request, _TOP_UP)
    return await _draw(request, _TOP_UP, amount)


async def top_up(request: PageRequest) -> TrioResponse:
    form, organization_id = request.form, organization_named(request)
    try:
        await request.ask(
            ledger.TOP_UP,
            organization_id=organization_id,
            amount=form.amount("amount"),
            reference=form.text("reference") or None,
            note=form.text("note") or None,
        )
    except Refusal as error:
        return await request.again(_TOP_UP, error, await _values(request))
    return request.go(request.at(f"organizations/{organization_id}"), CREDITED)


async def ask_adjust(request: PageRequest) -> TrioResponse:
    return await _draw(request, _ADJUST)


async def check_adjust(request: PageRequest) -> TrioResponse:
    """A preview of the new balance."""
    amount = _amount(request)
    if not amount:
        return await _wrong_amount(request, _ADJUST)
    if not request.form.text("reason"):
        faults = {"reason": request.words("Fill this in.")}
        return await request.wrong(_ADJUST, faults, await _values(request))
    return await _draw(request, _ADJUST, amount)


async def adjust(request: PageRequest) -> TrioResponse:
    form, organization_id = request.form, organization_named(request)
    sign = "-" if form.text("way") == "take" else ""
    try:
        await request.ask(
            ledger.ADJUST,
            organization_id=organization_id,
            amount=sign + form.amount("amount"),
            reason=form.text("reason"),
        )
    except Refusal as error:
        return await request.again(_ADJUST, error, await _values(request))
    return request.go(request.at(f"organizations/{organization_id}"), ADJUSTED)


async def statement(request: PageRequest) -> TrioResponse:
    organization, _ = await organization_of(request)
    arguments: dict[str, Any] = {"limit": _ROWS}
    for name in ("before", "after"):
        if text := request.form.text(name):
            arguments[name] = int(text)
    page = await request.ask(ledger.LIST, organization_id=organization.id, **arguments)
    here = f"organizations/{organization.id}/statement"
    return await request.page(
        "organizations/statement.html",
        organization=organization,
        entries=page.entries,
        kinds=ENTRY_KINDS,
        pager=pager_of(request.at(here), {}, newer=page.previous, older=page.next),
        **{
            "statement": None,
            "invoice": None,
            "invoices": (),
            "may_issue": False,
            **await request.of_features("organization_statement", organization.id),
        },
    )


def _amount(request: PageRequest) -> int | None:
    """The typed amount in minor units; None: it is no amount."""
    try:
        return minor_units(request.form.amount("amount"))
    except ValueError:
        return None


async def _wrong_amount(request: PageRequest, template: str) -> TrioResponse:
    faults = {"amount": amount_sentence(request.words)}
    return await request.wrong(template, faults, await _values(request))


async def _draw(request: PageRequest, template: str, amount: int | None = None) -> TrioResponse:
    return await request.page(template, await _values(request, amount))


async def _values(request: PageRequest, amount: int | None = None) -> Mapping[str, Any]:
    """``checked``: the amount to confirm, with its sign; None: not typed yet."""
    (organization, _), form = await organization_of(request), request.form
    signed = -amount if amount is not None and form.text("way") == "take" else amount
    return {
        "organization": organization,
        "form": form,
        "checked": signed,
        "after": None if signed is None else organization.balance + signed,
    }


_ONE: Final = "/operator/organizations/<organization_id>"
_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(
        path=f"{_ONE}/statement",
        view=statement,
        access=_OPERATOR,
        needs=ledger.LIST,
        filters=(*counts(), typed("month", N_("Month"))),
    ),
    PageRoute(path=f"{_ONE}/topup", view=ask_top_up, access=_OPERATOR, needs=ledger.TOP_UP),
    PageRoute(
        path=f"{_ONE}/topup/check",
        view=check_top_up,
        access=_OPERATOR,
        needs=ledger.TOP_UP,
        method="POST",
    ),
    PageRoute(
        path=f"{_ONE}/topup",
        view=top_up,
        access=_OPERATOR,
        needs=ledger.TOP_UP,
        method="POST",
        once=True,
    ),
    PageRoute(path=f"{_ONE}/adjust", view=ask_adjust, access=_OPERATOR, needs=ledger.ADJUST),
    PageRoute(
        path=f"{_ONE}/adjust/check",
        view=check_adjust,
        access=_OPERATOR,
        needs=ledger.ADJUST,
        method="POST",
    ),
    PageRoute(
        path=f"{_ONE}/adjust",
        view=adjust,
        access=_OPERATOR,
        needs=ledger.ADJUST,
        method="POST",
        once=True,
    ),
)
