"""Invoices as pages and files show them: of an organization's own pages, of the console, and on
paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Any, Final
from zoneinfo import ZoneInfo

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.invoices.records import GET, LIST, Invoice, InvoicePage
from risala.engine.features.statements.records import CostSource, SourceCost
from risala.engine.features.statements.rules import begins_at, next_month
from risala.engine.model.errors import NotFound
from risala.http.web.files.paper import Paper, PaperColumn, PaperTable, can_write, text_of
from risala.http.web.formats import Formats, ms_of
from risala.http.web.languages import Words
from risala.http.web.page_request import PageRequest
from risala.http.web.statements import (
    REFUNDS,
    SOURCES,
    day_text,
    isolated,
    issuer_lines,
    money_text,
    pdf_response,
    period_text,
)

_DAY_SHARE: Final = 0.17


@dataclass(frozen=True, slots=True)
class InvoiceLine:
    """A line of a list of invoices."""

    invoice: Invoice
    month: Markup
    issued: Markup


def values_of(page: InvoicePage, month: str, words: Words, now_ms: int) -> dict[str, Any]:
    """What templates need of an organization's invoices.

    Args:
        month: the one that the page shows; empty: the present one.
    """
    lines = [_line(each, formats_of(each, words, now_ms)) for each in page.invoices]
    return {"invoices": lines, "invoice": of_month(page, month)}


async def with_month(
    request: PageRequest, newest: InvoicePage, month: str, organization_id: str
) -> InvoicePage:
    """The newest invoices, and after them that of the month that the page shows, where it is older:
    a search leads there."""
    if not month or newest.next is None or of_month(newest, month) is not None:
        return newest
    one = await request.ask(LIST, organization_id=organization_id, month=month)
    return replace(newest, invoices=(*newest.invoices, *one.invoices))


def of_month(page: InvoicePage, month: str) -> Invoice | None:
    """The invoice of a month; None: it is not on the page."""
    return next((each for each in page.invoices if each.month == month), None)


def _line(invoice: Invoice, formats: Formats) -> InvoiceLine:
    first = first_day(invoice)
    return InvoiceLine(
        invoice, formats.month_text(first), formats.date_text(ms_of(invoice.issued_at))
    )


def formats_of(invoice: Invoice, words: Words, now_ms: int) -> Formats:
    """An invoice is written by the clock and in the money that it was issued with."""
    return Formats(words, ZoneInfo(invoice.time_zone), invoice.currency, now_ms)


def first_day(invoice: Invoice) -> date:
    return date.fromisoformat(f"{invoice.month}-01")


# -- on paper


def paper_of(invoice: Invoice, words: Words) -> Paper:
    """The invoice as a file: nothing in it is looked up, so that it is the same for ever."""
    issued_ms = ms_of(invoice.issued_at)
    formats, first = formats_of(invoice, words, issued_ms), first_day(invoice)
    number = isolated(invoice.number)
    title = words("Invoice {number}", number=number)
    if invoice.total < 0:
        title = words("Credit note {number}", number=number)
    return Paper(
        language=words.language,
        title=text_of(title),
        sender=issuer_lines(invoice.issuer, words),
        facts=(
            (text_of(words("For")), isolated(invoice.organization_name)),
            *_customer(invoice, words),
            (text_of(words("Organization")), isolated(invoice.organization_id)),
            (text_of(words("Issued on")), text_of(formats.date_text(issued_ms))),
            (text_of(words("Period")), period_text(first, formats)),
            *_seams(invoice, formats),
            (text_of(words("Time zone")), isolated(invoice.time_zone)),
            (text_of(words("Currency")), isolated(invoice.currency)),
        ),
        sums=tuple(_sums(invoice, formats)),
        tables=(_days(invoice, formats),),
        notes=tuple(_notes(invoice, words)),
        page=text_of(words("Page {page}", page="{page}")),
        as_of_ms=issued_ms,
        parts=tuple(_vat(invoice, formats)),
    )


def _customer(invoice: Invoice, words: Words) -> Iterable[tuple[str, str]]:
    """The address of the customer, of which the first line has the label, and the tax number, too
    long a label in French."""
    label = text_of(words("Address"))
    for place, line in enumerate(invoice.customer_address):
        yield ("" if place else label), isolated(line)
    if invoice.customer_tax_id:
        yield "", f"{text_of(words('Tax number'))} {isolated(invoice.customer_tax_id)}"


def _vat(invoice: Invoice, formats: Formats) -> Iterable[tuple[str, str]]:
    """What of the total is VAT. Below the total: it is part of it, and not added to it."""
    if invoice.vat_percent is None or invoice.vat is None:
        return
    words, percent = formats.words, invoice.vat_percent
    rate = formats.share(float(percent) / 100, len(percent.partition(".")[2].rstrip("0")))
    vat, net = invoice.vat, invoice.total - invoice.vat
    yield text_of(words("Including VAT at {rate}", rate=rate)), money_text(formats, vat)
    yield text_of(words("Without VAT")), money_text(formats, net)


def _notes(invoice: Invoice, words: Words) -> Iterable[str]:
    yield text_of(words("Paid from the balance of the organization, as the messages left."))
    if invoice.vat_percent is not None:
        rounding = words(
            "Prices include VAT. Its part of the total is rounded half up to the currency’s"
            " smallest unit."
        )
        yield text_of(rounding)


def _seams(invoice: Invoice, formats: Formats) -> Iterable[tuple[str, str]]:
    """The moments of an invoice that begins or ends otherwise than its month: the organization's
    time zone changed."""
    first, words, zone = first_day(invoice), formats.words, invoice.time_zone
    begins, ends = invoice.begins_at, invoice.ends_at
    if begins is not None and begins != begins_at(first, zone):
        yield text_of(words("Since")), text_of(formats.moment_text(begins))
    if ends is not None and ends != begins_at(next_month(first), zone):
        yield text_of(words("Until")), text_of(formats.moment_text(ends))


def _sums(invoice: Invoice, formats: Formats) -> Iterable[tuple[str, str]]:
    words = formats.words
    for each in invoice.sources:
        name = words.among("sources of costs", SOURCES[each.source])
        sent = words.counted(
            "{n} message", "{n} messages", each.messages, n=formats.num(each.messages)
        )
        yield f"{text_of(name)} · {text_of(sent)}", money_text(formats, each.amount)
    if invoice.refunded:
        yield text_of(words(REFUNDS)), money_text(formats, -invoice.refunded, sign=True)
    yield text_of(words("Total")), money_text(formats, invoice.total, bare=False)


def _days(invoice: Invoice, formats: Formats) -> PaperTable:
    """Only what the month has gets a column."""
    words = formats.words
    has = [each.source for each in invoice.sources]
    titles = [words.among("sources of costs", SOURCES[each]) for each in has]
    if invoice.refunded:
        titles.append(words(REFUNDS))
    share = (1 - _DAY_SHARE) / (len(titles) + 1)

    def cells(sources: Iterable[SourceCost], refunded: int) -> tuple[str, ...]:
        by: dict[CostSource, int] = {each.source: each.amount for each in sources}
        amounts = [by.get(each, 0) for each in has] + ([-refunded] if invoice.refunded else [])
        shown = [money_text(formats, each) if each else "" for each in amounts]
        return (*shown, money_text(formats, sum(amounts)))

    return PaperTable(
        text_of(words("Day by day")),
        (
            PaperColumn(text_of(words("Day")), _DAY_SHARE),
            *(PaperColumn(text_of(each), share, is_number=True) for each in titles),
            PaperColumn(text_of(words("Total")), share, is_number=True),
        ),
        tuple(
            (
                text_of(day_text(date.fromisoformat(each.day), formats)),
                *cells(each.sources, each.refunded),
            )
            for each in invoice.days
        ),
        (text_of(words("Together")), *cells(invoice.sources, invoice.refunded)),
    )


# -- as an answer


async def paper(request: PageRequest) -> TrioResponse:
    """The invoice in the address as a PDF, in the reader's language.

    Raises:
        NotFound: there is none, or files cannot be written here.
    """
    if not can_write():
        raise NotFound("There is no such invoice.")
    invoice = await request.ask(GET, invoice_id=str(request.arguments.get("invoice_id")))
    return await pdf_response(paper_of(invoice, request.words), file_name(invoice))


def file_name(invoice: Invoice) -> str:
    """The name of an invoice's file: its number, where no folder stands in it."""
    return f"{invoice.number.replace('/', '-')}.pdf"
