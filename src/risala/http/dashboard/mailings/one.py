"""One mailing: what it is before it is sent, how far it is, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.records import (
    MailingSource,
    MailingState,
    MailingView,
    Person,
)
from risala.engine.model.commands import LifeEvent
from risala.engine.model.errors import Refusal
from risala.engine.model.following import OutboxEvent
from risala.engine.model.records import senders
from risala.engine.model.records.asks import Versioned
from risala.engine.model.states import Mode
from risala.http.dashboard.mailings.rows import ROW_PLACE, id_of, page_of_rows
from risala.http.dashboard.mailings.words import (
    BADGES,
    ENCODINGS,
    SEPARATOR_NAMES,
    SEPARATORS,
    SOURCES,
    URGENT,
    WAITS,
)
from risala.http.web.charts import Bar, top_of
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.sms.limits import TEXT_CHARACTERS_MAX

BEAT_S: Final = 2.0
"""How often its progress is drawn: reading it costs more than the line that changes."""
STEPS: Final = ("next", "previous", "random")
HOURS: Final = range(25)
ENDED: Final = frozenset({MailingState.STOPPED, MailingState.DONE})
BEFORE: Final = frozenset({MailingState.CHECKING, MailingState.DRAFT})


async def show(request: PageRequest) -> TrioResponse:
    versioned = await view_of(request)
    if versioned.value.mailing.mode is not request.mode:  # one of tests is shown in test mode
        mode = "?mode=test" if versioned.value.mailing.mode is Mode.TEST else ""
        return request.go(f"{request.http.path}{mode}")
    return await request.page("mailings/show.html", await values_of(request, versioned))


async def again(request: PageRequest, error: Refusal) -> TrioResponse:
    """The page of a refused form."""
    return await request.again("mailings/show.html", error, await values_of(request))


async def live(request: PageRequest) -> TrioResponse:
    mailing_id = (await view_of(request)).value.mailing.id  # a missing one opens no stream
    drawn_ms = 0

    async def draw(_: Sequence[LifeEvent | OutboxEvent] | None) -> str:
        nonlocal drawn_ms
        now_ms = request.site.clock.now_ms()
        if now_ms - drawn_ms < BEAT_S * 1000 and drawn_ms:
            return ""
        drawn_ms = now_ms
        view = await request.ask(mailings.SHOW, mailing_id=mailing_id)
        return await request.drawn("mailings/pieces.html", progress_of(request, view))

    return request.live(draw, by_time=True, beat_s=BEAT_S)


async def view_of(request: PageRequest) -> Versioned[MailingView]:
    return await request.ask_to_edit(mailings.SHOW, mailing_id=id_of(request))


async def values_of(
    request: PageRequest, versioned: Versioned[MailingView] | None = None
) -> dict[str, object]:
    """The values of its page, with those of a form that was just refused."""
    versioned = versioned or await view_of(request)
    mailing = versioned.value.mailing
    names = (await request.ask_here(senders.LIST)).senders
    approved = [each.name for each in names if each.status == "approved"]
    texts = await request.ask_here(recipient_lists.TEXT_LIST)
    return {
        **progress_of(request, versioned.value),
        **_as_read(request, versioned.value),
        **await page_of_rows(request, mailing),
        "version": versioned.version,
        "form": request.form,
        "is_refused": request.http.method == "POST",
        "text_max": TEXT_CHARACTERS_MAX,
        "person": await _person(request, versioned.value),
        "senders": [(name, name) for name in approved],
        "texts": texts.texts,
        "hours": [(str(each), f"{each:02}:00") for each in HOURS],
        "send_at": "" if mailing.send_at is None else request.formats.field_text(mailing.send_at),
        "zone": request.formats.city,
    }


def progress_of(request: PageRequest, view: MailingView) -> dict[str, object]:
    """The values of the parts that change by themselves."""
    mailing, outcomes = view.mailing, view.outcomes
    look, word = BADGES[mailing.state]
    is_waiting = mailing.state is MailingState.SENDING and mailing.wait is not None
    wait = mailing.wait if is_waiting else None
    is_test = mailing.mode is Mode.TEST
    return {
        "view": view,
        "run_top": top_of([Bar((each.made,)) for each in view.run]),
        "mailing": mailing,
        "outcomes": outcomes,
        "look": look,
        "word": request.words.among("state of a mailing", word),
        "source": request.words(SOURCES[mailing.source]),
        "wait": wait,
        "wait_text": None if wait is None else request.words(WAITS[wait]),
        "is_urgent": wait in URGENT,
        "is_before": mailing.state in BEFORE,
        "is_ended": mailing.state in ENDED,
        "is_going": mailing.state in (MailingState.SENDING, MailingState.PAUSED),
        "is_free": is_test,
        "people": mailing.ready + mailing.accepted + mailing.refused,
        "treated": mailing.accepted + mailing.refused,
        "left": view.balance if is_test else view.balance - mailing.price,
        "unsent": outcomes.failed + mailing.refused,
        "here": f"mailings/{mailing.id}",
        "live_at": request.at(f"mailings/{mailing.id}/live"),
    }


def _as_read(request: PageRequest, view: MailingView) -> dict[str, object]:
    """How its file was read, with the other choices."""
    mailing, words = view.mailing, request.words
    is_text = mailing.encoding in ENCODINGS
    names = {sign: name for name, sign in SEPARATOR_NAMES.items()}
    return {
        "is_read": mailing.source is MailingSource.FILE and mailing.state is MailingState.DRAFT,
        "encodings": [(each, words(label)) for each, label in ENCODINGS.items()] if is_text else [],
        "separators": [
            (names[each], words(label)) for each, label in SEPARATORS.items() if is_text
        ],
        "separator": names.get(mailing.separator or "", ""),
        "sheets": [(each, each) for each in mailing.sheets],
        "columns": [(str(place), name) for place, name in enumerate(mailing.columns)],
        "placeholders": [
            name for place, name in enumerate(mailing.columns) if place != mailing.number_column
        ],
    }


async def _person(request: PageRequest, view: MailingView) -> Person | None:
    """The person whose text is shown; None: the mailing has nobody to show."""
    mailing = view.mailing
    if not mailing.keeps_rows or mailing.state is MailingState.CHECKING:
        return None
    if not mailing.ready + mailing.accepted:
        return None
    arguments: dict[str, object] = {"place": 1}
    row, step = request.form.text("row"), request.form.text("step")
    if row.isascii() and row.isdigit():
        arguments = {"row": int(row), **({"step": step} if step in STEPS else {})}
    try:
        return await request.ask(mailings.PERSON, mailing_id=mailing.id, **arguments)
    except Refusal:  # an address that somebody typed, or a row that was left out meanwhile
        return None


_ONE: Final = "/app/<org>/mailings/<mailing_id>"
ROUTES: Final = (
    PageRoute(path=_ONE, view=show, access=PageAccess.VIEWER, filters=ROW_PLACE),
    PageRoute(path=f"{_ONE}/live", view=live, access=PageAccess.VIEWER),
)
