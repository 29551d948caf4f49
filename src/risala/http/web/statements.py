"""The statement of a month as pages and files show it: of an organization's own pages, of the
console, and on paper."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.statements.records import (
    CostSource,
    Issuer,
    MonthStatement,
    SourceCost,
    StatementDay,
)
from risala.engine.model.errors import NotFound
from risala.http.web.charts import Bar, top_of
from risala.http.web.files.paper import Paper, PaperColumn, PaperTable, can_write, pdf_of, text_of
from risala.http.web.formats import Formats, ms_of
from risala.http.web.languages import N_, NC_, Words
from risala.http.web.page_request import PageRequest
from risala.sms.currencies import decimals_of

SOURCES: Final = {
    CostSource.MAILING: NC_("sources of costs", "Mailings"),
    CostSource.KEY: NC_("sources of costs", "API keys"),
    CostSource.CODES: NC_("sources of costs", "Codes"),
    CostSource.OTHER: NC_("sources of costs", "Other messages"),
}
REFUNDS: Final = N_("Refunds")
PAPER_COMMAND: Final = Markup('<code class="raw">pip install "risala[pdf]"</code>')
"""What brings files as PDF, where they are missing."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """One of the lines that say what the month's money went for."""

    title: Markup
    amount: int
    """Below zero for refunds."""
    messages: int | None
    of: int
    """The width of its bar: the amount without its sign."""


@dataclass(frozen=True, slots=True)
class DayLine:
    """A day of the statement; ``amounts`` are of the sources in their order."""

    day: Markup
    amounts: tuple[int, ...]
    shown: StatementDay


_WHOLE: Final = 30
"""From this cost on the scale is written in whole units: its lines are 10 apart."""


def formats_of(statement: MonthStatement, words: Words, now_ms: int) -> Formats:
    """A statement is written by the clock of its organization and in its money, whoever reads."""
    return Formats(words, ZoneInfo(statement.time_zone), statement.currency, now_ms)


def values_of(statement: MonthStatement, words: Words, now_ms: int) -> dict[str, Any]:
    """What templates need of a statement, with the months beside it."""
    formats = formats_of(statement, words, now_ms)
    first = first_day(statement)
    lines = _lines(statement, formats)
    bars = _bars(statement, first)
    return {
        **_months(statement, formats),
        "lines": lines,
        "widest": max((each.of for each in lines), default=0),
        "cost_bars": bars,
        "cost_scale": scale_of(statement.currency, top_of(bars), formats),
        "cost_days": _marks(first, formats),
        "sources": [words.among("sources of costs", SOURCES[each]) for each in CostSource],
        "source_words": {
            each: words.among("sources of costs", SOURCES[each]) for each in CostSource
        },
        "column_names": [
            (each, "n")
            for each in (
                *(words.among("sources of costs", SOURCES[each]) for each in CostSource),
                words("Refunds"),
                words("Payments"),
                words("Balance after"),
            )
        ],
        "day_lines": _day_lines(statement, formats),
        "has_paper": can_write(),
        "command_of_paper": PAPER_COMMAND,
    }


def parts_of(statement: MonthStatement, words: Words, now_ms: int) -> dict[str, Any]:
    """What the template needs of a month for which nobody pays: parts in place of money."""
    formats = formats_of(statement, words, now_ms)
    first = first_day(statement)
    sent = {each.day: each.parts for each in statement.own_parts}
    days = [first + timedelta(days=number) for number in range((next_month(first) - first).days)]
    bars = [Bar((sent.get(each.isoformat(), 0),)) for each in days]
    top = top_of(bars)
    return {
        **_months(statement, formats),
        "parts_bars": bars,
        "parts_scale": [formats.num(top * part // 3) for part in (3, 2, 1, 0)],
        "parts_marks": _marks(first, formats),
        "parts_days": [
            (day_text(date.fromisoformat(each.day), formats), formats.num(each.parts))
            for each in statement.own_parts
        ],
        "parts_sum": sum(sent.values()),
    }


def _months(statement: MonthStatement, formats: Formats) -> dict[str, Any]:
    """The shown month, and those beside it."""
    first = first_day(statement)
    after = next_month(first)
    return {
        "statement": statement,
        "month": formats.month_text(first),
        "earlier": _month(first - timedelta(days=1), statement.first_month, formats),
        "later": _month(after, None, formats) if after <= formats.today else None,
    }


def first_day(statement: MonthStatement) -> date:
    return date.fromisoformat(f"{statement.month}-01")


def next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def _month(day: date, least: str | None, formats: Formats) -> tuple[str, Markup] | None:
    """A month beside the shown one, as the address and the reader write it; None: there is nothing
    so early."""
    written = f"{day:%Y-%m}"
    if least is not None and written < least:
        return None
    return written, formats.month_text(day.replace(day=1))


def _lines(statement: MonthStatement, formats: Formats) -> list[CostLine]:
    """Four sources at most, those without a cost left out unless there are none, and refunds."""
    words = formats.words
    lines = [
        CostLine(
            words.among("sources of costs", SOURCES[each.source]),
            each.amount,
            each.messages,
            each.amount,
        )
        for each in statement.sources
    ]
    refunded = statement.refunded
    refunds = CostLine(words(REFUNDS), -refunded, None, refunded)
    return [*lines, refunds] if refunded or not lines else lines


def _amounts(sources: Iterable[SourceCost]) -> tuple[int, ...]:
    by = {each.source: each.amount for each in sources}
    return tuple(by.get(source, 0) for source in CostSource)


def _bars(statement: MonthStatement, first: date) -> list[Bar]:
    """What each day of the month cost, in minor units."""
    costs = {each.day: sum(_amounts(each.sources)) for each in statement.days}
    days = (next_month(first) - first).days
    return [
        Bar((costs.get((first + timedelta(days=number)).isoformat(), 0),)) for number in range(days)
    ]


def scale_of(currency: str, top: int, formats: Formats) -> list[Markup]:
    """The numbers beside a chart of money, from the top; with decimals only if they are small."""
    places = decimals_of(currency)
    shown = places if top < _WHOLE * 10**places else 0
    return [formats.num(top * part / 3 / 10**places, shown) for part in (3, 2, 1, 0)]


def day_text(day: date, formats: Formats) -> Markup:
    """A day of the organization's own calendar."""
    at = formats.midnight(day.isoformat())
    assert at is not None, "a day of a statement is in its calendar"
    return formats.date_text(at)


def _marks(first: date, formats: Formats) -> list[Markup]:
    last = next_month(first) - timedelta(days=1)
    middle = first + (last - first) / 2
    return [day_text(each, formats) for each in (first, middle, last)]


def _day_lines(statement: MonthStatement, formats: Formats) -> list[DayLine]:
    return [
        DayLine(
            day_text(date.fromisoformat(each.day), formats),
            _amounts(each.sources),
            each,
        )
        for each in statement.days
    ]


# -- on paper


_DAY_SHARE: Final = 0.17
_WAYS: Final = {"topup": N_("Payment"), "adjustment": N_("Adjustment")}


def paper_of(statement: MonthStatement, words: Words) -> Paper:
    """The statement as a file: who issues it, for whom, what it sums up to, and each day."""
    ended_ms = ms_of(statement.ends_at)
    formats, first = formats_of(statement, words, ended_ms), first_day(statement)
    return Paper(
        language=words.language,
        title=text_of(words("Statement of {month}", month=formats.month_text(first))),
        sender=issuer_lines(statement.issuer, words),
        facts=(
            (text_of(words("For")), isolated(statement.organization_name)),
            (text_of(words("Organization")), isolated(statement.organization_id)),
            (text_of(words("Period")), period_text(first, formats)),
            (text_of(words("Time zone")), isolated(statement.time_zone)),
            (text_of(words("Currency")), isolated(statement.currency)),
        ),
        sums=_sums(statement, formats),
        tables=tuple(_tables(statement, formats)),
        notes=tuple(_notes(statement, formats)),
        page=text_of(words("Page {page}", page="{page}")),
        as_of_ms=ended_ms,
    )


def issuer_lines(issuer: Issuer, words: Words) -> tuple[str, ...]:
    """The lines that say who issues a paper; what is not known is left out."""
    lines = [issuer.name, *issuer.address]
    for label, number in (
        (N_("Tax number"), issuer.tax_id),
        (N_("Trade register"), issuer.trade_register),
    ):
        if number:
            lines.append(f"{text_of(words(label))} {isolated(number)}")
    return tuple(each for each in lines if each)


def period_text(first: date, formats: Formats) -> str:
    """From the first to the last day of a month."""
    days = {"from": first, "to": next_month(first) - timedelta(days=1)}
    shown = {name: day_text(each, formats) for name, each in days.items()}
    return text_of(formats.words("{from} to {to}", **shown))


def isolated(text: str) -> str:
    """Somebody's own words, which keep their direction among those of the file."""
    return f"\u2068{text}\u2069" if text else ""


def money_text(formats: Formats, amount: int, *, sign: bool = False, bare: bool = True) -> str:
    """An amount on paper.

    Args:
        sign: with a plus too.
        bare: without the currency.
    """
    return text_of(formats.money(amount, sign=sign, bare=bare))


def _sums(statement: MonthStatement, formats: Formats) -> tuple[tuple[str, str], ...]:
    words = formats.words
    lines = [
        (words("Balance as the month began"), money_text(formats, statement.opening, bare=False))
    ]
    lines += [
        (
            words.among("sources of costs", SOURCES[each.source]),
            money_text(formats, -each.amount, sign=True),
        )
        for each in statement.sources
    ]
    if statement.refunded:
        refunded = money_text(formats, statement.refunded, sign=True)
        lines.append((words(REFUNDS), refunded))
    if statement.payments:
        credited = money_text(formats, statement.credited, sign=True)
        lines.append((words("Payments and adjustments"), credited))
    lines.append((words("Balance as it ended"), money_text(formats, statement.closing, bare=False)))
    return tuple((text_of(name), amount) for name, amount in lines)


def _tables(statement: MonthStatement, formats: Formats) -> Iterable[PaperTable]:
    if statement.payments:
        yield _payments(statement, formats)
    if statement.days:
        yield _days(statement, formats)
    if statement.senders:
        yield _senders(statement, formats)


def _days(statement: MonthStatement, formats: Formats) -> PaperTable:
    """Only what the month has gets a column."""
    words = formats.words
    has = [each.source for each in statement.sources]
    titles = [words.among("sources of costs", SOURCES[each]) for each in has]
    if statement.refunded:
        titles.append(words(REFUNDS))
    if statement.payments:
        titles.append(words("Payments"))
    share = (1 - _DAY_SHARE) / (len(titles) + 1)

    def cells(sources: Iterable[SourceCost], refunded: int, credited: int) -> tuple[str, ...]:
        by = {each.source: -each.amount for each in sources}
        amounts = [by.get(each, 0) for each in has]
        amounts += [refunded] if statement.refunded else []
        amounts += [credited] if statement.payments else []
        return tuple(money_text(formats, each, sign=True) if each else "" for each in amounts)

    rows = []
    for line in _day_lines(statement, formats):
        shown, after = line.shown, money_text(formats, line.shown.balance_after)
        amounts = cells(shown.sources, shown.refunded, shown.credited)
        rows.append((text_of(line.day), *amounts, after))
    sums = cells(statement.sources, statement.refunded, statement.credited)
    return PaperTable(
        text_of(words("Day by day")),
        (
            PaperColumn(text_of(words("Day")), _DAY_SHARE),
            *(PaperColumn(text_of(each), share, is_number=True) for each in titles),
            PaperColumn(text_of(words("Balance after")), share, is_number=True),
        ),
        tuple(rows),
        (text_of(words("Together")), *sums, money_text(formats, statement.closing)),
    )


def _payments(statement: MonthStatement, formats: Formats) -> PaperTable:
    words = formats.words
    titles = ((words("Time"), 0.24), (words("Entry"), 0.18), (words("Reference"), 0.38))
    return PaperTable(
        text_of(words("Payments and adjustments")),
        (
            *(PaperColumn(text_of(name), share) for name, share in titles),
            PaperColumn(text_of(words("Amount")), 0.2, is_number=True),
        ),
        tuple(
            (
                text_of(formats.moment_text(each.at)),
                text_of(words(_WAYS[each.kind])),
                isolated(each.reference) if each.kind == "topup" else isolated(each.note or ""),
                money_text(formats, each.amount, sign=True),
            )
            for each in statement.payments
        ),
    )


def _senders(statement: MonthStatement, formats: Formats) -> PaperTable:
    words = formats.words
    return PaperTable(
        text_of(words("By key and mailing")),
        (
            PaperColumn(text_of(words("Name")), 0.46),
            PaperColumn(text_of(words("Type")), 0.18),
            PaperColumn(text_of(words("Messages")), 0.16, is_number=True),
            PaperColumn(text_of(words("Amount")), 0.2, is_number=True),
        ),
        tuple(
            (
                isolated(each.name or each.of or "") or text_of(words("All others")),
                text_of(words.among("sources of costs", SOURCES[each.source])),
                text_of(formats.num(each.messages)),
                money_text(formats, each.amount),
            )
            for each in statement.senders
        ),
    )


def _notes(statement: MonthStatement, formats: Formats) -> Iterable[str]:
    words = formats.words
    if statement.counted_until is not None:
        at = formats.date_text(statement.counted_until)
        yield text_of(
            words(
                "The month has too many entries to sum up at once: "
                "days from {day} on are not in it.",
                day=at,
            )
        )
    yield text_of(
        words(
            "A day ends at midnight in {city}. Refunds are of the day on which they were entered.",
            city=formats.city,
        )
    )


# -- as an answer


_MONTH: Final = re.compile(r"\d{4}-\d{2}", re.ASCII)


def month_in(request: PageRequest) -> str:
    """The month in the address of a file.

    Raises:
        NotFound: it is none, or files cannot be written here.
    """
    month = str(request.arguments["month"])
    if not _MONTH.fullmatch(month) or not can_write():
        raise NotFound("There is no such statement.")
    return month


async def paper_response(statement: MonthStatement, words: Words) -> TrioResponse:
    """The statement as a PDF to keep."""
    return await pdf_response(paper_of(statement, words), f"statement-{statement.month}.pdf")


async def pdf_response(paper: Paper, name: str) -> TrioResponse:
    """A paper as a PDF to keep, in a file of this name."""
    reply = TrioResponse(await pdf_of(paper), content_type="application/pdf")
    reply.headers["content-disposition"] = f'attachment; filename="{name}"'
    return reply
