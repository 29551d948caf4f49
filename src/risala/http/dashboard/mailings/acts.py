"""What members do with a mailing: draft it from a message to many people, change it, have its file
read in another way, send it, and end it."""

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


async def set_text(request: PageRequest) -> TrioResponse:
    form = request.form
    changes = {"text": form.text("body"), "from": form.text("from") or None, **as_seen(form)}
    return await _set(request, changes, TEXT_SAVED, "#text")


async def set_rest(request: PageRequest) -> TrioResponse:
    form, at = request.form, request.form.text("send_at")
    try:
        changes = {
            "name": form.text("name"),
            "pace": _whole(request, "pace"),
            "from_hour": _whole(request, "from_hour"),
            "to_hour": _whole(request, "to_hour"),
            "send_at": request.formats.with_zone(at) if at else None,
            **as_seen(form),
        }
    except Invalid as error:
        return await one.again(request, error)
    return await _set(request, changes, SAVED, "#when")


def _whole(request: PageRequest, name: str) -> int | None:
    """A number of a field; None: it is empty.

    Raises:
        Invalid: it is no number.
    """
    typed = request.form.text(name)
    try:
        return int(typed) if typed else None
    except ValueError:
        raise Invalid(name, "invalid_rate", "This is no number.") from None


async def _set(
    request: PageRequest, changes: Mapping[str, object], notice: str, part: str
) -> TrioResponse:
    try:
        await request.ask(mailings.SET, mailing_id=id_of(request), **changes)
    except Refusal as error:
        return await one.again(request, error)
    return request.go(request.at(f"mailings/{id_of(request)}") + part, notice)


async def read(request: PageRequest) -> TrioResponse:
    """Have the file read as the form says; nothing chosen: as it looks."""
    form = request.form
    arguments: dict[str, object] = {**form.filled("encoding", "sheet")}
    if separator := SEPARATOR_NAMES.get(form.text("separator")):
        arguments["separator"] = separator
    if (column := form.text("number_column")).isdigit():
        arguments["number_column"] = int(column)
    if form.text("has_header") in ("yes", "no"):
        arguments["has_header"] = form.text("has_header") == "yes"
    if form.text("with_hidden"):
        arguments["with_hidden"] = form.text("with_hidden") == "yes"
    try:
        await request.ask(mailings.READ, mailing_id=id_of(request), **arguments)
    except Refusal as error:
        return await one.again(request, error)
    return request.go(request.at(f"mailings/{id_of(request)}"), READ)


def _question(name: str) -> PageView:
    """A question as a page: for browsers without script."""

    async def ask(request: PageRequest) -> TrioResponse:
        versioned = await one.view_of(request)
        values = one.progress_of(request, versioned.value)
        return await request.page(
            "mailings/ask.html", values, asked=name, version=versioned.version
        )

    return ask


async def start(request: PageRequest) -> TrioResponse:
    seen = as_seen(request.form)
    try:
        await request.ask(mailings.START, mailing_id=id_of(request), **seen)
    except Refusal as error:
        return await one.again(request, error)
    return _done(request, STARTED)


async def pause(request: PageRequest) -> TrioResponse:
    await request.ask(mailings.PAUSE, mailing_id=id_of(request))
    return _done(request, PAUSED)


async def go_on(request: PageRequest) -> TrioResponse:
    await request.ask(mailings.GO_ON, mailing_id=id_of(request))
    return _done(request, GOES_ON)


async def stop(request: PageRequest) -> TrioResponse:
    await request.ask(mailings.STOP, mailing_id=id_of(request))
    return _done(request, STOPPED)


async def send_again(request: PageRequest) -> TrioResponse:
    """A new draft with the rows that failed."""
    try:
        made = await request.ask(mailings.AGAIN, mailing_id=id_of(request))
    except Refusal as error:
        return await one.again(request, error)
    return request.go(request.at(f"mailings/{made.id}"), AGAIN)


async def delete(request: PageRequest) -> TrioResponse:
    await request.ask(mailings.DELETE, mailing_id=id_of(request))
    return request.go(request.at("mailings"), DELETED)


def _done(request: PageRequest, notice: str) -> TrioResponse:
    return request.go(request.at(f"mailings/{id_of(request)}"), notice)


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


WITHOUT_TIME: Final = N_("The draft is made, but it cannot begin at that time. Choose another one.")


async def draft(
    request: PageRequest, arguments: Mapping[str, object], send_at: str | None
) -> TrioResponse:
    """Make it, and go to its page.

    Args:
        asked: the arguments of ``mailing.create``.
        send_at: when it begins, as operations take it; None: when its sender says so.
    """
    made = await request.ask_here(mailings.CREATE, **arguments)
    notice = None
    if send_at is not None:
        try:
            await request.ask(mailings.SET, mailing_id=made.id, send_at=send_at)
        except Refusal:
            notice = WITHOUT_TIME
    return request.go(request.at(f"mailings/{made.id}"), notice)


async def columns(request: PageRequest, upload: str) -> tuple[str, ...]:
    """The columns of an uploaded file that a text can name.

    Raises:
        Invalid: it is no table of people; nothing of it is left.
    """
    sheet = await request.ask_here(mailings.COLUMNS, upload=upload)
    return tuple(name for place, name in enumerate(sheet.columns) if place != sheet.number_column)
