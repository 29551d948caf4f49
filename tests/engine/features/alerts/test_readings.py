"""From when on something is bad, and from when on it is good again."""

from __future__ import annotations

import string

import pytest
from babel import Locale

from risala.config.alerts import AlertName, AlertsSection
from risala.engine.features.alerts import readings
from risala.engine.features.alerts.readings import CarrierFacts, EndlessFacts, SilenceFacts
from risala.engine.features.alerts.records import Alert, AlertKind
from risala.engine.features.alerts.rules import BLOCKS_MIN, HourOf, Rate, Verdict, latest, usual
from risala.engine.features.alerts.words import NEVER, alert_words, catalogue, plural_form
from risala.engine.model.people import Language

LIMITS = AlertsSection()
BAD, GOOD, UNKNOWN = Verdict.BAD, Verdict.GOOD, Verdict.UNKNOWN
DISK = LIMITS.disk_free_bytes


@pytest.mark.parametrize(
    ("free", "is_raised", "verdict"),
    [
        (DISK, False, GOOD),
        (DISK - 1, False, BAD),
        (DISK, True, BAD),
        (round(DISK * 1.2) + 1, True, GOOD),
    ],
)
def test_what_wavers_around_its_limit_stays(free, is_raised, verdict):
    assert readings.disk_low(free, LIMITS, is_raised=is_raised).verdict is verdict


def test_an_old_queue_is_young_again_at_half_the_age():
    found = [
        readings.queue_old("+2223", age, LIMITS, is_raised=is_raised).verdict
        for age, is_raised in ((600, False), (601, False), (301, True), (300, True))
    ]
    assert found == [GOOD, BAD, BAD, GOOD]


@pytest.mark.parametrize(
    ("silent_s", "accepted", "is_after_one", "is_raised", "verdict"),
    [
        (1800, 50, True, False, BAD),
        (1799, 500, True, False, GOOD),
        (9999, 49, True, False, GOOD),
        (0, 0, True, True, GOOD),  # one has just come
        (9999, 0, False, True, UNKNOWN),  # a restart proves nothing
    ],
)
def test_receipts_are_missing_after_time_and_messages(
    silent_s, accepted, is_after_one, is_raised, verdict
):
    silence = SilenceFacts("mattel", silent_s, accepted, is_after_one)
    assert readings.receipts_missing(silence, LIMITS, is_raised=is_raised).verdict is verdict


@pytest.mark.parametrize(
    ("endless_s", "receipts", "is_after_one", "is_raised", "verdict"),
    [
        (86_400, 1, True, False, BAD),
        (86_399, 9, True, False, GOOD),
        (99_999, 0, True, False, GOOD),  # that is told as missing receipts
        (0, 0, True, True, GOOD),  # a message has just ended
        (0, 0, False, True, UNKNOWN),  # a restart proves nothing
    ],
)
def test_ends_are_missing_after_a_day_of_other_receipts(
    endless_s, receipts, is_after_one, is_raised, verdict
):
    endless = EndlessFacts("mattel", endless_s, 50, receipts, is_after_one)
    found = readings.ends_missing(endless, is_raised=is_raised)
    assert (found.verdict, found.subject) == (verdict, "mattel")
    assert found.facts == {"endless_s": endless_s, "accepted": 50, "count": receipts}


@pytest.mark.parametrize(
    ("whole", "good", "middle", "is_raised", "verdict"),
    [
        (100, 70, 0.95, False, BAD),
        (100, 76, 0.95, False, GOOD),
        (100, 76, 0.95, True, BAD),
        (100, 86, 0.95, True, GOOD),
        (49, 0, 0.95, False, UNKNOWN),
        (100, 0, None, False, UNKNOWN),
        (100, 0, 0.1, False, GOOD),  # nobody is used to better
    ],
)
def test_a_rate_is_judged_by_what_is_usual(whole, good, middle, is_raised, verdict):
    kind = AlertKind.DELIVERY_LOW
    found = readings.rate_low(
        kind, "mattel", Rate(whole, good), middle, LIMITS, is_raised=is_raised
    )
    assert found.verdict is verdict


def test_few_codes_are_no_abuse_whoever_enters_them():
    def judged(whole, good, *, is_raised=False):
        return readings.codes_abused(
            "+2223612", Rate(whole, good), LIMITS, is_raised=is_raised
        ).verdict

    assert [judged(29, 0), judged(30, 4), judged(30, 5)] == [GOOD, BAD, GOOD]
    assert judged(20, 2, is_raised=True) is BAD
    assert judged(14, 0, is_raised=True) is GOOD


def test_a_quota_is_judged_by_what_is_used_up_first():
    lane = CarrierFacts("sim", "up", "", quotas=(("segments a day", 5, 100), ("recipients", 9, 10)))
    found = readings.quota_low(lane, LIMITS)
    assert (found.verdict, found.facts["of"]) == (BAD, "recipients")
    assert readings.quota_low(CarrierFacts("smsc", "up", ""), LIMITS) is None
    assert readings.sim_balance_low(CarrierFacts("smsc", "up", "")) is None


def test_a_backup_is_old_from_its_hours_on_or_nobody_wants_to_know():
    hour = 3_600_000
    assert readings.backup_old(0, None, 36 * hour, LIMITS).verdict is GOOD
    assert readings.backup_old(0, None, 36 * hour + 1, LIMITS).verdict is BAD
    assert readings.backup_old(None, 0, 37 * hour, LIMITS).facts["ever"] == "no"
    assert readings.backup_old(None, None, 37 * hour, LIMITS) is None
    off = AlertsSection(backup_age_h=0)
    assert readings.backup_old(0, 0, 999 * hour, off) is None


def test_a_step_of_the_clock_stands_for_an_hour():
    def judged(at_ms, by_ms, now_ms):
        return readings.clock_jumped(at_ms, by_ms, now_ms, LIMITS).verdict

    assert judged(0, -60_000, 1) is BAD
    assert judged(0, 60_000, 3_599_999) is BAD
    assert judged(0, 60_000, 3_600_000) is GOOD
    assert judged(0, 59_999, 1) is GOOD
    assert judged(None, 0, 1) is GOOD


# -- what is usual


def test_a_bad_day_changes_nothing_in_what_is_usual():
    hours = [HourOf(n, 100, 10 if n < 24 else 95) for n in range(24 * 5)]
    assert usual(hours, 120, 2, 50) == 0.95


def test_too_little_makes_nothing_usual():
    hours = [HourOf(n, 100, 95) for n in range(2 * BLOCKS_MIN + 2)]
    end = len(hours)
    assert usual(hours, end, 2, 50) == 0.95
    assert usual(hours[:-2], end, 2, 50) == 0.95
    assert usual(hours[2:], end, 2, 50) is None
    assert usual(hours, end, 2, 201) is None


def test_the_latest_hours_are_judged_together_and_make_nothing_usual():
    hours = [HourOf(n, 100, 95) for n in range(40)] + [HourOf(40, 10, 0), HourOf(41, 90, 50)]
    assert latest(hours, 42, 2) == Rate(100, 50)
    assert usual(hours, 42, 2, 50) == 0.95
    assert latest([], 42, 2).share == 0


# -- settings and words


def test_the_settings_know_each_alert():
    assert [*AlertName.__args__] == [kind.value for kind in AlertKind]


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_language_has_the_same_words_with_the_same_holes():
    english = catalogue(Language.ENGLISH)
    assert {*english} == {kind.value for kind in AlertKind} | {NEVER, "units", "words"}
    for language in Language:
        words = catalogue(language)
        for section, texts in english.items():
            assert words[section].keys() == texts.keys(), (language, section)
            if section not in ("words", "units"):
                for name, text in texts.items():
                    assert holes(words[section][name]) == holes(text), (language, section, name)


@pytest.mark.parametrize("language", [*Language])
def test_a_count_of_a_unit_has_each_form_of_its_language(language):
    units = catalogue(language)["units"]
    for unit in ("minutes", "hours", "days"):
        assert units[unit].keys() == {plural_form(language, count) for count in range(1, 200)}
    for count in range(1, 400):
        assert plural_form(language, count) == Locale(language.value).plural_form(count)


def said(alert_kind: AlertKind, language: Language, **facts) -> str:
    alert = Alert(1, alert_kind, "mattel", facts, 0, None, {}, 0, None, None, None)
    return alert_words(alert, language).text


def test_numbers_of_an_alert_are_written_as_pages_write_them():
    """Also those that older versions stored in digits, as amounts are."""
    owed = {"name": "Shop", "balance": "-1250.50", "currency": "MRU"}
    assert "is \u22121,250.50 MRU" in said(AlertKind.BALANCE_LOW, Language.ENGLISH, **owed)
    assert "\u22121\u00a0250,50 MRU" in said(AlertKind.BALANCE_LOW, Language.FRENCH, **owed)
    arabic = said(AlertKind.BALANCE_LOW, Language.ARABIC, **owed)
    assert "\u2068Shop\u2069" in arabic  # apart, as the amount with its sign is
    assert "\u2068\u22121\u00a0250,50\u2069 \u2068MRU\u2069" in arabic
    full = {"name": "Shop", "used_bytes": 812_000_000, "most_bytes": 1_500_000_000}
    assert "812\u00a0Mo sur 1,5\u00a0Go" in said(AlertKind.STORAGE_FULL, Language.FRENCH, **full)
    for language, shown in (("en", "2 hours"), ("fr", "2\u00a0heures"), ("ar", "ساعتين")):
        assert shown in said(AlertKind.QUEUE_OLD, Language(language), age_s=7300)
    assert "\u20689\u2069 أيام" in said(AlertKind.QUEUE_OLD, Language.ARABIC, age_s=9 * 86_400)
    few = {"count": 1, "items": "mlg_1"}
    assert "1 items" not in said(AlertKind.ITEM_SET_ASIDE, Language.ENGLISH, **few)
    tries = {"count": 40, "limited": 1}
    assert "1 minute." in said(AlertKind.SIGN_IN_FAILING, Language.ENGLISH, **tries)


@pytest.mark.parametrize("language", [*Language])
def test_what_others_wrote_stays_on_one_line_and_facts_that_are_not_there_are_dashes(language):
    facts = {"state": "down", "text": "one\ntwo\u202e {three}"}
    alert = Alert(1, AlertKind.CARRIER_DOWN, "a\nb", facts, 0, None, {}, 0, None, None, None)
    words = alert_words(alert, language)
    assert "one two {three}" in words.text
    assert "a b" in words.title
    assert "\n" not in words.text + words.title
    bare = Alert(1, AlertKind.ERRORS, "", {}, 0, 10_800_000, {}, 0, None, None, None)
    assert "–" in alert_words(bare, language).text
    assert "3" in alert_words(bare, language).lasted


@pytest.mark.parametrize(
    ("is_stuck", "age_s", "missed_at", "is_raised", "verdict"),
    [
        (False, 900, None, False, GOOD),
        (False, 901, None, False, BAD),
        (False, 451, None, True, BAD),
        (False, 450, None, True, GOOD),
        (True, 0, None, False, BAD),
        (False, 0, 1_000, False, BAD),
        (False, 0, 1_000 - readings.LOST_STANDS_MS, False, GOOD),
    ],
)
def test_a_sink_that_is_stuck_or_behind_or_lost_events(
    is_stuck, age_s, missed_at, is_raised, verdict
):
    sink = readings.SinkFacts("log", is_stuck, 1, age_s, 5, missed_at)
    found = readings.sink_behind(sink, 1_000, LIMITS, is_raised=is_raised)
    assert (found.subject, found.verdict) == ("log", verdict)


@pytest.mark.parametrize(
    ("age_s", "is_raised", "verdict"),
    [(300.0, False, GOOD), (300.1, False, BAD), (150.1, True, BAD), (150.0, True, GOOD)],
)
def test_a_standby_that_nothing_reaches(age_s, is_raised, verdict):
    found = readings.standby_behind(age_s, LIMITS, is_raised=is_raised)
    assert (found.subject, found.verdict, found.facts) == ("", verdict, {"age_s": round(age_s)})


def test_a_log_that_answers_wait_for():
    assert readings.standby_silent(2, refuses=False).verdict is GOOD
    assert readings.standby_silent(3, refuses=True).verdict is BAD
    assert readings.standby_async(False, 0).verdict is GOOD
    assert readings.standby_async(True, 7).verdict is BAD


@pytest.mark.parametrize(
    ("subject", "shown"), [("mattel", "Mattel"), ("SN/Orange", "SN/Orange"), ("+33", "+33")]
)
def test_a_network_is_written_as_it_calls_itself(subject, shown):
    alert = Alert(1, AlertKind.DELIVERY_LOW, subject, {}, 0, None, {}, 0, None, None, None)
    assert f"to {shown} " in f"{alert_words(alert, Language.ENGLISH).text} "
