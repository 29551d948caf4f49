"""Sender names: the state of each, and requests for new ones, checked automatically first."""

from __future__ import annotations

import math
from typing import Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records import senders
from risala.engine.model.records.senders import SendingVolume
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.sms.address import SENDER_MAX

ASKED: Final = N_("The request is sent. We look at it and answer here.")
FAULTS: Final = {
    "rule": N_("Use only letters without accents, digits and spaces, and at least one letter."),
    "default": N_("This is our own name: everybody may use it without asking."),
    "taken": N_("This name is on your account already."),
}
MARKS: Final = {
    "generic": N_("The name is generic: anybody could use it. We refuse such names as a rule."),
    "default": N_("The name resembles our own. We refuse such names as a rule."),
    "protected": N_(
        "The name resembles a bank, a network or an authority. We ask for a proof that it is yours."
    ),
}
REASONS: Final = (
    N_("The name is already used by another organization."),
    N_("The name is generic, misleading or impersonates a third party."),
    N_("The use does not comply with Mauritanian telecommunications regulations."),
    N_("The use does not comply with the country's telecommunications regulations."),
    N_("Account information is insufficient to verify ownership of the brand."),
)
"""Why requests are denied: the engine's own sentences, for the catalogue."""
_DAY_MS: Final = 86_400_000
_WEEK_DAYS: Final = 7


async def show(request: PageRequest) -> TrioResponse:
    listed = (await request.ask_here(senders.LIST)).senders
    volume = await request.ask_here(senders.VOLUME)
    return await request.page(
        "senders/list.html",
        senders=listed,
        waiting=[each for each in listed if each.status == "pending"],
        volume=volume,
        sent={each.name: each for each in volume.names},
        reached_at=_reached_at(request, volume),
    )


def _reached_at(request: PageRequest, volume: SendingVolume) -> int | None:
    """When a week will have enough messages at the last day's pace; None: never."""
    daily, weekly, needed = volume.daily, volume.weekly, volume.needed
    if weekly >= needed or daily * _WEEK_DAYS < needed:
        return None
    more_a_day = daily - weekly / _WEEK_DAYS
    days: int = min(math.ceil((needed - weekly) / more_a_day), _WEEK_DAYS)
    return request.formats.now_ms + days * _DAY_MS


async def show_new(request: PageRequest) -> TrioResponse:
    return await request.page("senders/new.html", form=request.form, fault=None, doubts=[])


async def check(request: PageRequest) -> TrioResponse:
    """The objections to the name being typed."""
    fault, doubts = await _judge(request)
    return await request.piece("senders/said.html", fault=fault, doubts=doubts)


async def _judge(request: PageRequest) -> tuple[Markup | None, list[Markup]]:
    name = request.form.text("name")
    if not name:
        return None, []
    check = await request.ask_here(senders.CHECK, name=name)
    return _name_fault(request, name, check.fault), [
        request.words(MARKS[mark]) for mark in check.marks if mark in MARKS
    ]


def _name_fault(request: PageRequest, name: str, fault: str | None) -> Markup | None:
    """What is wrong with a name: not the hint over again where its length is the fault."""
    if fault == "rule" and len(name) > SENDER_MAX:
        return request.words(
            "The name has {count} characters; the maximum is {most}.",
            count=request.formats.num(len(name)),
            most=request.formats.num(SENDER_MAX),
        )
    return None if fault is None else request.words(FAULTS[fault])


async def ask(request: PageRequest) -> TrioResponse:
    form = request.form
    fault, doubts = await _judge(request)
    values: dict[str, object] = {"form": form, "fault": None, "doubts": doubts}
    if fault is not None:
        return await request.wrong("senders/new.html", {"name": fault}, values)
    if doubts and not form.ticked("sure"):
        sentence = request.words("Look again at the objections to the name.")
        return await request.wrong("senders/new.html", {"": sentence}, values)
    try:
        await request.ask_here(
            senders.REQUEST, name=form.text("name"), description=form.text("description")
        )
    except Refusal as error:
        return await request.again("senders/new.html", error, values)
    return request.go(request.at("senders"), ASKED)


_PAGE: Final = "/app/<org>/senders"
ROUTES: Final = (
    PageRoute(path=_PAGE, view=show, access=PageAccess.VIEWER),
    PageRoute(path=_PAGE, view=ask, access=PageAccess.DEVELOPER, method="POST", once=True),
    PageRoute(path=f"{_PAGE}/new", view=show_new, access=PageAccess.DEVELOPER),
    PageRoute(path=f"{_PAGE}/check", view=check, access=PageAccess.DEVELOPER),
)
