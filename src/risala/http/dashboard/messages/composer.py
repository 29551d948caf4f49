"""Writing a message: what it costs is said before it is sent, and counted again by us."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.clock import iso
from risala.engine.model.commands import Mode
from risala.engine.model.errors import Refusal
from risala.http.web.access import PageAccess
from risala.http.web.languages import N_
from risala.http.web.routes import PageRoute
from risala.http.web.visit import Visit
from risala.sms.address import normalise_number

ACCEPTED: Final = N_("The message is accepted. What happens to it appears on this page.")


async def show(visit: Visit) -> TrioResponse:
    if visit.mode is Mode.TEST:  # what is sent by hand reaches a phone and costs money
        return visit.go(f"/app/{visit.organization_id}/messages/new")
    return await visit.page("messages/new.html", await _values(visit))


async def send(visit: Visit) -> TrioResponse:
    form = visit.form
    asked: dict[str, object] = {"to": _number(form.text("to")), "body": form.text("body")}
    if sender := form.text("from"):
        asked["from"] = sender
    if at := form.text("send_at"):
        asked["send_at"] = _moment(visit, at)
    try:
        sent = await visit.perform_here("send", **asked)
    except Refusal as error:
        return await visit.again("messages/new.html", error, await _values(visit))
    return visit.go(f"/app/{visit.organization_id}/messages/{sent['messageId']}", ACCEPTED)


def _number(typed: str) -> str:
    """The number that was meant; what is none is refused with the words of the operation."""
    try:
        return normalise_number(typed)
    except ValueError:
        return typed


def _moment(visit: Visit, typed: str) -> str:
    """A time of the organization's clock, as operations take it."""
    try:
        at = datetime.fromisoformat(typed).replace(tzinfo=visit.formats.zone)
        return iso(round(at.timestamp() * 1000))
    except (ValueError, OverflowError):
        return typed


async def _values(visit: Visit) -> dict[str, object]:
    senders = (await visit.perform_here("sender.list")).get("senders", [])
    own = visit.organization.get("pricePerSegment")
    price = own or (await visit.perform("price")).get("perSegment", "0")
    return {
        "form": visit.form,
        "price_minor": int(Decimal(price) * 100),
        "senders": [
            (each["name"], each["name"]) for each in senders if each["status"] == "approved"
        ],
    }


_NEW: Final = "/app/<org>/messages/new"
ROUTES: Final = (
    PageRoute(path=_NEW, view=show, access=PageAccess.DEVELOPER),
    PageRoute(path=_NEW, view=send, access=PageAccess.DEVELOPER, method="POST", once=True),
)
