"""The statement: entries of the ledger by kind and time, page by page, and as a file."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import trio
from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.money import money
from risala.engine.model.records.ledger import LIST, LedgerEntry, LedgerPage
from risala.http.web.face import PageAccess
from risala.http.web.files.downloads import TablePart
from risala.http.web.files.spreadsheet import COMMA, SEMICOLON, Cell, OwnText
from risala.http.web.languages import ENTRY_KINDS, N_
from risala.http.web.lists import Chip, Pager, chips, choice, counts, days, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

PAYMENTS: Final = "payments"
"""A value of the filter: entries made by hand."""
KINDS_CHOSEN: Final = {**ENTRY_KINDS, PAYMENTS: N_("Payments and adjustments")}
COLUMNS: Final = (
    *("entry", "createdAt", "kind", "amount", "balanceAfter", "currency", "reference"),
    *("messages", "note"),
)
"""The names of the API: a file is the same in every language."""
_ROWS: Final = 25
_ROWS_AT_ONCE: Final = 500
"""Rows read at once for a file: the maximum of an answer."""
_TO_SECONDS: Final = len("2026-11-21 08:41:16")


async def page_of(request: PageRequest) -> tuple[LedgerPage, dict[str, Any]]:
    """The ledger's answer, and the values of the statement on the page."""
    query = _query(request)
    arguments = {"limit": _ROWS, **_asked(request, query)}
    for name in ("before", "after"):
        if text := request.form.text(name) if request.http.method == "GET" else "":
            arguments[name] = int(text)
    page = await request.ask_here(LIST, **arguments)
    newer, older = page.previous, page.next
    return page, {
        "entries": page.entries,
        "query": query,
        "chips": _chips(request, query),
        "kinds": {name: request.words(word) for name, word in ENTRY_KINDS.items()},
        "looked_to": page.looked_to,
        "is_paged": "before" in arguments or "after" in arguments,
        "pager": Pager(
            newer=None if newer is None else request.at("billing", **query, after=str(newer)),
            older=None if older is None else request.at("billing", **query, before=str(older)),
        ),
        "file_at": request.at("billing/statement", **query),
    }


def _chips(request: PageRequest, query: Mapping[str, str]) -> list[Chip]:
    """The active filters, in the page's words: browsers show days in their own format."""
    labels: dict[str, Markup] = {}
    if kind := query.get("kind"):
        labels["kind"] = request.words(KINDS_CHOSEN[kind])
    for name, sentence in (("since", N_("Since {date}")), ("until", N_("Until {date}"))):
        if (at := request.formats.midnight(query.get(name, ""))) is not None:
            labels[name] = request.words(sentence, date=request.formats.date_text(at))
    return chips(labels, query, request.at, "billing")


def _query(request: PageRequest) -> dict[str, str]:
    """The filters; after a form was refused, none."""
    return request.form.filled("kind", "since", "until") if request.http.method == "GET" else {}


def _asked(request: PageRequest, query: Mapping[str, str]) -> dict[str, Any]:
    """The filters, as the operation takes them."""
    arguments: dict[str, Any] = {}
    kind = query.get("kind")
    if kind == PAYMENTS:
        arguments["by_hand"] = True
    elif kind is not None:
        arguments["kinds"] = [kind]
    for name, later in (("since", 0), ("until", 1)):
        if (at := request.formats.midnight(query.get(name, ""), later)) is not None:
            arguments[name] = at
    return arguments


async def file(request: PageRequest) -> TrioResponse:
    """The statement as a file. Its first part is read here: a refusal becomes a page."""
    request.site.downloads.refuse(request.user.id)
    arguments = {"limit": _ROWS_AT_ONCE, **_asked(request, _query(request))}
    first = await request.ask_here(LIST, **arguments)
    day = datetime.fromtimestamp(request.formats.now_ms / 1000, UTC).astimezone(
        request.formats.zone
    )
    # Spreadsheets in French and in Arabic part cells by semicolons.
    form = COMMA if request.words.language.value == "en" else SEMICOLON
    name = f"statement-{day:%Y-%m-%d}.csv"
    return request.download(
        secrets.token_urlsafe(16), name, _parts(request, arguments, first), form
    )


async def _parts(
    request: PageRequest, arguments: Mapping[str, object], first: LedgerPage
) -> AsyncGenerator[TablePart]:
    head: Sequence[str] = COLUMNS
    part = first
    while True:
        rows = [_row(request, each, part.currency) for each in part.entries]
        yield TablePart(rows, 1.0 if part.next is None else 0.0, head)
        head = ()
        # A reader as fast as we are must not delay the messages of others.
        await trio.lowlevel.checkpoint()
        if part.next is None:
            return
        part = await request.ask_here(LIST, **{**arguments, "before": part.next})


def _row(request: PageRequest, entry: LedgerEntry, currency: str) -> list[Cell]:
    """An entry in the order of the columns; its time by the organization's clock."""
    local = datetime.fromtimestamp(entry.at / 1000, UTC).astimezone(request.formats.zone)
    return [
        entry.seq,
        OwnText(local.isoformat(" ", "seconds")[:_TO_SECONDS]),
        OwnText(entry.kind),
        Decimal(money(entry.amount)),
        Decimal(money(entry.balance_after)),
        OwnText(currency),
        entry.reference,
        entry.messages,
        entry.note,
    ]


FILTERS: Final = (
    choice("kind", N_("Type"), (*ENTRY_KINDS, PAYMENTS)),
    *days(),
    *counts(),
    typed("month", N_("Month")),
)
ROUTES: Final = (
    PageRoute(
        path="/app/<org>/billing/statement", view=file, access=PageAccess.VIEWER, filters=FILTERS
    ),
)
