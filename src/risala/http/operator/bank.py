"""Bank messages to a SIM of the operator: why one was not credited automatically, and the balance
of the account."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.payments import records as payments
from risala.engine.features.payments import text_records as bank_texts
from risala.engine.features.payments.text_records import ShownText
from risala.engine.model.errors import Conflict, NotFound, Refusal
from risala.engine.model.records.record import shallow
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_
from risala.http.web.lists import choice, counts, pager_of
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute, shows

STATES: Final = {
    "unread": ("pending", NC_("bank text", "Not read yet")),
    "unmatched": ("failed", NC_("bank text", "Matches nothing")),
    "waiting": ("waiting", NC_("bank text", "Waiting")),
    "noted": ("canceled", NC_("bank text", "Noted")),
    "credited": ("approved", NC_("bank text", "Credited")),
    "dismissed": ("canceled", NC_("bank text", "Set aside")),
}
"""The badge and the word of each state."""
WHYS: Final = {
    "no_method": N_("No payment method still reads this SIM’s texts."),
    "foreign_sender": N_("It is not from the bank."),
    "foreign_centre": N_(
        "It came through a service centre that is not the bank’s: it may be forged."
    ),
    "no_pattern": N_("No pattern can read it."),
    "repeated": N_("An earlier text has the same reference."),
    "no_balance": N_("The balance of the account is not known yet, or the text does not state it."),
    "balance": N_(
        "Its balance does not continue from the last one: a text was lost, or this one is false."
    ),
    "credited_before": N_("Its reference was already credited."),
    "by_operator": N_("Nothing is credited automatically here: you confirm each payment."),
    "unclaimed": N_("No customer has claimed it yet."),
    "several": N_("Several payments match: confirm the right one."),
    "payer_unchecked": N_("Its customer has not shown yet that the payer’s number is theirs."),
    "payer": N_("It was paid from a number that is not its customer’s: ask both."),
    "amount": N_("The amount is not what its customer wanted to pay."),
    "cap_payment": N_("It is more than texts may credit at once."),
    "cap_organization": N_("Its organization has received as much as texts may credit in a day."),
    "cap_day": N_("Texts have credited as much as they may in a day."),
}
"""Why a text is not credited automatically."""
DISMISSED: Final = N_("The text is set aside.")
RECONCILED: Final = N_("Texts continue from this balance.")
_LIST: Final = "bank/list.html"


@dataclass(frozen=True, slots=True)
class TextView(ShownText):
    """A text as an operator sees it."""

    badge: str
    word: str
    why_told: str | None


def shown_text(text: ShownText) -> TextView:
    """A text as an operator sees it."""
    badge, word = STATES[text.state]
    return TextView(**shallow(text), badge=badge, word=word, why_told=WHYS.get(text.why or ""))


async def _listed(request: PageRequest) -> dict[str, Any]:
    """The accounts, and the texts that need a decision, or all."""
    query = {"all": "yes"} if request.form.ticked("all") else {}
    arguments: dict[str, Any] = {"open": not query or None}
    if before := request.form.text("before"):
        arguments["before"] = int(before)
    page = await request.ask(bank_texts.LIST, **arguments)
    lines = await request.ask(bank_texts.LINES)
    methods = (await request.ask(payments.METHODS)).methods
    return {
        "lines": lines.lines,
        "titles": {each.name: request.in_language(each.title) for each in methods},
        "unmatched": lines.unmatched,
        "texts": [shown_text(each) for each in page.texts],
        "query": query,
        "pager": pager_of(request.at("payments/texts"), query, newer=None, older=page.next),
        "form": request.form,
    }


async def dismiss(request: PageRequest) -> TrioResponse:
    """Mark a text as needing no action."""
    text_id, reason = request.arguments["text_id"], request.form.text("reason") or None
    try:
        await request.ask(bank_texts.DISMISS, text_id=text_id, reason=reason)
    except NotFound:
        raise
    except Conflict as error:
        return await request.again(_LIST, error, await _listed(request))
    except Refusal as error:
        faults = {
            f"reason-{text_id}": each
            for each in faults_of(request.words, error, request.plan).values()
        }
        return await request.wrong(_LIST, faults, await _listed(request))
    return request.go(request.at("payments/texts"), DISMISSED)


async def reconcile(request: PageRequest) -> TrioResponse:
    """Set the balance of an account: its texts continue from there."""
    method = request.form.text("method")
    try:
        balance = request.form.amount("balance") or None
        await request.ask(bank_texts.RECONCILE, method=method, balance=balance)
    except NotFound:
        raise
    except Refusal as error:
        faults = {
            f"balance-{method}": each
            for each in faults_of(request.words, error, request.plan).values()
        }
        return await request.wrong(_LIST, faults, await _listed(request))
    return request.go(request.at("payments/texts"), RECONCILED)


_PAGE: Final = "/operator/payments/texts"
_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(
        path=_PAGE,
        view=shows(_LIST, _listed),
        access=_OPERATOR,
        needs=bank_texts.LIST,
        filters=(choice("all", N_("All"), ("yes",)), *counts("before")),
    ),
    PageRoute(
        path=f"{_PAGE}/<text_id>/dismiss",
        view=dismiss,
        access=_OPERATOR,
        needs=bank_texts.DISMISS,
        method="POST",
    ),
    PageRoute(
        path=f"{_PAGE}/reconcile",
        view=reconcile,
        access=_OPERATOR,
        needs=bank_texts.RECONCILE,
        method="POST",
        once=True,
    ),
)
