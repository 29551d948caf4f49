"""Numbering plans of any country, held against phonenumbers."""

from __future__ import annotations

import re
import zoneinfo

import phonenumbers
import pytest
from hypothesis import assume, given
from hypothesis import example as tried
from hypothesis import strategies as st
from phonenumbers import PhoneNumberFormat, PhoneNumberType
from tests.support.cases import sweep

from risala.sms.numbering.countries import Mauritania, network_of, prefixes_of
from risala.sms.numbering.plan import NumberingPlan, part_min, plan_of

COUNTRIES = ("SN", "MA", "FR", "ML", "CI", "TN", "DZ", "NG", "GB", "US", "BR", "IN")
PLANS = {code: plan_of((code,)) for code in (*COUNTRIES, "MR")}
MOBILE = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)
REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS - {"TA"})
"""The library has no mobile number of Tristan da Cunha."""
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


TABLE = [
    # a mobile number, as people at home write it; a landline, a premium one, of no known prefix
    ("SN", "+221701234567", "70 123 45 67", "+221301012345", "+221884123456", "+221999123456"),
    ("MA", "+212650123456", "06 50 12 34 56", "+212520123456", "+212891234567", "+212999123456"),
    ("FR", "+33612345678", "06.12.34.56.78", "+33123456789", "+33891123456", "+33879123456"),
    ("ML", "+22365012345", "65 01 23 45", "+22320212345", "+22380012345", "+22388912345"),
    ("CI", "+2250123456789", "01 23 45 6789", "+2252123456789", None, "+2259900000000"),
    ("TN", "+21620123456", "20 123 456", "+21671123456", "+21688123456", "+21689912345"),
    ("DZ", "+213551234567", "0551-23-45-67", "+21312345678", "+213808123456", "+213999123456"),
    (
        "NG",
        "+2348021234567",
        "0802 123 4567",
        "+2342033123456",
        "+23480012345678",
        "+2349991234567",
    ),
    ("GB", "+447400123456", "07400 123456", "+441212345678", "+449012345678", "+449991234567"),
    ("US", "+12015550123", "(201) 555-0123", None, "+19002345678", "+19991234567"),
    ("BR", "+5511961234567", "(11) 96123-4567", "+551123456789", "+55500123456", "+5599812345678"),
    ("IN", "+918123456789", "081234 56789", "+911123456789", "+911861123456789", "+915991234567"),
]
"""A country has none where landlines look like mobile numbers, or calls are never dear."""
DEAR = (PhoneNumberType.PREMIUM_RATE, PhoneNumberType.TOLL_FREE)


@sweep("row", TABLE)
def test_twelve_countries_numbers_against_the_library(row):
    code, mobile, local, landline, premium, unknown = row
    plan = PLANS[code]
    kinds = [(mobile, MOBILE), (landline, (PhoneNumberType.FIXED_LINE,)), (premium, DEAR)]
    for number, kind in [(number, kind) for number, kind in kinds if number is not None]:
        parsed = phonenumbers.parse(number)
        assert phonenumbers.is_valid_number_for_region(parsed, code)
        assert phonenumbers.number_type(parsed) in kind
    assert phonenumbers.is_possible_number(phonenumbers.parse(unknown))
    assert not phonenumbers.is_valid_number(phonenumbers.parse(unknown))
    assert plan.serves(mobile)
    for typed in (mobile, local, local.translate(ARABIC), f"00{mobile[1:]}".translate(ARABIC)):
        assert plan.read(typed) == mobile
    for other in (mobile[:-1], f"{mobile}00", landline, premium, unknown, "+33699"):
        if other is not None:
            assert not plan.serves(other)
            with pytest.raises(ValueError, match="looks like"):
                plan.read(other)


@st.composite
def mobile_numbers(draw):
    """A country that can be served, and one of its mobile numbers."""
    code = draw(st.sampled_from(REGIONS))
    metadata = phonenumbers.PhoneMetadata.metadata_for_region(code)
    pattern = re.compile(metadata.mobile.national_number_pattern, re.ASCII)
    digits = draw(st.from_regex(pattern, fullmatch=True))
    return code, f"+{phonenumbers.country_code_for_region(code)}{digits}"


@given(mobile_numbers(), st.sampled_from(["FR", "MR", "US", "GA"]))
@tried(("GA", "+2412000000"), "GA")  # its local form is read as a number of eight digits
@tried(("TJ", "+992000000000"), "MR")  # its local form begins with 00
def test_a_number_that_is_written_is_read_as_itself(found, other):
    code, number = found
    assume(plan_of((code,)).serves(number))  # a neighbour may share the calling code
    for plan in (plan_of((code,)), plan_of(tuple(dict.fromkeys((code, other))))):
        assert plan.read(plan.written(number)) == number
        assert plan.read(plan.international(number)) == number
        assert plan.read(number) == number


def test_what_begins_with_00_is_international_even_where_a_local_number_begins_so():
    plan = plan_of(("TJ",))
    with pytest.raises(ValueError, match="looks like"):
        plan.read("00 000 0000")
    assert plan.read("00992 000000000") == "+992000000000"
    assert plan.written("+992000000000") == "+992 00 000 0000"
    assert plan.written("+992917123456") == "91 712 3456"


@given(st.sampled_from(sorted({*PLANS} - {"MR"})), st.integers(0, 10**11))
@tried("US", 13_192_000_000)
def test_any_digits_are_served_where_the_library_calls_them_mobile(code, digits):
    plan = PLANS[code]
    number = f"+{plan.home.calling_code}{digits}"
    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        assert not plan.serves(number)
        return
    # The library also reads a national prefix behind the country's code, which E.164 has not.
    is_canonical = phonenumbers.format_number(parsed, PhoneNumberFormat.E164) == number
    is_mobile = phonenumbers.number_type(parsed) in MOBILE
    is_of_country = phonenumbers.is_valid_number_for_region(parsed, code)
    assert plan.serves(number) == (is_canonical and is_mobile and is_of_country)


def test_home_is_the_first_country():
    plan = plan_of(("SN", "MR"))
    assert plan.home.code == "SN"
    assert plan.read("77 123 45 67") == "+221771234567"
    with pytest.raises(ValueError, match="Senegal or Mauritania"):
        plan.read("36123456")  # as people of Mauritania write it: home is Senegal
    for abroad in ("00222 36 12 34 56", "+222 36 12 34 56", "222 36 12 34 56"):
        assert plan.read(abroad) == "+22236123456"
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


def test_the_beginnings_of_a_network_s_numbers():
    plan_of(("SN", "MR"))
    mattel = [f"+2223{each}" for each in "012346789"]
    assert prefixes_of("mattel") == mattel
    assert [network_of(f"{each}123456") for each in mattel] == ["mattel"] * len(mattel)
    assert "+22177" in prefixes_of("SN/Orange")
    assert [each for each in prefixes_of("SN/Orange") if not each.startswith("+221")] == []
    assert prefixes_of("nobody") == []


class Short(Mauritania):
    """Has numbers of two and of three digits."""

    digit_places = (("12", "345"), ("6", *["0123456789"] * 2))


@pytest.mark.parametrize(
    ("plan", "pattern"),
    [
        (plan_of(("MR",)), r"^\+222[2-4][0-9]{7}$"),
        (plan_of(("SN", "MR")), r"^\+(221[0-9]{9}|222[2-4][0-9]{7})$"),
        (NumberingPlan((Short(),)), r"^\+(222[1-2][3-5]|222[6-6][0-9]{2})$"),
    ],
)
def test_the_pattern_of_a_number_says_which_digits_may_be_at_each_place(plan, pattern):
    assert plan.pattern == pattern


@pytest.mark.parametrize(
    ("number", "ways"),
    [
        *(
            (typed, (typed, "+22236123456", "22236123456", "36123456"))
            for typed in ("+22236123456", "0022236123456", "22236123456", "36123456")
        ),
        ("+33612345678", ("+33612345678", "+33612345678", "33612345678", "33612345678")),
        ("+22280001234", ("+22280001234", "+22280001234", "22280001234", "22280001234")),
        ("1234", ("1234",) * 4),
        ("", ("",) * 4),
    ],
)
@sweep("countries", [("MR",), ("MR", "SN")])
def test_a_number_that_receives_in_all_ways_to_write_it(number, ways, countries):
    assert plan_of(countries).ways_to_write(number) == ways


@pytest.mark.parametrize(
    ("part", "digits"),
    [
        ("3612", "3612"),
        (" 36 12-", "3612"),
        ("٣٦١٢", "3612"),
        ("+222 36", "22236"),
        ("00222 36", "22236"),
        ("00221 7", "2217"),
        ("0022", "0022"),  # no country's code yet: it may be in the middle
        ("0033 6", "00336"),  # nor is this one's that is served
        *((text, None) for text in ("", "+", " ", "36a", "36+12", "³6")),
    ],
)
def test_the_digits_of_a_part_of_a_number(part, digits):
    assert plan_of(("MR", "SN")).digits_of(part) == digits


@pytest.mark.parametrize(
    ("places", "fewest"),
    [(5, 1), (6, 2), (8, 4), (9, 5)],
)
def test_how_many_digits_of_a_number_are_looked_for(places, fewest):
    assert part_min(["0123456789"] * places) == fewest


@pytest.mark.parametrize("codes", [(), ("XX",), ("SN", "AQ"), ("TA",), ("sn",)])
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


def test_a_country_has_the_time_zone_of_most_of_its_people():
    expected = {
        "MR": "Africa/Nouakchott",
        "SN": "Africa/Dakar",
        "FR": "Europe/Paris",
        "ES": "Europe/Madrid",
        "PT": "Europe/Lisbon",
        "GB": "Europe/London",
        "US": "America/New_York",
        "RU": "Europe/Moscow",
        "BR": "America/Sao_Paulo",
    }
    assert {code: plan_of((code,)).home.time_zone for code in expected} == expected


def test_every_countrys_time_zone_exists():
    known = zoneinfo.available_timezones()
    zones = {code: plan_of((code,)).home.time_zone for code in REGIONS}
    assert {code: zone for code, zone in zones.items() if zone not in known} == {}
