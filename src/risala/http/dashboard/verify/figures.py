"""Verify's figures: how many codes were asked for, sent, delivered and entered, how long that took,
and what it cost."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any, Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.model.records import keys
from risala.engine.model.records.verify.figures import (
    FIGURES,
    OTHER,
    CodeFigure,
    CodeFigures,
    FiguresBy,
)
from risala.engine.model.times import iso
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_, country_name, network_name
from risala.http.web.lists import choice
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

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
    FiguresBy.DAY.value: NC_("figures by", "Day"),
}
NOTHING: Final = {
    FiguresBy.CARRIER: NC_("figures of", "No carrier took them"),
    FiguresBy.KEY: NC_("figures of", "Asked for by hand"),
}
"""What is said of codes of which it is not known."""
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


async def _values(request: PageRequest) -> dict[str, Any]:
    period = request.form.text("period") or "month"
    by = FiguresBy(request.form.text("by") or FiguresBy.CARRIER)
    since, until = _time(request, PERIODS[period][0])
    shown = await _figures(request, by, since, until)
    carriers = shown
    if by is not FiguresBy.CARRIER:
        carriers = await _figures(request, FiguresBy.CARRIER, since, until)
    known = await _key_names(request) if by is FiguresBy.KEY else {}
    whole = FigureRow("", shown.whole)
    bys = {each: request.words.among("figures by", BY[each]) for each in BY}
    stages = [request.words.among("codes", STAGES[each]) for each in STAGES]
    return {
        "periods": PERIODS,
        "period": period,
        "bys": bys,
        "by": by.value,
        "since": since,
        "until": until,
        "whole": whole,
        "stages": [*zip(stages, whole.counts, strict=True)],
        "columns": [(bys[by.value], ""), *((each, "n") for each in stages)],
        "rows": [FigureRow(_name(request, by, each.of, known), each) for each in shown.items],
        "carriers": [
            FigureRow(each.of, each) for each in carriers.items if each.of not in (None, OTHER)
        ],
        "counted_until": shown.counted_until,
    }


def _time(request: PageRequest, days: int) -> tuple[int, int]:
    """The last days with today, from midnight to midnight of the organization's time zone."""
    zone, today = request.formats.zone, request.formats.today
    first = datetime.combine(today - timedelta(days=days - 1), time(), zone)
    last = datetime.combine(today + timedelta(days=1), time(), zone)
    return round(first.timestamp() * 1000), round(last.timestamp() * 1000)


async def _figures(request: PageRequest, by: FiguresBy, since: int, until: int) -> CodeFigures:
    return await request.ask_here(
        FIGURES, mode=request.mode.value, by=by.value, since=iso(since), until=iso(until)
    )


async def _key_names(request: PageRequest) -> dict[str, str]:
    listed = await request.ask_here(keys.LIST)
    return {each.id: each.name or each.id for each in listed.keys}


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
        case FiguresBy.DAY:
            noon = datetime.combine(date.fromisoformat(of), time(12), request.formats.zone)
            return request.formats.date_text(round(noon.timestamp() * 1000))
    return known.get(of, of)


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/verify/figures",
        view=shows("verify/figures.html", _values),
        access=PageAccess.VIEWER,
        filters=(choice("period", N_("Period"), PERIODS), choice("by", N_("By"), BY)),
    ),
)
