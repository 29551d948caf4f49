"""Writing a message, to one person or to many: its cost is shown before sending, and counted again
by the server.

One number is sent a message at once. Many numbers, a list or a file become the draft of a mailing,
whose page shows each person's text and the price before anything is sent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.lists.records import RecipientList, SavedText
from risala.engine.features.tables.records import FILE_BYTES_MAX
from risala.engine.model.errors import Invalid, Refusal
from risala.engine.model.records import messages, senders
from risala.engine.model.records.ledger import PRICE
from risala.engine.model.records.messages import Estimate
from risala.engine.model.records.people.countries import CountryUse
from risala.engine.model.states import Mode
from risala.engine.model.times import iso
from risala.http.dashboard.abroad import OpenCountry, open_abroad
from risala.http.web.face import PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.numbering.written import entries
from risala.sms.typed import Purpose, typed

ACCEPTED: Final = N_("The message is accepted. What happens to it appears on this page.")
_TEMPLATE: Final = "messages/new.html"


async def send(request: PageRequest) -> TrioResponse:
    lists = await _lists(request)
    try:
        if request.form.file_refusal is not None:
            raise request.form.file_refusal
        recipients = recipients_of(request.form, lists)
        if recipients.number is None:
            return await _draft(request, recipients)
        arguments = {**_message(request, "body"), "to": recipients.number}
        if at := request.form.text("send_at"):
            arguments["send_at"] = _moment(request, at)
        sent = await request.ask_here(messages.SEND, **arguments)
    except Refusal as error:
        # A file that cannot be read is not kept: another one is chosen.
        is_unread = isinstance(error, Invalid) and error.faults[0].path == "file"
        gone: dict[str, object] = {"upload": ""} if is_unread else {}
        return await request.again(_TEMPLATE, error, {**await _values(request), **gone})
    return request.go(request.at(f"messages/{sent.message_id}"), ACCEPTED)


async def _draft(request: PageRequest, recipients: Recipients) -> TrioResponse:
    """Have a draft made for many people, and go to its page."""
    at = request.form.text("send_at")
    arguments = {**_message(request, "text"), **recipients.source}
    send_at = _moment(request, at) if at else None
    gone: TrioResponse = await request.hand_over("many people", arguments, send_at)
    return gone


def _message(request: PageRequest, text: str) -> dict[str, object]:
    """What a message and a mailing have in common, with the name that the text has there."""
    arguments: dict[str, object] = {text: request.form.text("body"), "mode": request.mode.value}
    if sender := request.form.text("from"):
        arguments["from"] = sender
    return arguments


async def count(request: PageRequest) -> TrioResponse:
    """The composer with the text counted by the server, or with a saved text in it: for browsers
    without script."""
    if request.form.file_refusal is not None:
        return await request.again(_TEMPLATE, request.form.file_refusal, await _values(request))
    try:
        columns = await _columns(request)
    except Invalid as error:  # the file is no table, and is not kept
        return await request.again(_TEMPLATE, error, {**await _values(request), "upload": ""})
    return await request.page(_TEMPLATE, {**await _values(request), "columns": columns})


async def _columns(request: PageRequest) -> tuple[str, ...]:
    """The columns of the file that came with the form which a text can name.

    Raises:
        Invalid: it is no table of people; nothing of it is left.
    """
    upload = upload_of(request.form)
    if not upload or request.form.ticked("drop_file"):
        return ()
    try:
        names: tuple[str, ...] = await request.hand_over("columns of a file", upload)
    except Invalid:
        raise
    except Refusal:  # the draft's page names them, or says why it cannot be made
        return ()
    return names


def _moment(request: PageRequest, typed: str) -> str:
    """A time of the organization's clock, as operations take it."""
    try:
        at = datetime.fromisoformat(typed).replace(tzinfo=request.formats.zone)
        return iso(round(at.timestamp() * 1000))
    except (ValueError, OverflowError):
        return typed


async def _values(request: PageRequest) -> dict[str, object]:
    names = (await request.ask_here(senders.LIST)).senders
    price = request.organization.price_per_segment
    if price is None:
        price = (await request.ask(PRICE)).per_segment
    is_free = request.mode is Mode.TEST or request.is_self_paid
    approved = [each.name for each in names if each.status == "approved"]
    abroad = await open_abroad(request, CountryUse.SEND)
    texts = await _texts(request)
    body = _body(request, texts)
    # The first approved name is the default of a form that was just opened.
    is_opened = request.http.method == "GET" and not request.form.text("from")
    return {
        "form": request.form,
        "body": body,
        "text_max": TEXT_CHARACTERS_MAX,
        "leaves": request.formats.chosen_text(request.form.text("send_at")),
        "sender": approved[0] if is_opened and approved else request.form.text("from"),
        "is_too_little": not is_free and request.organization.balance < price,
        "price_minor": None if is_free else price,
        "estimate": await _estimate(request, body, abroad),
        "abroad": abroad,
        "prefixes": None if abroad is None else [each for one in abroad for each in one.prices],
        "senders": [(name, name) for name in approved],
        "lists": [
            (each.id, f"{each.name} ({request.formats.plain(each.people)})")
            for each in await _lists(request)
        ],
        "texts": texts,
        "columns": (),
        **_sent_file(request),
    }


def _sent_file(request: PageRequest) -> dict[str, object]:
    """The file that came with the form before: it need not be chosen again."""
    is_dropped = request.form.ticked("drop_file")
    return {
        "upload": "" if is_dropped else upload_of(request.form),
        "upload_name": file_name_of(request.form),
        "file_bytes_max": FILE_BYTES_MAX,
    }


def _body(request: PageRequest, texts: tuple[SavedText, ...]) -> str:
    """The text, with the saved one that was just chosen."""
    body = request.form.text("body")
    if column := request.form.text("column"):
        return f"{body} {{{{{column}}}}}".lstrip()
    is_asked = request.form.ticked("insert") or request.http.method == "GET"
    chosen = [each.text for each in texts if each.id == request.form.text("saved")]
    if not is_asked or not chosen:
        return body
    return f"{body}\n{chosen[0]}" if body else chosen[0]


async def _lists(request: PageRequest) -> tuple[RecipientList, ...]:
    return (await request.ask_here(recipient_lists.LIST)).lists


async def _texts(request: PageRequest) -> tuple[SavedText, ...]:
    return (await request.ask_here(recipient_lists.TEXT_LIST)).texts


async def _estimate(
    request: PageRequest, body: str, abroad: list[OpenCountry] | None
) -> Estimate | None:
    if not body:
        return None
    to = request.form.text("to") or None
    # Where home alone is served, the price is the same for each number, also for a half typed one.
    recipient = {} if abroad is None else {"to": to}
    try:
        estimate = await request.ask_here(messages.ESTIMATE, body=body, **recipient)
    except Refusal:  # the page shows the errors of the text itself, and of the number
        return None
    return estimate


_NEW: Final = "/app/<org>/messages/new"
_DEVELOPER: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(path=_NEW, view=shows(_TEMPLATE, _values), access=_DEVELOPER),
    PageRoute(path=_NEW, view=send, access=_DEVELOPER, method="POST", once=True, takes_file=True),
    PageRoute(path=f"{_NEW}/count", view=count, access=_DEVELOPER, method="POST", takes_file=True),
)


# Who a new message goes to: what was typed, chosen or sent into the composer's one field.

_is_number: Final = re.compile(r"[^\d]*(?:\d[^\d]*){7,}").fullmatch
"""What is meant to be a number, whatever letters are in it: a list's name has fewer digits."""


@dataclass(frozen=True, slots=True)
class Recipients:
    """One number, or one of the sources of a mailing."""

    number: str | None = None
    numbers: str | None = None
    """Many numbers, one a line."""
    list_id: str | None = None
    upload: str | None = None

    @property
    def source(self) -> dict[str, str]:
        """The source, as an argument of ``mailing.create``; empty for one number."""
        sources = {"numbers": self.numbers, "list_id": self.list_id, "upload": self.upload}
        return {name: value for name, value in sources.items() if value is not None}


def recipients_of(form: SentForm, lists: Sequence[RecipientList]) -> Recipients:
    """What a form means.

    Raises:
        Invalid: it names nobody, more than one of them, or a list that does not exist.
    """
    written, chosen, upload = form.text("to"), form.text("list"), upload_of(form)
    if sum(map(bool, (written, chosen, upload))) > 1:
        raise Invalid("to", "several_sources", "Numbers, a list or a file: only one of them.")
    if upload:
        return Recipients(upload=upload)
    if chosen:
        return Recipients(list_id=chosen)
    name = typed(written, Purpose.HEADING)
    named = [each.id for each in lists if typed(each.name, Purpose.HEADING) == name]
    if named:
        return Recipients(list_id=named[0])
    several = entries(written)
    if not several:
        raise Invalid("to", "missing", "`to` is required.")
    if len(several) > 1:
        return Recipients(numbers="\n".join(several))
    if any(letter.isalpha() for letter in written) and not _is_number(written):
        raise Invalid("to", "unknown_list", "There is no list of this name.")
    return Recipients(number=several[0])


def upload_of(form: SentForm) -> str:
    """The upload of the file that came with the form, or with the form before it; or empty."""
    return form.file.upload_id if form.file is not None else form.text("upload")


def file_name_of(form: SentForm) -> str:
    """The name of that file."""
    return form.file.name if form.file is not None else form.text("upload_name")
