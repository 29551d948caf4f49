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
from risala.engine.features.mailings import records as mailings
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
WITHOUT_TIME: Final = N_("The draft is made, but it cannot begin at that time. Choose another one.")
_TEMPLATE: Final = "messages/new.html"


async def send(visit: PageRequest) -> TrioResponse:
    lists = await _lists(visit)
    try:
        if visit.form.file_refusal is not None:
            raise visit.form.file_refusal
        recipients = recipients_of(visit.form, lists)
        if recipients.number is None:
            return await _draft(visit, recipients)
        asked = {**_message(visit, "body"), "to": recipients.number}
        if at := visit.form.text("send_at"):
            asked["send_at"] = _moment(visit, at)
        sent = await visit.ask_here(messages.SEND, **asked)
    except Refusal as error:
        # A file that cannot be read is not kept: another one is chosen.
        is_unread = isinstance(error, Invalid) and error.faults[0].path == "file"
        gone: dict[str, object] = {"upload": ""} if is_unread else {}
        return await visit.again(_TEMPLATE, error, {**await _values(visit), **gone})
    return visit.go(visit.at(f"messages/{sent.message_id}"), ACCEPTED)


async def _draft(visit: PageRequest, recipients: Recipients) -> TrioResponse:
    """Make a mailing's draft, and go to its page."""
    made = await visit.ask_here(mailings.CREATE, **_message(visit, "text"), **recipients.source)
    said = None
    if at := visit.form.text("send_at"):
        try:
            await visit.ask(mailings.SET, mailing_id=made.id, send_at=_moment(visit, at))
        except Refusal:
            said = WITHOUT_TIME
    return visit.go(visit.at(f"mailings/{made.id}"), said)


def _message(visit: PageRequest, text: str) -> dict[str, object]:
    """What a message and a mailing have in common, with the name that the text has there."""
    asked: dict[str, object] = {text: visit.form.text("body"), "mode": visit.mode.value}
    if sender := visit.form.text("from"):
        asked["from"] = sender
    return asked


async def count(visit: PageRequest) -> TrioResponse:
    """The same page with the text counted by the server, or with a saved text in it: for browsers
    without script."""
    if visit.form.file_refusal is not None:
        return await visit.again(_TEMPLATE, visit.form.file_refusal, await _values(visit))
    try:
        columns = await _columns(visit)
    except Invalid as error:  # the file is no table, and is not kept
        return await visit.again(_TEMPLATE, error, {**await _values(visit), "upload": ""})
    return await visit.page(_TEMPLATE, {**await _values(visit), "columns": columns})


async def _columns(visit: PageRequest) -> tuple[str, ...]:
    """The columns of the file that came with the form which a text can name.

    Raises:
        Invalid: it is no table of people; nothing of it is left.
    """
    upload = upload_of(visit.form)
    if not upload or visit.form.ticked("drop_file"):
        return ()
    try:
        found = await visit.ask_here(mailings.COLUMNS, upload=upload)
    except Invalid:
        raise
    except Refusal:  # the draft's page names them, or says why it cannot be made
        return ()
    return tuple(name for place, name in enumerate(found.columns) if place != found.number_column)


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
    is_free = visit.mode is Mode.TEST or visit.is_self_paid
    approved = [each.name for each in names if each.status == "approved"]
    abroad = await open_abroad(visit, CountryUse.SEND)
    texts = await _texts(visit)
    body = _body(visit, texts)
    # The first approved name is the default of a form that was just opened.
    is_opened = visit.http.method == "GET" and not visit.form.text("from")
    return {
        "form": visit.form,
        "body": body,
        "text_max": TEXT_CHARACTERS_MAX,
        "leaves": visit.formats.chosen_text(visit.form.text("send_at")),
        "sender": approved[0] if is_opened and approved else visit.form.text("from"),
        "is_too_little": not is_free and visit.organization.balance < price,
        "price_minor": None if is_free else price,
        "estimate": await _estimate(visit, body, abroad),
        "abroad": abroad,
        "prefixes": None if abroad is None else [each for one in abroad for each in one.prices],
        "senders": [(name, name) for name in approved],
        "lists": [
            (each.id, f"{each.name} ({visit.formats.plain(each.people)})")
            for each in await _lists(visit)
        ],
        "texts": texts,
        "columns": (),
        **_sent_file(visit),
    }


def _sent_file(visit: PageRequest) -> dict[str, object]:
    """The file that came with the form before: it need not be chosen again."""
    is_dropped = visit.form.ticked("drop_file")
    return {
        "upload": "" if is_dropped else upload_of(visit.form),
        "upload_name": file_name_of(visit.form),
        "file_bytes_max": FILE_BYTES_MAX,
    }


def _body(visit: PageRequest, texts: tuple[SavedText, ...]) -> str:
    """The text, with the saved one that was just chosen."""
    body = visit.form.text("body")
    if column := visit.form.text("column"):
        return f"{body} {{{{{column}}}}}".lstrip()
    is_asked = visit.form.ticked("insert") or visit.http.method == "GET"
    chosen = [each.text for each in texts if each.id == visit.form.text("saved")]
    if not is_asked or not chosen:
        return body
    return f"{body}\n{chosen[0]}" if body else chosen[0]


async def _lists(visit: PageRequest) -> tuple[RecipientList, ...]:
    return (await visit.ask_here(recipient_lists.LIST)).lists


async def _texts(visit: PageRequest) -> tuple[SavedText, ...]:
    return (await visit.ask_here(recipient_lists.TEXT_LIST)).texts


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
        found = {"numbers": self.numbers, "list_id": self.list_id, "upload": self.upload}
        return {name: value for name, value in found.items() if value is not None}


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
    found = entries(written)
    if not found:
        raise Invalid("to", "missing", "`to` is required.")
    if len(found) > 1:
        return Recipients(numbers="\n".join(found))
    if any(letter.isalpha() for letter in written) and not _is_number(written):
        raise Invalid("to", "unknown_list", "There is no list of this name.")
    return Recipients(number=found[0])


def upload_of(form: SentForm) -> str:
    """The upload of the file that came with the form, or with the form before it; or empty."""
    return form.file.upload_id if form.file is not None else form.text("upload")


def file_name_of(form: SentForm) -> str:
    """The name of that file."""
    return form.file.name if form.file is not None else form.text("upload_name")
