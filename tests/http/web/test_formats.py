"""Each format in three languages, as docs/reference/interface.md has them."""

import json
import re
import shutil
import subprocess
from functools import cache
from zoneinfo import ZoneInfo

import pytest

from patience import HANG_S
from risala.engine.model.people import Language
from risala.http.common.assets import STATIC
from risala.http.web.formats import Formats
from risala.http.web.forms import amount_text
from risala.http.web.languages import load_words
from risala.sms.currencies import counting_in

AT_MS = 1_795_250_476_123
"""21 Nov 2026, 08:41:16 in Nouakchott."""
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
words_of = cache(load_words)


def formats(language: str, zone: str = "Africa/Nouakchott", now_ms: int = AT_MS) -> Formats:
    return Formats(words_of(Language(language)), ZoneInfo(zone), "MRU", now_ms)


def text(markup: str) -> str:
    """As it is read, with the spaces that break no line shown as `_`."""
    return re.sub("<[^>]+>", "", markup).replace("\u00a0", "_")


@pytest.mark.parametrize(
    ("language", "shown"),
    [("fr", "12_480,50_MRU"), ("ar", "12_480,50_أوقية"), ("en", "12,480.50_MRU")],
)
def test_money(language, shown):
    assert text(formats(language).money(1_248_050)) == shown
    assert text(formats(language).money("12480.50")) == shown


def test_money_with_its_sign_inside_the_isolate():
    spent, got = formats("fr").money(-7100, sign=True, bare=True), formats("fr").money(1, sign=True)
    assert '<bdi class="num">−71,00</bdi>' in spent
    assert '<bdi class="num">+0,01</bdi>' in got
    assert text(formats("en").money(0, sign=True, bare=True)) == "0.00"


def test_money_of_another_currency():
    assert text(formats("ar").money(100, currency="EUR")) == "1,00_€"


@pytest.mark.parametrize(
    ("language", "number", "share"),
    [("fr", "2_418", "97,4_%"), ("ar", "2_418", "97,4%"), ("en", "2,418", "97.4%")],
)
def test_numbers_and_shares(language, number, share):
    assert text(formats(language).num(2418)) == number
    assert text(formats(language).share(0.974)) == share
    assert formats(language).num(-3.14159, 2).startswith('<bdi class="num">\u22123')


@pytest.mark.parametrize(
    ("a_second", "shown"),
    [
        (0.2, "0,2"),
        (0.016666, "0,017"),
        (0, "0"),
        (1, "1"),
        (2.54, "2,5"),
        (9.96, "10"),
        (10.4, "10"),
        (12345.6, "12_346"),
        (100000, "100_000"),
    ],
)
def test_a_slow_pace_is_no_zero_and_a_fast_one_keeps_its_digits(a_second, shown):
    assert text(formats("fr").pace(a_second)) == shown
    assert text(formats("ar").pace(a_second)) == shown
    english = shown.replace(",", ".").replace("_", ",")
    assert text(formats("en").pace(a_second)) == english


def test_phones():
    assert formats("ar").tel("+22236123456") == (
        '<bdi class="tel">+222\u00a036\u00a012\u00a034\u00a056</bdi>'
    )
    assert text(formats("fr").tel8("+22236123456")) == "36_12_34_56"
    assert text(formats("fr").tel("<b>BANK</b>")) == "&lt;b&gt;BANK&lt;/b&gt;"


@pytest.mark.parametrize(
    ("language", "moment", "date"),
    [
        ("fr", "21 nov. 2026, 08:41:16", "21 nov. 2026"),
        ("ar", "21 نوفمبر 2026، 08:41:16", "21 نوفمبر 2026"),
        ("en", "21 Nov 2026, 08:41:16", "21 Nov 2026"),
    ],
)
def test_moments(language, moment, date):
    shown = formats(language).moment(AT_MS)
    assert text(shown) == moment
    assert 'datetime="2026-11-21T08:41:16.123Z"' in shown
    assert text(formats(language).date("2026-11-21T08:41:16.123Z")) == date


def test_the_clock_is_the_organizations():
    paris = formats("en", "Europe/Paris")
    assert text(paris.clock(AT_MS)) == "09:41:16"
    assert text(paris.clock(AT_MS, seconds=False)) == "09:41"


@pytest.mark.parametrize(
    ("age_ms", "fr", "ar", "en"),
    [
        (3, "à l’instant", "الآن", "just now"),
        (MINUTE_MS, "il y a 1 minute", "قبل دقيقة", "1 minute ago"),
        (2 * MINUTE_MS, "il y a 2 minutes", "قبل دقيقتين", "2 minutes ago"),
        (5 * MINUTE_MS, "il y a 5 minutes", "قبل 5 دقائق", "5 minutes ago"),
        (11 * HOUR_MS, "il y a 11 heures", "قبل 11 ساعة", "11 hours ago"),
        (47 * DAY_MS, "il y a 47 jours", "قبل 47 يوما", "47 days ago"),
        (100 * DAY_MS, "13 août 2026", "13 أغشت 2026", "13 Aug 2026"),
    ],
)
def test_how_long_ago(age_ms, fr, ar, en):
    shown = {each: text(formats(each).ago(AT_MS - age_ms)) for each in ("fr", "ar", "en")}
    assert shown == {"fr": fr, "ar": ar, "en": en}


def test_ago_has_the_moment_in_its_title():
    assert 'title="21 Nov 2026, 08:39:16"' in formats("en").ago(AT_MS - 2 * MINUTE_MS)


@pytest.mark.parametrize(
    ("span_ms", "fr", "ar"),
    [
        (0, "0_s", "0_ث"),
        (12, "12_ms", "12_م.ث"),
        (3900, "3,9_s", "3,9_ث"),
        (40_000, "40_s", "40_ث"),
        (10 * MINUTE_MS, "10 minutes", "10 دقائق"),
        (HOUR_MS, "1 heure", "ساعة واحدة"),
        (11 * DAY_MS, "11 jours", "11 يوما"),
    ],
)
def test_how_long(span_ms, fr, ar):
    assert text(formats("fr").lasting(span_ms)) == fr
    assert text(formats("ar").lasting(span_ms)) == ar


@pytest.mark.parametrize(
    ("day", "later", "begins"),
    [
        ("2026-11-21", 0, "2026-11-21T00:00:00+01:00"),
        ("2026-11-21", 1, "2026-11-22T00:00:00+01:00"),
        ("2026-10-24", 1, "2026-10-25T00:00:00+02:00"),
        ("2026-10-25", 1, "2026-10-26T00:00:00+01:00"),
        ("1969-12-31", 0, None),
        ("0001-01-01", -1, None),
        ("9999-12-31", 1, None),
        ("2026-02-30", 0, None),
        ("x", 0, None),
        ("", 0, None),
    ],
)
def test_a_day_begins_where_the_organization_is(day, later, begins):
    assert formats("en", "Europe/Paris").midnight(day, later) == begins


def test_today_is_the_organizations():
    assert str(formats("en").today) == "2026-11-21"
    assert str(formats("en", "Pacific/Kiritimati", AT_MS + 2 * HOUR_MS).today) == "2026-11-22"
    assert str(formats("en", "Pacific/Honolulu").today) == "2026-11-20"


def test_what_is_of_today_is_told_by_its_clock_else_whole():
    shown = formats("fr").clock_or_moment
    assert text(shown(AT_MS - HOUR_MS)) == "07:41:16"
    assert shown(AT_MS) == formats("fr").clock(AT_MS)
    assert shown(AT_MS - DAY_MS) == formats("fr").moment(AT_MS - DAY_MS)
    there = formats("en", "Pacific/Auckland")  # 21:41 of the same day, so that this is tomorrow
    assert there.clock_or_moment(AT_MS + 4 * HOUR_MS) == there.moment(AT_MS + 4 * HOUR_MS)


def test_a_row_of_numbers_is_that_many_numbers():
    told = formats("fr")
    assert told.nums([0, 1234, -5]) == [told.num(0), told.num(1234), told.num(-5)]


def test_a_time_is_told_as_it_is_stored_however_it_was_written():
    told = formats("en")
    stamp = 'datetime="2026-11-21T08:41:16.123Z"'
    for at in (AT_MS, "2026-11-21T08:41:16.123Z", "2026-11-21T09:41:16.123+01:00"):
        assert stamp in told.clock(at)
    assert stamp in told.clock('2026-11-21"08:41:16.123Z')


@pytest.mark.parametrize(
    ("language", "city"), [("en", "Nouakchott"), ("fr", "Nouakchott"), ("ar", "نواكشوط")]
)
def test_a_zone_is_named_by_its_city(language, city):
    assert formats(language).city == city


@pytest.mark.parametrize(
    ("language", "day"), [("en", "Saturday"), ("fr", "Samedi"), ("ar", "السبت")]
)
def test_a_day_of_the_week(language, day):
    assert formats(language).weekday(AT_MS) == day


@pytest.mark.parametrize(
    ("language", "currency", "shown"),
    [
        ("en", "XOF", "12,500_F\u202fCFA"),
        ("fr", "XOF", "12_500_F\u202fCFA"),
        ("en", "TND", "12.500_TND"),
        ("fr", "TND", "12,500_TND"),
        ("ar", "TND", "12,500_د.ت"),
    ],
)
def test_money_has_the_decimals_and_the_sign_of_its_currency(language, currency, shown):
    assert text(formats(language).money(12_500, currency=currency)) == shown


COUNTER = """
const cases = JSON.parse(process.argv[2]), told = [];
for (const [number, { language, words, text }] of cases.entries()) {
  let parts = [];
  const out = { dataset: { words: JSON.stringify(words) } };
  out.replaceChildren = (...all) => { parts = all; };
  const field = { value: text, dataset: { counter: "out" }, addEventListener: () => {} };
  globalThis.document = {
    documentElement: { lang: language },
    querySelectorAll: () => [field],
    getElementById: (id) => (id === "out" ? out : null),
    createElement: () => ({}),
  };
  await import(`./sms.mjs?${number}`);
  told.push(parts.at(-1).textContent);
}
console.log(JSON.stringify(told));
"""
"""What the composer's script shows last: the price."""


@pytest.mark.slow
def test_the_composer_shows_sums_as_pages_do(tmp_path):
    """In currencies without decimals, with two and with three."""
    if shutil.which("node") is None:
        pytest.skip("NOT TESTED with Node: node is not installed")
    shutil.copy(STATIC / "web/sms.js", tmp_path / "sms.mjs")
    (tmp_path / "counter.mjs").write_text(COUNTER)
    cases, shown = [], []
    for currency, price in (
        ("XOF", 25),
        ("XOF", 1_250),
        ("MRU", 50),
        ("TND", 45),
        ("TND", 1_250_500),
    ):
        for language in ("fr", "ar", "en"):
            own = Formats(words_of(Language(language)), ZoneInfo("UTC"), currency, AT_MS)
            words = own.counter_words(price)
            cases += [{"language": language, "words": words, "text": "a" * n} for n in (9, 400)]
            shown += [text(own.money(parts * price)) for parts in (1, 3)]
    done = subprocess.run(
        ["node", str(tmp_path / "counter.mjs"), json.dumps(cases)],
        capture_output=True, text=True, check=True, timeout=HANG_S,
    )  # fmt: skip
    told = [
        re.sub("[\u2068\u2069]", "", each).replace("\u00a0", "_")
        for each in json.loads(done.stdout)
    ]
    assert told == shown
    assert told[:4] == ["25_F\u202fCFA", "75_F\u202fCFA"] * 2
    assert told[-2:] == ["1,250.500_TND", "3,751.500_TND"]


@pytest.mark.parametrize(
    ("currency", "amount", "shown"),
    [
        ("XOF", "12500", ("12_500", "12_500", "12,500")),
        ("TND", "0.045", ("0,045", "0,045", "0.045")),
    ],
)
def test_a_field_holds_an_amount_as_people_type_it(currency, amount, shown):
    for language, wanted in zip(("fr", "ar", "en"), shown, strict=True):
        own = Formats(words_of(Language(language)), ZoneInfo("UTC"), currency, AT_MS)
        typed = own.typed(amount)
        assert typed.replace("\u00a0", "_") == wanted
        with counting_in(currency):
            assert amount_text(typed) == amount
