"""Numbering plans of any country, held against phonenumbers."""

from __future__ import annotations

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phonenumbers import PhoneNumberType
from tests.support.cases import sweep

from risala.sms.numbering.plan import plan_of

COUNTRIES = ("SN", "MA", "FR", "ML", "CI", "TN", "DZ", "NG", "GB", "US", "BR", "IN")
PLANS = {code: plan_of((code,)) for code in (*COUNTRIES, "MR")}
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
OTHERS = (
    *(PhoneNumberType.FIXED_LINE, PhoneNumberType.PREMIUM_RATE, PhoneNumberType.TOLL_FREE),
    *(PhoneNumberType.VOIP, PhoneNumberType.SHARED_COST, PhoneNumberType.PERSONAL_NUMBER),
)


def written(number: phonenumbers.PhoneNumber, form: int) -> str:
    return phonenumbers.format_number(number, form)


def example(code: str, kind: int = PhoneNumberType.MOBILE) -> phonenumbers.PhoneNumber | None:
    return phonenumbers.example_number_for_type(code, kind)


@sweep("code", COUNTRIES)
def test_a_mobile_number_in_every_form(code):
    plan, number = PLANS[code], example(code)
    whole = written(number, phonenumbers.PhoneNumberFormat.E164)
    local = written(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    international = written(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    assert plan.serves(whole)
    assert plan.example == whole
    for text in (whole, whole[1:], f"00{whole[1:]}", local, international, local.translate(ARABIC)):
        assert plan.read(text) == whole, text
    assert plan.written(whole) == local
    assert plan.international(whole) == international


@sweep("code", COUNTRIES)
def test_what_is_no_mobile_number_of_it(code):
    plan, whole = PLANS[code], PLANS[code].example
    assert not plan.serves(whole[:-2])  # too short
    assert not plan.serves(whole + "00")
    assert not plan.serves(f"+{plan.home.calling_code}0000")  # an unknown prefix
    for kind in OTHERS:
        other = example(code, kind)
        found = other and phonenumbers.number_type(other)
        if other is None or found is PhoneNumberType.FIXED_LINE_OR_MOBILE:
            continue
        text = written(other, phonenumbers.PhoneNumberFormat.E164)
        assert not plan.serves(text), (kind, text)
        with pytest.raises(ValueError, match=r"^This is not a mobile number of .* looks like"):
            plan.read(text)


@sweep("code", COUNTRIES)
def test_another_countrys_number_is_not_served(code):
    for other, plan in PLANS.items():
        if other != code:
            assert not PLANS[code].serves(plan.example)


@given(st.sampled_from(sorted(PLANS)), st.integers(0, 10**11))
def test_a_number_that_is_written_is_read_as_itself(code, digits):
    plan = PLANS[code]
    number = f"+{plan.home.calling_code}{digits}"
    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        assert not plan.serves(number)
        return
    is_mobile = phonenumbers.number_type(parsed) in (
        PhoneNumberType.MOBILE,
        PhoneNumberType.FIXED_LINE_OR_MOBILE,
    )
    if code != "MR":
        assert plan.serves(number) == (
            is_mobile and phonenumbers.is_valid_number_for_region(parsed, code)
        )
    if plan.serves(number):
        assert plan.read(plan.written(number)) == number
        assert plan.read(plan.international(number)) == number


def test_home_is_the_first_country():
    plan = plan_of(("SN", "MR"))
    assert plan.home.code == "SN"
    assert plan.read("77 123 45 67") == "+221771234567"
    with pytest.raises(ValueError, match="Senegal or Mauritania"):
        plan.read("36123456")  # as people of Mauritania write it: home is Senegal
    assert plan.read("00222 36 12 34 56") == "+22236123456"
    assert plan.written("+221771234567") == "77 123 45 67"
    assert plan.written("+22236123456") == "+222 36 12 34 56"
    assert plan.prefixes == ("+221", "+222")
    assert plan.country_of("+22236123456").code == "MR"
    assert plan.country_of("+33612345678") is None
    assert plan.kind == "a mobile number of Senegal or Mauritania"


def test_networks_are_named_with_their_country():
    plan = plan_of(("SN", "MR"))
    assert {"SN/Orange", "mattel"} <= plan.networks()
    assert plan.home.network_of("+221771234567") == "SN/Orange"
    assert plan.home.network_of("+22236123456") is None


@pytest.mark.parametrize("codes", [(), ("XX",), ("SN", "AQ"), ("sn",)])
def test_countries_that_cannot_be_served(codes):
    with pytest.raises(ValueError, match=r"mobile numbers|at least one"):
        plan_of(codes)


def test_a_part_of_a_number_leads_to_few_ranges():
    plan = plan_of(("SN", "MR"))
    assert PLANS["MR"].part_min == 4
    assert plan.part_min == 5
    ranges = plan.ranges_of("34567")
    assert any(low <= 221771234567 <= high for low, high in ranges)
    assert len(ranges) < 50_000
    assert not any(low <= 221771234568 <= high for low, high in ranges)
