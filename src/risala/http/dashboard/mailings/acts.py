"""What members do with a mailing: change it, have its file read in another way, send it, and end
it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.mailings import records as mailings
from risala.engine.model.errors import Invalid, Refusal
from risala.http.dashboard.mailings import one
from risala.http.dashboard.mailings.rows import id_of
from risala.http.dashboard.mailings.words import SEPARATOR_NAMES
from risala.http.web.editing.edit_conflict import as_seen
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, PageView

TEXT_SAVED: Final = N_("The text is saved. Every row is checked with it.")
SAVED: Final = N_("The changes are saved.")
READ: Final = N_("The file is read again.")
STARTED: Final = N_("It is being sent. You can leave this page; it goes on.")
PAUSED: Final = N_("It is paused: no further message is made.")
GOES_ON: Final = N_("It goes on.")
STOPPED: Final = N_("It is stopped. The rows that were left are not sent.")
AGAIN: Final = N_("This is a new draft with those that failed. Nothing is sent yet.")
DELETED: Final = N_("The mailing is deleted.")
QUESTIONS: Final = ("start", "stop", "delete")


async def set_text(visit: PageRequest) -> TrioResponse:
    form = visit.form
    asked = {"text": form.text("body"), "from": form.text("from") or None, **as_seen(form)}
    return await _set(visit, asked, TEXT_SAVED, "#text")


async def set_rest(visit: PageRequest) -> TrioResponse:
    form, at = visit.form, visit.form.text("send_at")
    try:
        asked = {
            "name": form.text("name"),
            "pace": _whole(visit, "pace"),
            "from_hour": _whole(visit, "from_hour"),
            "to_hour": _whole(visit, "to_hour"),
            "send_at": visit.formats.with_zone(at) if at else None,
            **as_seen(form),
        }
    except Invalid as error:
        return await one.again(visit, error)
    return await _set(visit, asked, SAVED, "#when")


def _whole(visit: PageRequest, name: str) -> int | None:
    """A number of a field; None: it is empty.

    Raises:
        Invalid: it is no number.
    """
    typed = visit.form.text(name)
    try:
        return int(typed) if typed else None
    except ValueError:
        raise Invalid(name, "invalid_rate", "This is no number.") from None


async def _set(
    visit: PageRequest, asked: Mapping[str, object], said: str, part: str
) -> TrioResponse:
    try:
        await visit.ask(mailings.SET, mailing_id=id_of(visit), **asked)
    except Refusal as error:
        return await one.again(visit, error)
    return visit.go(visit.at(f"mailings/{id_of(visit)}") + part, said)


async def read(visit: PageRequest) -> TrioResponse:
    """Have the file read as the form says; nothing chosen: as it looks."""
    form = visit.form
    asked: dict[str, object] = {**form.filled("encoding", "sheet")}
    if separator := SEPARATOR_NAMES.get(form.text("separator")):
        asked["separator"] = separator
    if (column := form.text("number_column")).isdigit():
        asked["number_column"] = int(column)
    if form.text("has_header") in ("yes", "no"):
        asked["has_header"] = form.text("has_header") == "yes"
    if form.text("with_hidden"):
        asked["with_hidden"] = form.text("with_hidden") == "yes"
    try:
        await visit.ask(mailings.READ, mailing_id=id_of(visit), **asked)
    except Refusal as error:
        return await one.again(visit, error)
    return visit.go(visit.at(f"mailings/{id_of(visit)}"), READ)


def _question(name: str) -> PageView:
    """A question as a page: for browsers without script."""

    async def ask(visit: PageRequest) -> TrioResponse:
        found = await one.view_of(visit)
        values = one.progress_of(visit, found.value)
        return await visit.page("mailings/ask.html", values, asked=name, version=found.version)

    return ask


async def start(visit: PageRequest) -> TrioResponse:
    seen = as_seen(visit.form)
    try:
        await visit.ask(mailings.START, mailing_id=id_of(visit), **seen)
    except Refusal as error:
        return await one.again(visit, error)
    return _done(visit, STARTED)


async def pause(visit: PageRequest) -> TrioResponse:
    await visit.ask(mailings.PAUSE, mailing_id=id_of(visit))
    return _done(visit, PAUSED)


async def go_on(visit: PageRequest) -> TrioResponse:
    await visit.ask(mailings.GO_ON, mailing_id=id_of(visit))
    return _done(visit, GOES_ON)


async def stop(visit: PageRequest) -> TrioResponse:
    await visit.ask(mailings.STOP, mailing_id=id_of(visit))
    return _done(visit, STOPPED)


async def send_again(visit: PageRequest) -> TrioResponse:
    """A new draft with the rows that failed."""
    try:
        made = await visit.ask(mailings.AGAIN, mailing_id=id_of(visit))
    except Refusal as error:
        return await one.again(visit, error)
    return visit.go(visit.at(f"mailings/{made.id}"), AGAIN)


async def delete(visit: PageRequest) -> TrioResponse:
    await visit.ask(mailings.DELETE, mailing_id=id_of(visit))
    return visit.go(visit.at("mailings"), DELETED)


def _done(visit: PageRequest, said: str) -> TrioResponse:
    return visit.go(visit.at(f"mailings/{id_of(visit)}"), said)


_ONE: Final = "/app/<org>/mailings/<mailing_id>"
_DEVELOPER: Final = PageAccess.DEVELOPER
_ACTS: Final[dict[str, PageView]] = {
    "text": set_text,
    "settings": set_rest,
    "read": read,
    "pause": pause,
    "go-on": go_on,
    "stop": stop,
    "delete": delete,
}
ROUTES: Final = (
    *(
        PageRoute(path=f"{_ONE}/{name}", view=_question(name), access=_DEVELOPER)
        for name in QUESTIONS
    ),
    *(
        PageRoute(path=f"{_ONE}/{name}", view=view, access=_DEVELOPER, method="POST")
        for name, view in _ACTS.items()
    ),
    *(
        PageRoute(path=f"{_ONE}/{name}", view=view, access=_DEVELOPER, method="POST", once=True)
        for name, view in (("start", start), ("again", send_again))
    ),
)
