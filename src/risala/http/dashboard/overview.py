"""The overview: warnings, the figures of a period, and the current activity."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Final, TypeVar

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.overview import records as figures
from risala.engine.features.overview.records import HourCount, HourFigures, NetworkFigures
from risala.engine.model.records.record import shallow
from risala.engine.model.times import iso
from risala.http.dashboard.messages.listing import cause_text
from risala.http.dashboard.start.steps import left_of
from risala.http.web.charts import Bar
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, network_name
from risala.http.web.lists import choice
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

_DAY_MS: Final = 86_400_000
_HOUR_MS: Final = 3_600_000
H = TypeVar("H", HourFigures, HourCount)
_WEEK: Final = 7
PERIODS: Final = {
    "day": (1, N_("Today")),
    "week": (_WEEK, N_("7 days")),
    "month": (30, N_("30 days")),
}
NETWORKS_MAX: Final = 5
"""The maximum of listed networks; most traffic is within one country, which has few."""
WELL: Final = 0.95
"""A network with a lower share of deliveries is drawn in amber."""


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days of the organization's own time zone."""

    name: str
    days: int
    since_ms: int
    until_ms: int

    @property
    def step_ms(self) -> int:
        """What a bar stands for: an hour of a day, else a day."""
        return _HOUR_MS if self.days == 1 else _DAY_MS


@dataclass(frozen=True, slots=True)
class Sums:
    """The hours of a period together."""

    accepted: int
    delivered: int
    undelivered: int
    failed: int
    canceled: int

    @property
    def under_way(self) -> int:
        known = self.delivered + self.undelivered + self.failed + self.canceled
        return max(0, self.accepted - known)

    @property
    def share(self) -> float | None:
        """The delivered share of all finished messages."""
        ended = self.delivered + self.undelivered + self.failed
        return self.delivered / ended if ended else None

    @property
    def bar(self) -> Bar:
        return Bar((self.delivered, self.under_way, self.undelivered, self.failed))


def sums(hours: Sequence[HourFigures]) -> Sums:
    names = ("accepted", "delivered", "undelivered", "failed", "canceled")
    return Sums(*(sum(getattr(hour, name) for hour in hours) for name in names))


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(
        "overview/show.html", await _values(request), steps=await left_of(request)
    )


async def live(request: PageRequest) -> TrioResponse:
    async def draw(_: object) -> str:
        return await request.drawn("overview/pieces.html", await _values(request))

    return request.live(draw)


async def _values(request: PageRequest) -> dict[str, object]:
    period = _period(request)
    shown = await request.ask_here(
        figures.OVERVIEW,
        mode=request.mode.value,
        since=iso(period.since_ms),
        until=iso(period.until_ms),
    )
    whole, before = sums(shown.hours), sums(shown.before)
    labels, bars = _bars(request, period, shown.hours)
    approved = _in_places(period, shown.approved_hours)
    return {
        "periods": PERIODS,
        "period": period,
        "overview": shown,
        "whole": whole,
        "pace": whole.accepted / before.accepted - 1 if before.accepted else None,
        "pace_max": PACE_MAX,
        "bars": bars,
        "labels": labels,
        "places": _marks_below(request, period, labels),
        "sparks": _sparks(bars),
        "share_sparks": _share_sparks(bars),
        "approved_sparks": [sum(each.count for each in place) for place in approved],
        "networks": [_network(each) for each in shown.networks[:NETWORKS_MAX]],
        "times_top": max((each.most_ms or 0 for each in shown.networks[:NETWORKS_MAX]), default=0),
        "failures": [
            (each.cause, cause_text(request, each.cause), each.count) for each in shown.failures
        ],
        "lasts_ms": _lasts_ms(request, shown.spent_a_day),
        "is_low": _is_low(request),
        "live_at": request.at("overview/live", period=period.name),
    }


def _period(request: PageRequest) -> Period:
    """The period in the address: today by default."""
    name = request.form.text("period") or "day"
    days, zone = PERIODS[name][0], request.formats.zone
    today = datetime.fromtimestamp(request.formats.now_ms / 1000, UTC).astimezone(zone).date()
    since = datetime.combine(today - timedelta(days=days - 1), time(), zone)
    until = datetime.combine(today + timedelta(days=1), time(), zone)
    return Period(name, days, round(since.timestamp() * 1000), round(until.timestamp() * 1000))


def _bars(
    request: PageRequest, period: Period, hours: Sequence[HourFigures]
) -> tuple[list[str | Markup], list[Bar]]:
    """One bar an hour of a day, else one a day; also for those without messages."""
    step, places = period.step_ms, _in_places(period, hours)
    starts = [period.since_ms + place * step for place in range(len(places))]
    formats = request.formats
    labels: list[str | Markup] = [
        formats.clock_text(at, seconds=False) if step == _HOUR_MS else formats.date_text(at)
        for at in starts
    ]
    return labels, [sums(each).bar for each in places]


def _in_places(period: Period, hours: Sequence[H]) -> list[list[H]]:
    """The hours of each bar."""
    count = -(-(period.until_ms - period.since_ms) // period.step_ms)
    places: list[list[H]] = [[] for _ in range(count)]
    for hour in hours:
        place = (hour.at - period.since_ms) // period.step_ms
        if 0 <= place < count:
            places[place].append(hour)
    return places


def _marks_below(
    request: PageRequest, period: Period, labels: Sequence[str | Markup]
) -> list[str | Markup]:
    """The labels below the bars."""
    if period.days == 1:
        return [*labels[::6], "24:00"]
    if period.days == _WEEK:
        return [labels[0], labels[-1]]
    return [labels[0], labels[len(labels) // 2], labels[-1]]


def _sparks(bars: Sequence[Bar]) -> list[int]:
    return [sum(bar.parts) for bar in bars]


def _share_sparks(bars: Sequence[Bar]) -> list[float]:
    """The delivered share of what ended, in each place that has any."""
    ended = [(bar.parts[0], bar.parts[0] + bar.parts[2] + bar.parts[3]) for bar in bars]
    return [delivered / whole for delivered, whole in ended if whole]


PACE_MAX: Final = 9.99
"""The largest growth that is shown as a share; a larger one is a multiple."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkView(NetworkFigures):
    """A network as its reader sees it."""

    name: str

    @property
    def share(self) -> float | None:
        """The delivered share of all finished messages."""
        ended = self.delivered + self.undelivered + self.failed
        return self.delivered / ended if ended else None

    @property
    def kind(self) -> str:
        return "warn" if self.share is not None and self.share < WELL else ""


def _network(network: NetworkFigures) -> NetworkView:
    return NetworkView(**shallow(network), name=network_name(network.network))


def _lasts_ms(request: PageRequest, spent_a_day: int) -> int | None:
    """How long the balance lasts at the pace of the last days; None: unknown."""
    a_day, balance = spent_a_day, request.organization.balance
    if a_day <= 0 or balance <= 0:
        return None
    return round(balance / a_day * _DAY_MS)


def _is_low(request: PageRequest) -> bool:
    if request.is_self_paid:
        return False
    low = request.organization.low_balance
    return low is not None and request.organization.balance < low


PERIOD_FILTER: Final = choice("period", N_("Period"), PERIODS)
ROUTES: Final = (
    PageRoute(
        path="/app/<org>/overview", view=show, access=PageAccess.VIEWER, filters=(PERIOD_FILTER,)
    ),
    PageRoute(
        path="/app/<org>/overview/live",
        view=live,
        access=PageAccess.VIEWER,
        filters=(PERIOD_FILTER,),
    ),
)
