"""What the figures of codes say on pages, of one organization and of all: how many were asked for,
sent, delivered and entered, how that changed, how long it took, and what it cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.model.records.verify.figures import OTHER, CodeFigure, CodeFigures, FiguresBy
from risala.http.web.charts import Bar
from risala.http.web.languages import N_, NC_, country_name, network_name
from risala.http.web.page_request import PageRequest
from risala.sms.code_texts.catalogue import built_in

PERIODS: Final = {
    "week": (7, N_("7 days")),
    "month": (30, N_("30 days")),
    "quarter": (90, N_("90 days")),
}
BY: Final = {
    FiguresBy.CARRIER.value: NC_("figures by", "Carrier"),
    FiguresBy.NETWORK.value: NC_("figures by", "Network"),
    FiguresBy.COUNTRY.value: NC_("figures by", "Country"),
    FiguresBy.CHANNEL.value: NC_("figures by", "Channel"),
    FiguresBy.KEY.value: NC_("figures by", "Key"),
    FiguresBy.LANGUAGE.value: NC_("figures by", "Language"),
    FiguresBy.DAY.value: NC_("figures by", "Day"),
}
DAILY: Final = {
    FiguresBy.NETWORK: N_("Share entered by network, day by day"),
    FiguresBy.LANGUAGE: N_("Share entered by language, day by day"),
}
"""What is drawn day by day."""
Read = Callable[[FiguresBy], Awaitable[CodeFigures]]
"""Asks for the figures of a page's days."""
NOTHING: Final = {
    FiguresBy.CARRIER: NC_("figures of", "No carrier took them"),
    FiguresBy.KEY: NC_("figures of", "Asked for by hand"),
}
"""What is said of codes of which it is not known."""
_DAY_MS: Final = 86_400_000
CHANNELS: Final = {"sms": NC_("channel", "SMS")}
STAGES: Final = {
    "asked": NC_("codes", "Asked for"),
    "sent": NC_("codes", "Sent"),
    "delivered": NC_("codes", "Delivered"),
    "entered": NC_("codes", "Entered"),
}


@dataclass(frozen=True, slots=True)
class FigureRow:
    """An item of the figures as its reader sees it."""

    name: str | Markup
    figure: CodeFigure

    @property
    def counts(self) -> tuple[int, ...]:
        """How many came to each of :data:`STAGES`."""
        return tuple(getattr(self.figure, name) for name in STAGES)

    @property
    def share(self) -> float | None:
        """The entered share of those that were asked for."""
        return self.figure.entered / self.figure.asked if self.figure.asked else None

    @property
    def within_minute(self) -> float | None:
        """The share that was entered within a minute."""
        return self.figure.within_minute / self.figure.asked if self.figure.asked else None

    @property
    def cost(self) -> int | None:
        """What an entered code cost, in minor units; None: no code was entered."""
        return round(self.figure.cost / self.figure.entered) if self.figure.entered else None


@dataclass(frozen=True, slots=True)
class DailyCodes:
    """Something's codes day by day."""

    name: str | Markup
    codes: tuple[int, ...]
    """The codes that were asked for on each day."""
    entered: tuple[int, ...]

    @property
    def share(self) -> float:
        """The entered share of all of them."""
        return sum(self.entered) / max(sum(self.codes), 1)

    @property
    def bars(self) -> list[Bar]:
        """The codes of each day that were entered, and those that were not."""
        return [Bar((entered, codes - entered)) for codes, entered in self.days]

    @property
    def days(self) -> list[tuple[int, int]]:
        return [*zip(self.codes, self.entered, strict=True)]


@dataclass(frozen=True, slots=True)
class DailyPanel:
    """The largest networks or languages, each with its days on one scale."""

    id: str
    title: str
    lines: list[DailyCodes]


async def shown(
    request: PageRequest,
    read: Read,
    by: FiguresBy,
    since: int,
    known: dict[str, str],
    bys: tuple[FiguresBy, ...] = tuple(FiguresBy),
) -> dict[str, Any]:
    """What the pages draw.

    Args:
        by: what the reader chose of ``bys``.
        since: the midnight with which the days begin, UTC epoch milliseconds.
        known: names of keys by their ids.
    """
    figures = await read(by)
    carriers = figures if by is FiguresBy.CARRIER else await read(FiguresBy.CARRIER)
    lines = [
        (each.by, DailyCodes(_name(request, each.by, each.of, {}), each.asked, each.entered))
        for each in figures.daily
    ]
    day_line = next((line for each, line in lines if each is FiguresBy.DAY), None)
    words, whole = request.words, FigureRow("", figures.whole)
    labels = {each: words.among("figures by", BY[each]) for each in BY if each in bys}
    stages = [words.among("codes", STAGES[each]) for each in STAGES]
    return {
        "periods": PERIODS,
        "bys": labels,
        "by": figures.by.value,
        "whole": whole,
        "stages": [*zip(stages, whole.counts, strict=True)],
        "columns": [(labels[figures.by.value], ""), *((each, "n") for each in stages)],
        "rows": [
            FigureRow(_name(request, figures.by, each.of, known), each) for each in figures.items
        ],
        "carriers": [
            FigureRow(each.of, each) for each in carriers.items if each.of not in (None, OTHER)
        ],
        "counted_until": figures.counted_until,
        "day_line": day_line,
        "day_texts": [
            request.formats.date_text(since + day * _DAY_MS + _DAY_MS // 2)
            for day in range(len(day_line.codes) if day_line else 0)
        ],
        "panels": [
            DailyPanel(each.value, words(title), [line for of, line in lines if of is each])
            for each, title in DAILY.items()
            if any(line.by is each and line.of is not None for line in figures.daily)
        ],
    }


def days(zone: tzinfo, today: date, period: str) -> tuple[int, int]:
    """The last days of a period with today, from midnight to midnight, UTC epoch milliseconds."""
    first = datetime.combine(today - timedelta(days=PERIODS[period][0] - 1), time(), zone)
    last = datetime.combine(today + timedelta(days=1), time(), zone)
    return round(first.timestamp() * 1000), round(last.timestamp() * 1000)


def _name(
    request: PageRequest, by: FiguresBy, of: str | None, known: dict[str, str]
) -> str | Markup:
    words = request.words
    if of is None:
        unknown = NC_("figures of", "Unknown")
        return words.among("figures of", NOTHING.get(by, unknown))
    if of == OTHER:
        return words.among("figures of", NC_("figures of", "All others"))
    match by:
        case FiguresBy.NETWORK:
            return network_name(of)
        case FiguresBy.COUNTRY:
            return country_name(words.language, of, of)
        case FiguresBy.CHANNEL:
            return words.among("channel", CHANNELS[of]) if of in CHANNELS else of
        case FiguresBy.LANGUAGE:
            texts = built_in()
            return texts[of].name if of in texts else of
        case FiguresBy.DAY:
            noon = datetime.combine(date.fromisoformat(of), time(12), request.formats.zone)
            return request.formats.date_text(round(noon.timestamp() * 1000))
    return known.get(of, of)
