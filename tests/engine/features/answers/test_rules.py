"""Rules that answer texts: which one a text meets, and with which words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from risala.engine.features.answers.rule_records import RULE_TEXT_MAX, AnswerRule
from risala.engine.features.answers.rules.matching import (
    Came,
    answer_of,
    is_time,
    is_within,
    keyword_met,
    local,
    matching,
    template_fault,
)
from risala.engine.rules.keywords import keyword_of, words_of
from risala.sms.limits import TEXT_CHARACTERS_MAX

PHONE = "+22236123456"
RULE = AnswerRule(
    id="rul_1",
    organization_id="org_1",
    name="Hours",
    place=1,
    enabled=True,
    keywords=("horaires", "ساعات"),
    anywhere=False,
    first_contact=False,
    days=(),
    from_time=None,
    to_time=None,
    language="fr",
    text_fr="De 8 h à 19 h.",
    text_ar="من 8 إلى 19.",
    text_en="",
    created_at=0,
)
MONDAY = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def came(text, **more):
    return Came(**{"text": text, "number": PHONE, "at": MONDAY, "is_first": False, **more})


def answered(text, *rules, **more):
    matched = matching(rules, came(text, **more))
    return None if matched is None else answer_of(matched, text)


def met(rule, text):
    return keyword_met(rule, keyword_of(text), words_of(text))


# -- which rule


def test_a_keyword_is_met_whatever_its_case_accents_and_signs():
    rule = replace(RULE, keywords=("Été", "ساعات"))
    for text in ("ete", "« ÉTÉ ! » svp", "سَاعات؟", "ete 12"):
        assert met(rule, text) is not None, text
    for text in ("", "l'été", "vos ete", "etes", "12"):
        assert met(rule, text) is None, text


def test_a_word_may_stand_anywhere_where_the_rule_says_so():
    rule = replace(RULE, anywhere=True)
    assert met(rule, "Bonjour, vos HORAIRES, svp ?") == "horaires"
    assert met(rule, "ما هي ساعات العمل؟") == "ساعات"
    assert met(rule, "horairesx") is None


@pytest.mark.parametrize("keyword", ["rendez-vous", "Rendez-Vous!", "l’heure", "a/b", "n°5"])
def test_a_keyword_with_a_sign_within_it_is_met_as_it_is_written(keyword):
    assert met(replace(RULE, keywords=(keyword,)), f"{keyword} svp") == keyword
    anywhere = replace(RULE, keywords=(keyword,), anywhere=True)
    for text in (f"un {keyword}, svp", f"un {keyword.upper()}", keyword.replace("-", " ")):
        assert met(anywhere, text) == keyword, text
    assert met(anywhere, "vous vous rendez a la demande de b: 5 heures") is None


def test_keywords_that_grow_when_they_are_folded_are_folded_once(monkeypatch):
    """One sign may be eighteen letters: fifty rules of them are not read with each text."""
    rules = [
        replace(RULE, keywords=tuple("\ufdfa" * 29 + chr(0x4E00 + at) for at in range(10)))
        for _ in range(50)
    ]
    assert answered("\ufdfa" * 1600, *rules) is None
    read = []
    monkeypatch.setattr("risala.engine.features.answers.rules.matching.folded", read.append)
    assert answered("\ufdfa" * 1600, *rules) is None
    assert read == []


def test_a_rule_without_keywords_takes_any_text():
    assert answered("whatever", replace(RULE, keywords=())) == "De 8 h à 19 h."


def test_of_two_that_match_the_first_answers():
    other = replace(RULE, id="rul_2", text_fr="the second")
    assert answered("horaires", RULE, other) == "De 8 h à 19 h."
    assert answered("horaires", replace(RULE, enabled=False), other) == "the second"


def test_a_rule_for_the_first_text_of_a_number():
    rule = replace(RULE, keywords=(), first_contact=True)
    assert answered("hello", rule, is_first=True) == "De 8 h à 19 h."
    assert answered("hello", rule) is None


def test_a_rule_may_answer_nothing_and_then_no_later_one_does():
    silent = replace(RULE, text_fr=" ", text_ar="")
    assert matching([silent, RULE], came("horaires")).texts == ()
    assert answered("horaires", silent, RULE) is None


@pytest.mark.parametrize(
    ("begin", "end", "days", "within", "without"),
    [
        ("08:00", "19:00", (), [(0, "08:00"), (6, "18:59")], [(0, "19:00"), (0, "07:59")]),
        ("19:00", "08:00", (), [(0, "19:00"), (0, "07:59")], [(0, "08:00"), (0, "18:59")]),
        ("19:00", "08:00", ("fri",), [(4, "19:00"), (5, "07:00")], [(4, "07:00"), (5, "19:00")]),
        (None, None, ("sat", "sun"), [(5, "00:00"), (6, "23:59")], [(0, "00:00"), (4, "23:59")]),
        ("18:00", None, (), [(0, "18:00"), (0, "23:59")], [(0, "17:59"), (0, "00:00")]),
        (None, "08:00", ("mon",), [(0, "00:00"), (0, "07:59")], [(0, "08:00"), (1, "00:00")]),
        ("08:00", "08:00", (), [(0, "08:00"), (0, "07:59")], []),
        ("00:00", "00:00", ("mon",), [(0, "00:00"), (0, "23:59")], [(1, "00:00")]),
    ],
)
def test_hours_and_days(begin, end, days, within, without):
    rule = replace(RULE, from_time=begin, to_time=end, days=days)

    def at(day, clock):
        hour, minute = map(int, clock.split(":"))
        return datetime(2026, 11, 30 if day == 0 else day, hour, minute, tzinfo=UTC).replace(
            month=11 if day == 0 else 12
        )

    assert all(is_within(rule, at(*each)) for each in within)
    assert not any(is_within(rule, at(*each)) for each in without)


def test_a_time_is_in_the_organizations_zone_also_when_clocks_change():
    at_ms = round(datetime(2026, 7, 1, 12, 0, tzinfo=UTC).timestamp() * 1000)
    assert [local(at_ms, zone).hour for zone in ("Africa/Nouakchott", "Europe/Paris")] == [12, 14]


# -- with which words


def test_the_answer_is_in_the_language_of_the_text_or_the_usual_one():
    rule = replace(RULE, keywords=(), text_en="From 8 to 19.", language="ar")
    told = {
        "Bonjour, vos horaires ?": "De 8 h à 19 h.",
        "what are your hours": "From 8 to 19.",
        "ما هي ساعات العمل؟": "من 8 إلى 19.",
        "INFO": "من 8 إلى 19.",
    }
    assert {text: answered(text, rule) for text in told} == told
    assert answered("what are your hours", replace(rule, text_en="")) == "من 8 إلى 19."
    assert answered("INFO", replace(rule, text_ar="")) == "De 8 h à 19 h."


def test_variables_are_filled_in():
    rule = replace(RULE, text_fr="{{name}} {{number}} {{ keyword }} {{date}} {{time}}")
    assert answered("Horaires !", rule, name="Aïcha") == (
        f"Aïcha {PHONE} horaires 2026-11-30 12:00"
    )


@pytest.mark.parametrize(
    "name",
    ["https://evil.example", "see evil.com", "www.evil.mr", "a\nb", "{{number}}", "\u202eevil"],
)
def test_a_name_brings_no_link_and_no_odd_characters(name):
    rule = replace(RULE, text_fr="Hello {{name}}!")
    assert answered("horaires", rule, name=name) == "Hello !"


def test_only_known_variables_stand_in_a_text():
    assert template_fault("{{name}} {{Number}} {name} {{") is None
    assert template_fault("You wrote {{text}}") == "unknown_variable"


def test_the_longest_answer_is_still_a_message():
    longest = ("{{name}}" * 10).ljust(RULE_TEXT_MAX, "x")
    assert template_fault(longest) is None
    assert template_fault("{{name}}" * 11) == "too_many_variables"
    matched = matching([replace(RULE, text_fr=longest)], came("horaires", name="n" * 100))
    assert len(answer_of(matched, "horaires")) <= TEXT_CHARACTERS_MAX


def test_times_of_day():
    assert all(map(is_time, ("00:00", "23:59")))
    assert not any(map(is_time, ("24:00", "8:00", "08:60", "08:00 ", "٠٨:٠٠", "")))
