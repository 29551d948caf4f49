"""Numbers, money, times and telephone numbers, as readers of each language write them.

Digits are Western in all three languages, as on phones and invoices of the Maghreb; the patterns
are our own, because browsers draw CLDR's differently. Everything that is not a word of
the page's language is put into an isolate, with its sign inside: else the digits of an Arabic
sentence change places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date as Day
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from risala.dataclass import dataclass
from risala.engine.model.numbers import FORGOTTEN
from risala.engine.model.people import Language
from risala.engine.model.records.people.countries import PrefixPrice
from risala.engine.model.times import iso
from risala.http.web.cached import as_markup
from risala.http.web.languages import NC_, Words, city_of, symbol_of
from risala.sms.currencies import decimals_of
from risala.sms.numbering.plan import DEFAULT, NumberingPlan

Moment = int | str
"""UTC epoch milliseconds, or a time in the format of operations (ISO 8601)."""
NBSP: Final = "\u00a0"
MINUS: Final = "\u2212"
_DAYS_KEPT: Final = 1024
"""Formatted days kept for each language: those of a year. A list has most of its rows from a few
days."""
_NUMBERS_KEPT: Final = 2048
"""Numbers and sums that are kept as they are written: parts and prices of a list are few."""
_MONTHS: Final = (
    *(NC_("month", "Jan"), NC_("month", "Feb"), NC_("month", "Mar"), NC_("month", "Apr")),
    *(NC_("month", "May"), NC_("month", "Jun"), NC_("month", "Jul"), NC_("month", "Aug")),
    *(NC_("month", "Sep"), NC_("month", "Oct"), NC_("month", "Nov"), NC_("month", "Dec")),
)
_NOUAKCHOTT: Final = "Africa/Nouakchott"
_MAURITANIAN: Final[Mapping[int, str]] = {4: "إبريل", 8: "أغشت", 9: "شتمبر", 12: "دجمبر"}
"""The months that Mauritania calls otherwise in Arabic: those of CLDR's ``ar_MR``."""
_WEEKDAYS: Final = (
    *(NC_("weekday", "Monday"), NC_("weekday", "Tuesday"), NC_("weekday", "Wednesday")),
    *(NC_("weekday", "Thursday"), NC_("weekday", "Friday"), NC_("weekday", "Saturday")),
    NC_("weekday", "Sunday"),
)
_CURRENCIES: Final[Mapping[str, str]] = {"MRU": NC_("currency", "MRU")}
"""Currencies with a word of their own; any other is written as its language writes it."""
_CATEGORIES: Final = {"zero": 0, "one": 1, "two": 2, "few": 3, "many": 11, "other": 100}
"""Unicode's names for the forms of a plural, each with a count that has it in Arabic."""
_ISO: Final = len("2026-11-21T08:30:00.123Z")
_TENTH_MS: Final = 100
"""Shorter durations are shown in milliseconds: in seconds they would be 0.0."""
_SECOND_MS: Final = 1000
_MINUTE_MS: Final = 60_000
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Formats:
    """The formats of one reader: their language, the clock of their organization, its money."""

    words: Words
    zone: ZoneInfo
    currency: str
    now_ms: int
    plan: NumberingPlan = DEFAULT

    @property
    def city(self) -> str:
        """The city that gives the zone its name, in the reader's language."""
        return city_of(self.zone.key, self.words.language)

    # -- numbers

    def plain(self, value: float | Decimal, decimals: int = 0) -> str:
        """A number as text: for places that hold no markup."""
        return _plain(self.words.language, value, decimals)

    def num(self, value: float | Decimal, decimals: int = 0) -> Markup:
        return _number(self.words.language, value, decimals)

    def pace(self, a_second: float) -> Markup:
        """How many in a second, with as many decimals as a slow one needs: 0.2 is one in five
        seconds."""
        shown = Decimal(f"{a_second:.2g}" if a_second < 10 else f"{a_second:.0f}")
        exponent = shown.normalize().as_tuple().exponent
        return self.num(shown, max(0, -int(exponent)))

    def nums(self, values: Iterable[int]) -> list[Markup]:
        """A row of numbers; a table has many such rows."""
        return [_number(self.words.language, value, 0) for value in values]

    def share(self, part: float, decimals: int = 1) -> Markup:
        """0.974 → 97.4%."""
        space = NBSP if self.words.language is Language.FRENCH else ""
        return _isolate(f"{self.plain(part * 100, decimals)}{space}%")

    # -- money

    def money(
        self,
        amount: int | str,
        *,
        sign: bool = False,
        bare: bool = False,
        currency: str | None = None,
    ) -> Markup:
        """An amount: minor units, or in the format of operations, ``"12480.50"``.

        ``sign``: also where it is positive. ``bare``: without its unit.
        """
        unit = None if bare else self.unit(currency or self.currency)
        places = decimals_of(currency or self.currency)
        return _money(self.words.language, amount, unit, places, sign=sign)

    def typed(self, amount: str) -> str:
        """An amount as people type it: for a field, which holds no markup."""
        return _plain(self.words.language, Decimal(amount), decimals_of(self.currency))

    def unit(self, currency: str) -> str:
        known = _CURRENCIES.get(currency)
        if known is None:
            return symbol_of(currency, self.words.language)
        return self.words.among("currency", known)

    def counter_words(
        self,
        price_minor: int | None = None,
        *,
        smart: bool = False,
        abroad: Sequence[PrefixPrice] | None = None,
    ) -> dict[str, object]:
        """The texts that ``sms.js`` shows next to a message being typed, and the format of sums.

        Args:
            price_minor: of one part; None: no money is shown.
            smart: curly quotes, dashes and the like are replaced where that makes the text fit.
            abroad: prices of a part by prefix, where other countries are served.
        """
        english = self.words.language is Language.ENGLISH
        return {
            "odd": self.words("“{letter}” makes it Unicode", letter="{letter}"),
            "swap": self.words(
                "“{letter}” makes it Unicode; “{other}” would not",
                letter="{letter}",
                other="{other}",
            ),
            "smart": smart,
            "parts": {
                category: self.words.counted("{n} part", "{n} parts", count, n="{n}")
                for category, count in _CATEGORIES.items()
            },
            "price": price_minor,
            **({} if abroad is None else self._abroad(price_minor, abroad)),
            "unit": self.unit(self.currency),
            "decimals": decimals_of(self.currency),
            "decimal": "." if english else ",",
            "group": "," if english else NBSP,
        }

    def _abroad(self, price_minor: int | None, abroad: Sequence[PrefixPrice]) -> dict[str, object]:
        """What ``sms.js`` needs for the price of a number as it is being typed."""
        home, local = self.plan.home, self.plan.local_example
        known = {f"+{home.calling_code}": price_minor}
        return {
            "prices": known | {each.prefix: each.price for each in abroad},
            "local": sum(each.isdigit() for each in local),
        }

    # -- telephone numbers

    def tel(self, number: str) -> Markup:
        """A number with its country's code; a text that is no valid number is returned
        unchanged."""
        return self._tel(number, self.plan.international(number))

    def tel8(self, number: str) -> Markup:
        """As it is written at home, for a tight list."""
        return self._tel(number, self.plan.written(number))

    def _tel(self, number: str, written: str) -> Markup:
        if number == FORGOTTEN:
            return self.words("erased")
        return as_markup(f'<bdi class="tel">{escape(written.replace(" ", NBSP))}</bdi>')

    # -- times: UTC epoch milliseconds, or in the format of operations

    def date_text(self, at: Moment) -> Markup:
        return self._day(self._local(at))

    def month_text(self, first: Day) -> Markup:
        """The month of a day: Nov 2026."""
        named = _month_name(self.words, self.zone.key, first.month)
        return self.words.among("month of a year", "{month} {year}", month=named, year=first.year)

    def weekday(self, at: Moment) -> Markup:
        """Saturday, as it begins a sentence."""
        return self.words.among("weekday", _WEEKDAYS[self._local(at).weekday()])

    def day_text(self, at: Moment) -> Markup:
        """A day above what happened on it: Today, Yesterday, or Saturday, 21 Nov 2026."""
        local = self._local(at)
        back = (self.today - local.date()).days
        if back in (0, 1):
            return self.words("Yesterday") if back else self.words("Today")
        return self.words("{weekday}, {date}", weekday=self.weekday(at), date=self._day(local))

    def clock_text(self, at: Moment, *, seconds: bool = True) -> str:
        return _clock(self._local(at), seconds=seconds)

    def moment_text(self, at: Moment) -> Markup:
        """21 Nov 2026, 08:41:16."""
        local = self._local(at)
        return self._moment(local, _clock(local))

    def date(self, at: Moment) -> Markup:
        return _time(at, f"<bdi>{self.date_text(at)}</bdi>")

    def clock(self, at: Moment, *, seconds: bool = True) -> Markup:
        local = self._local(at)
        shown = _isolate(_clock(local, seconds=seconds))
        return _time(at, shown, title=self._moment(local, _clock(local)))

    def moment(self, at: Moment) -> Markup:
        return _time(at, f"<bdi>{self.moment_text(at)}</bdi>")

    def clock_or_moment(self, at: Moment) -> Markup:
        """The clock for a time of today, else date and time."""
        local = self._local(at)
        clock = _clock(local)
        moment = self._moment(local, clock)
        if local.date() == self.today:
            return _time(at, _isolate(clock), title=moment)
        return _time(at, f"<bdi>{moment}</bdi>")

    def ago(self, at: Moment) -> Markup:
        """2 minutes ago, with date and time in the title. An older time is shown by its date."""
        return _time(at, self._ago(self.now_ms - ms_of(at), at), title=self.moment_text(at))

    def _ago(self, age_ms: int, at: Moment) -> Markup:
        if age_ms < _MINUTE_MS:
            return self.words("just now")
        if age_ms < _HOUR_MS:
            count = age_ms // _MINUTE_MS
            return self.words.counted("{n} minute ago", "{n} minutes ago", count, n=self.num(count))
        if age_ms < _DAY_MS:
            count = age_ms // _HOUR_MS
            return self.words.counted("{n} hour ago", "{n} hours ago", count, n=self.num(count))
        count = (self._local(self.now_ms).date() - self._local(at).date()).days
        if count <= _DAYS_TOLD_MAX:
            return self.words.counted("{n} day ago", "{n} days ago", count, n=self.num(count))
        return as_markup(f"<bdi>{self.date_text(at)}</bdi>")

    def lasting(self, span_ms: int) -> Markup:
        """A duration: 40 ms, 3.9 s, 12 minutes, 5 hours, 11 days."""
        if 0 < span_ms < _TENTH_MS:
            return self._with_unit(self.num(span_ms), self.words.among("unit of time", "ms"))
        if span_ms < _MINUTE_MS:
            seconds = self.num(Decimal(span_ms) / _SECOND_MS, 1 if span_ms % _SECOND_MS else 0)
            return self._with_unit(seconds, self.words.among("unit of seconds", "s"))
        if span_ms < _HOUR_MS:
            count = round(span_ms / _MINUTE_MS)
            return self.words.counted("{n} minute", "{n} minutes", count, n=self.num(count))
        if span_ms < 2 * _DAY_MS:
            count = round(span_ms / _HOUR_MS)
            return self.words.counted("{n} hour", "{n} hours", count, n=self.num(count))
        count = round(span_ms / _DAY_MS)
        return self.words.counted("{n} day", "{n} days", count, n=self.num(count))

    @staticmethod
    def _with_unit(number: Markup, unit: Markup) -> Markup:
        return as_markup(f'<span class="nowrap">{number}{NBSP}{unit}</span>')

    def with_zone(self, typed: str) -> str:
        """A time from a field for times, which has no zone: the organization's zone is used.

        A text that is no time is returned unchanged, for its reader to refuse.
        """
        try:
            moment = datetime.fromisoformat(typed)
        except ValueError:
            return typed
        return moment.isoformat() if moment.tzinfo else moment.replace(tzinfo=self.zone).isoformat()

    def chosen_text(self, typed: str) -> Markup | None:
        """A time in the reader's words, from a field for times that browsers write in their own
        format. None for a text that is no time."""
        try:
            local = self._local(self.with_zone(typed))
        except (ValueError, OverflowError):
            return None
        return self._moment(local, _clock(local, seconds=False))

    def field_text(self, at: Moment) -> str:
        """A time as a field for times takes it: by the organization's clock, without its zone."""
        return self._local(at).replace(tzinfo=None).isoformat(timespec="minutes")

    def midnight(self, day: str, later: int = 0) -> str | None:
        """The start of a day in the organization's zone, from a field for dates, or of the day so
        much ``later``; None for an impossible date."""
        try:
            known = Day.fromisoformat(day) + timedelta(days=later)
        except (ValueError, OverflowError):
            return None
        if known.year < _FIRST_YEAR:
            return None
        return datetime.combine(known, time(), self.zone).isoformat()

    @property
    def today(self) -> Day:
        """The current day in the organization's zone."""
        return self._local(self.now_ms).date()

    def _day(self, local: datetime) -> Markup:
        return _day_text(self.words, self.zone.key, local.year, local.month, local.day)

    def _moment(self, local: datetime, clock: str) -> Markup:
        before, after = _around_clock(self.words, self.zone.key, local.year, local.month, local.day)
        return as_markup(f"{before}{clock}{after}")

    def _local(self, at: Moment) -> datetime:
        if isinstance(at, int):
            return datetime.fromtimestamp(at / 1000, self.zone)
        return datetime.fromisoformat(at).astimezone(self.zone)


def bare_formats(words: Words) -> Formats:
    """For parts that are the same for all readers of a language: no clock, no money."""
    return Formats(words, ZoneInfo("UTC"), "", 0)


_FIRST_YEAR: Final = 1970
"""Earlier times cannot be counted, and no event of ours is older."""
_DAYS_TOLD_MAX: Final = 60
"""Older times are shown by their date: two months."""


@lru_cache(_DAYS_KEPT)
def _day_text(words: Words, zone: str, year: int, month: int, day: int) -> Markup:
    named = _month_name(words, zone, month)
    return words.among("date", "{day} {month} {year}", day=day, month=named, year=year)


def _month_name(words: Words, zone: str, month: int) -> str | Markup:
    at_home = _MAURITANIAN.get(month) if zone == _NOUAKCHOTT else None
    arabic = words.language is Language.ARABIC
    return at_home if arabic and at_home else words.among("month", _MONTHS[month - 1])


@lru_cache(_DAYS_KEPT)
def _around_clock(words: Words, zone: str, year: int, month: int, day: int) -> tuple[str, str]:
    """The texts before and after the clock in a date and time of that day."""
    date, clock = _day_text(words, zone, year, month, day), "\0"
    before, _, after = words.among(
        "date and time", "{date}, {clock}", date=date, clock=clock
    ).partition(clock)
    return before, after


def ms_of(at: Moment) -> int:
    """UTC epoch milliseconds."""
    if isinstance(at, int):
        return at
    return round(datetime.fromisoformat(at).timestamp() * 1000)


def _plain(language: Language, value: float | Decimal, decimals: int) -> str:
    if type(value) is int and not decimals:
        text, is_below = f"{abs(value):,}", value < 0
    else:
        exact = Decimal(str(value)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
        text, is_below = f"{abs(exact):,.{decimals}f}", exact < 0
    if language is not Language.ENGLISH:
        text = text.replace(",", NBSP).replace(".", ",")
    return (MINUS if is_below else "") + text


@lru_cache(_NUMBERS_KEPT, typed=True)
def _number(language: Language, value: float | Decimal, decimals: int) -> Markup:
    return _isolate(_plain(language, value, decimals))


@lru_cache(_NUMBERS_KEPT, typed=True)
def _money(
    language: Language, amount: int | str, unit: str | None, places: int, *, sign: bool
) -> Markup:
    """``unit=None``: without a unit; ``places``: the decimals of the currency."""
    exact = Decimal(amount).scaleb(-places) if isinstance(amount, int) else Decimal(amount)
    text = _plain(language, exact, places)
    shown = _isolate(f"+{text}" if sign and exact > 0 else text)
    if unit is not None:
        shown = as_markup(f'{shown}{NBSP}<span class="unit">{escape(unit)}</span>')
    return as_markup(f'<span class="nowrap">{shown}</span>')


def _clock(local: datetime, *, seconds: bool = True) -> str:
    if seconds:
        return f"{local.hour:02}:{local.minute:02}:{local.second:02}"
    return f"{local.hour:02}:{local.minute:02}"


# The following texts are made of markup, or of digits and their separators, and contain no text of
# users, so nothing is escaped again.


def _isolate(digits: str) -> Markup:
    return as_markup(f'<bdi class="num">{digits}</bdi>')


def _time(at: Moment, shown: str, title: Markup | None = None) -> Markup:
    """``at`` was read before, so that it is a time."""
    title_attribute = "" if title is None else f'" title="{title}'
    # In the format of operations, as a page shows it; a separator could be any character.
    is_ours = isinstance(at, str) and len(at) == _ISO and at[10] == "T" and at[-1] == "Z"
    return as_markup(
        f'<time datetime="{at if is_ours else iso(ms_of(at))}{title_attribute}">{shown}</time>'
    )
