"""Who of a chain is on duty, who comes next, and which texts end an alarm."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from risala.engine.features.alarms.rules import (
    ASKS,
    body_of,
    is_over,
    is_word,
    next_person,
    on_duty,
    person_of,
    says,
)
from risala.engine.model.people import Language

ONE, TWO, THREE = "+22236000001", "+22236000002", "+22236000003"
ZONE = "Europe/Paris"


def people(*lines):
    return [person_of(line) for line in lines]


def ms(text):
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(ZONE)).timestamp() * 1000)


def duty(chain, at):
    return [each.number for each in on_duty(chain, ZONE, ms(at))]


def test_a_line_is_read_as_it_is_written():
    for line in (ONE, f"{ONE} mon,tue", f"{ONE} 08:00-18:00", f"{ONE} fri,sat 20:00-06:00"):
        assert person_of(line).line == line


@pytest.mark.parametrize(
    ("line", "stored"),
    [
        ("36 00 00 01 Mon-Wed", "36 00 00 01 mon-wed"),
        (f"{ONE} sat-mon 00:00-24:00", f"{ONE} mon,sat,sun 00:00-24:00"),
        (f"{ONE} lun,mar 08:00-18:00", f"{ONE} mon,tue 08:00-18:00"),
        (f"{ONE} الاثنين، الجمعة", f"{ONE} mon,fri"),
        (f"  {ONE}   sun sat", f"{ONE} sat,sun"),
        (f"{ONE} mon,tue,wed,fri", f"{ONE} mon,tue,wed,fri"),
        (f"{ONE} sun-sat", ONE),
    ],
)
def test_people_write_days_as_they_do(line, stored):
    assert person_of(line).line == stored


@pytest.mark.parametrize(
    "line",
    [
        *("", "mon", f"{ONE} someday", f"{ONE} mon-x", f"{ONE} mon x", f"{ONE} 8:00-18:00"),
        *(f"{ONE} 08:00-08:00", f"{ONE} 08:00-25:00", "1 2 3 4 5 6 7 8 9 10 11 12 13"),
    ],
)
def test_what_is_no_line(line):
    assert person_of(line) is None


def test_shifts_by_day_and_hour():
    chain = people(f"{ONE} mon,tue 08:00-18:00", f"{TWO} mon 18:00-08:00", f"{THREE} sun")
    assert duty(chain, "2026-11-30T09:00") == [ONE]  # a Monday
    assert duty(chain, "2026-11-30T18:00") == [TWO]
    assert duty(chain, "2026-12-01T07:59") == [TWO], "it began on Monday"
    assert duty(chain, "2026-12-01T08:00") == [ONE]
    assert duty(chain, "2026-12-06T12:00") == [THREE]
    assert duty(chain, "2026-12-02T12:00") == [ONE, TWO, THREE], "nobody's shift: everybody"
    assert duty(people(f"{ONE} 20:00-24:00", f"{TWO} 00:00-20:00"), "2026-12-02T23:59") == [ONE]


def test_shifts_over_a_change_of_clocks():
    """The clocks of Paris skip an hour on 29 March 2026, and repeat one on 25 October."""
    chain = people(f"{ONE} 00:00-02:00", f"{TWO} 02:00-03:00", f"{THREE} 03:00-24:00")
    skipped = ms("2026-03-29T01:59") + 60_000
    assert [e.number for e in on_duty(chain, ZONE, skipped)] == [THREE]
    twice = ms("2026-10-25T02:30")
    for at in (twice, twice + 3_600_000):
        assert [e.number for e in on_duty(chain, ZONE, at)] == [TWO]


def test_rounds_in_order_and_shifts_that_change():
    chain = people(ONE, TWO)
    former = []
    while not is_over(chain, former, 2):
        former.append(next_person(chain, former).number)
    assert former == [ONE, TWO, ONE, TWO]
    assert next_person(people(TWO, THREE), [ONE, TWO]).number == THREE
    assert is_over([], [], 1), "all were erased"


@pytest.mark.parametrize("text", ["ok", "OK.", "« Ok ! »", "ok, j'arrive"])
def test_the_word_ends_it(text):
    assert says("OK", text)


def test_the_word_in_any_script():
    assert says("وصل", "وَصَلَ")
    assert not says("OK", "not ok")
    assert not says("OK", "okay")
    assert not says("OK", "")


def test_what_is_a_word():
    assert all(map(is_word, ("OK", "prêt", "وصل", "1")))
    assert not any(map(is_word, ("", "?", "on it", "on-it")))


def test_each_language_asks_for_the_word():
    assert set(ASKS) == {each.value for each in Language}
    for language in Language:
        assert body_of("Fire", "OK", language).startswith("Fire\n")
        assert " OK" in body_of("Fire", "OK", language)
