"""Writing a message: its cost is shown before sending, and counted again by the server."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records import messages, senders
from risala.engine.model.records.messages import Estimate
from risala.engine.model.records.paying.ledger import PRICE
from risala.engine.model.records.people.countries import CountryUse
from risala.engine.model.states import Mode
from risala.engine.model.times import iso
from risala.http.dashboard.abroad import OpenCountry, open_abroad
from risala.http.web.access import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows
from risala.sms.limits import TEXT_CHARACTERS_MAX

ACCEPTED: Final = N_("The message is accepted. What happens to it appears on this page.")


async def send(visit: PageRequest) -> TrioResponse:
    form = visit.form
    asked: dict[str, object] = {
        "to": form.text("to"),
        "body": form.text("body"),
        "mode": visit.mode.value,
    }
    if sender := form.text("from"):
        asked["from"] = sender
    if at := form.text("send_at"):
        asked["send_at"] = _moment(visit, at)
    try:
        sent = await visit.ask_here(messages.SEND, **asked)
    except Refusal as error:
        return await visit.again("messages/new.html", error, await _values(visit))
    return visit.go(visit.at(f"messages/{sent.message_id}"), ACCEPTED)


async def count(visit: PageRequest) -> TrioResponse:
    """The same page with the text counted by the server: for browsers without script."""
    return await visit.page("messages/new.html", await _values(visit))


def _moment(visit: PageRequest, typed: str) -> str:
    """A time of the organization's clock, as operations take it."""
    try:
        at = datetime.fromisoformat(typed).replace(tzinfo=visit.formats.zone)
        return iso(round(at.timestamp() * 1000))
    except (ValueError, OverflowError):
        return typed


async def _values(visit: PageRequest) -> dict[str, object]:
    names = (await visit.ask_here(senders.LIST)).senders
    price = visit.organization.price_per_segment
    if price is None:
        price = (await visit.ask(PRICE)).per_segment
    is_test = visit.mode is Mode.TEST
    approved = [each.name for each in names if each.status == "approved"]
    abroad = await open_abroad(visit, CountryUse.SEND)
    # The first approved name is the default of a form that was just opened.
    is_opened = visit.request.method == "GET" and not visit.form.text("from")
    return {
        "form": visit.form,
        "text_max": TEXT_CHARACTERS_MAX,
        "leaves": visit.formats.chosen_text(visit.form.text("send_at")),
        "sender": approved[0] if is_opened and approved else visit.form.text("from"),
        "is_too_little": not is_test and visit.organization.balance < price,
        "price_minor": None if is_test else price,
        "estimate": await _estimate(visit, visit.form.text("body"), abroad),
        "abroad": abroad,
        "prefixes": None if abroad is None else [each for one in abroad for each in one.prices],
        "senders": [(name, name) for name in approved],
    }


async def _estimate(
    visit: PageRequest, body: str, abroad: list[OpenCountry] | None
) -> Estimate | None:
    if not body:
        return None
    to = visit.form.text("to") or None
    # Where home alone is served, the price is the same for each number, also for a half typed one.
    given = {} if abroad is None else {"to": to}
    try:
        found = await visit.ask_here(messages.ESTIMATE, body=body, **given)
    except Refusal:  # the page shows the errors of the text itself, and of the number
        return None
    return found


_NEW: Final = "/app/<org>/messages/new"
ROUTES: Final = (
    PageRoute(path=_NEW, view=shows("messages/new.html", _values), access=PageAccess.DEVELOPER),
    PageRoute(path=_NEW, view=send, access=PageAccess.DEVELOPER, method="POST", once=True),
    PageRoute(path=f"{_NEW}/count", view=count, access=PageAccess.DEVELOPER, method="POST"),
)
