"""The overview: warnings, the figures of a period, and the current activity."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Final, TypeVar

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.records import figures
from risala.engine.model.records.figures import HourCount, HourFigures, NetworkFigures
from risala.engine.model.records.record import shallow
from risala.engine.model.times import iso
from risala.http.dashboard.start.steps import left_of
from risala.http.web.charts import Bar
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, network_name
from risala.http.web.lists.filters import choice
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

_DAY_MS: Final = 86_400_000
_HOUR_MS: Final = 3_600_000
H = TypeVar("H", HourFigures, HourCount)
PERIODS: Final = {"day": (1, N_("Today")), "week": (7, N_("7 days")), "month": (30, N_("30 days"))}
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


async def show(visit: PageRequest) -> TrioResponse:
    return await visit.page("overview/show.html", await _values(visit), steps=await left_of(visit))


async def live(visit: PageRequest) -> TrioResponse:
    async def draw(_: object) -> str:
        return await visit.drawn("overview/pieces.html", await _values(visit))

    return visit.live(draw)


async def _values(visit: PageRequest) -> dict[str, object]:
    period = _period(visit)
    found = await visit.ask_here(
        figures.OVERVIEW,
        mode=visit.mode.value,
        since=iso(period.since_ms),
        until=iso(period.until_ms),
    )
    whole, before = sums(found.hours), sums(found.before)
    labels, bars = _bars(visit, period, found.hours)
    approved = _in_places(period, found.approved_hours)
    return {
        "periods": PERIODS,
        "period": period,
        "found": found,
        "whole": whole,
        "pace": whole.accepted / before.accepted - 1 if before.accepted else None,
        "pace_max": PACE_MAX,
        "bars": bars,
        "labels": labels,
        "places": _marks_below(visit, period, labels),
        "sparks": _sparks(bars),
        "share_sparks": _share_sparks(bars),
        "approved_sparks": [sum(each.count for each in place) for place in approved],
        "networks": [_network(each) for each in found.networks[:NETWORKS_MAX]],
        "lasts_ms": _lasts_ms(visit, found.spent_a_day),
        "is_low": _is_low(visit),
        "live_at": visit.at("overview/live", period=period.name),
    }


def _period(visit: PageRequest) -> Period:
    """The period in the address: today by default."""
    name = visit.form.text("period") or "day"
    days, zone = PERIODS[name][0], visit.formats.zone
    today = datetime.fromtimestamp(visit.formats.now_ms / 1000, UTC).astimezone(zone).date()
    since = datetime.combine(today - timedelta(days=days - 1), time(), zone)
    until = datetime.combine(today + timedelta(days=1), time(), zone)
    return Period(name, days, round(since.timestamp() * 1000), round(until.timestamp() * 1000))


def _bars(
    visit: PageRequest, period: Period, hours: Sequence[HourFigures]
) -> tuple[list[str | Markup], list[Bar]]:
    """One bar an hour of a day, else one a day; also for those without messages."""
    step, found = period.step_ms, _in_places(period, hours)
    starts = [period.since_ms + place * step for place in range(len(found))]
    formats = visit.formats
    labels: list[str | Markup] = [
        formats.clock_text(at, seconds=False) if step == _HOUR_MS else formats.date_text(at)
        for at in starts
    ]
    return labels, [sums(each).bar for each in found]


def _in_places(period: Period, hours: Sequence[H]) -> list[list[H]]:
    """The hours of each bar."""
    count = -(-(period.until_ms - period.since_ms) // period.step_ms)
    found: list[list[H]] = [[] for _ in range(count)]
    for hour in hours:
        place = (hour.at - period.since_ms) // period.step_ms
        if 0 <= place < count:
            found[place].append(hour)
    return found


def _marks_below(
    visit: PageRequest, period: Period, labels: Sequence[str | Markup]
) -> list[str | Markup]:
    """The labels below the bars."""
    if period.days == 1:
        return [*labels[::6], "24:00"]
    if period.days == PERIODS["week"][0]:
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


def _network(found: NetworkFigures) -> NetworkView:
    return NetworkView(**shallow(found), name=network_name(found.network))


def _lasts_ms(visit: PageRequest, spent_a_day: int) -> int | None:
    """How long the balance lasts at the pace of the last days; None: unknown."""
    a_day, balance = spent_a_day, visit.organization.balance
    if a_day <= 0 or balance <= 0:
        return None
    return round(balance / a_day * _DAY_MS)


def _is_low(visit: PageRequest) -> bool:
    if visit.is_self_paid:
        return False
    low = visit.organization.low_balance
    return low is not None and visit.organization.balance < low


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
