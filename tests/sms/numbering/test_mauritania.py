"""Mauritania's plan, which is served where no other is asked for; checked against phonenumbers."""

from __future__ import annotations

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phonenumbers import PhoneNumberType, carrier

from risala.sms.numbering.countries import CHINGUITEL, MATTEL, MAURITEL, network_of
from risala.sms.numbering.plan import DEFAULT as PLAN

NUMBER = "+22236123456"


def is_mobile(parsed):
    return phonenumbers.number_type(parsed) is PhoneNumberType.MOBILE


@pytest.mark.slow
def test_the_plan_agrees_with_phonenumbers_on_every_prefix():
    for prefix in range(1000):
        for tail in ("00000", "12345", "99999"):
            number = f"+222{prefix:03}{tail}"
            parsed = phonenumbers.parse(number)
            if number[5] == "5" and number[4] in "234":
                assert PLAN.serves(number)
                assert network_of(number) is None
                assert not is_mobile(parsed)
                continue
            # 800xxxxx is toll-free: valid there, no mobile, not a number here.
            assert PLAN.serves(number) == (
                phonenumbers.is_valid_number(parsed) and is_mobile(parsed)
            )
            network = network_of(number)
            assert (network or "") == carrier.name_for_number(parsed, "en").lower()


def test_networks():
    assert network_of("+22222123456") == CHINGUITEL
    assert network_of("+22233123456") == MATTEL
    assert network_of("+22244123456") == MAURITEL
    assert network_of("nonsense") is None


@pytest.mark.parametrize(
    "text",
    [
        "", "22236123456", "36123456", "+2223612345", "+222361234567", "+22256123456",
        "+22236123456\n", " +22236123456", "+222 36123456", "+222٣٦١٢٣٤٥٦", "+２２２36123456",
        "+2223612345a", "0022236123456", "+33612345678",
    ],
)  # fmt: skip
def test_what_is_not_a_number(text):
    assert not PLAN.serves(text)


@pytest.mark.parametrize(
    "text",
    [
        "+22236123456", "22236123456", "0022236123456", "36123456", "36 12 34 56", "36.12.34.56",
        "36-12-34-56", "(+222) 36 12 34 56", "+222\u00a036\u202f12\u202f3456",
        "٣٦١٢٣٤٥٦", "۳۶۱۲۳۴۵۶",
        "\u200e+222 36123456\u202c", "+222 ٣٦ ١٢ ٣٤ ٥٦", " 36123456\n",
    ],
)  # fmt: skip
def test_what_people_write(text):
    assert PLAN.read(text) == NUMBER


def test_a_local_number_that_begins_like_the_country_code():
    assert PLAN.read("22212345") == "+22222212345"
    assert PLAN.read("22222212345") == "+22222212345"


@pytest.mark.parametrize(
    "text",
    ["", "+", "3612345", "361234567", "56123456", "+36123456", "abc", "36x23456",
     "+0022236123456", "++22236123456", "³6123456"],
)  # fmt: skip
def test_what_cannot_be_meant(text):
    with pytest.raises(ValueError, match=r"^A Mauritanian number .*\.$"):
        PLAN.read(text)


@given(st.text() | st.text(st.sampled_from("+0236- ٢\u200e")))
def test_whatever_is_typed_becomes_a_number_or_a_value_error(text):
    try:
        number = PLAN.read(text)
    except ValueError:
        return
    assert PLAN.serves(number)


@pytest.mark.parametrize(
    "written", ["+22236123456", "22236123456", "0022236123456", "+0022236123456", "36123456"]
)
def test_a_number_of_the_carriers_own_country_is_whole_however_it_is_written(written):
    assert PLAN.with_country(written, "+222") == "+22236123456"


@pytest.mark.parametrize(
    "written",
    [
        "1234", "222", "22236", "80001234", "0036123456", "33612345678", "+33612345678",
        "+36123456", "RISALA", "MyBank1", "", "+", "٣٦١٢٣٤٥٦", "36 12 34 56", "22212345678",
    ],
)  # fmt: skip
def test_what_is_none_of_that_country_stays_as_it_is_written(written):
    assert PLAN.with_country(written, "+222") == written


def test_a_local_number_may_begin_like_the_country_code():
    assert PLAN.with_country("22236123", "+222") == "+22222236123"


def test_without_a_national_prefix_nothing_is_changed():
    for written in ("36123456", "22236123456", "0022236123456"):
        assert PLAN.with_country(written, "") == written


def test_another_countrys_rule_takes_whole_numbers_and_leaves_short_ones():
    for written in ("771234567", "221771234567", "00221771234567"):
        assert PLAN.with_country(written, "+221") == "+221771234567"
    assert PLAN.with_country("1234", "+221") == "1234"


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("123456", "123456"),
        ("1234567", "+2211234567"),
        ("123456789012", "+221123456789012"),  # 15 digits with the country code, the most of E.164
        ("1234567890123", "1234567890123"),
        ("0771234567", "0771234567"),  # the 0 of a call within the country is none of its number
    ],
)
def test_how_long_another_countrys_local_numbers_are(written, whole):
    assert PLAN.with_country(written, "+221") == whole


@given(st.text(alphabet="+0123456789A", max_size=20), st.sampled_from(["+222", "+221", "+1", ""]))
def test_a_number_that_is_whole_is_not_changed_again(written, prefix):
    once = PLAN.with_country(written, prefix)
    assert PLAN.with_country(once, prefix) == once
    assert once == written or (once.startswith(prefix) and once.endswith(written.lstrip("+0")))
