"""A number of a country that is not served is told with that country's name."""

import pytest

from risala.sms.numbering.country import COUNTRIES, DIGITS_MIN, country_of_code
from risala.sms.numbering.plan import plan_of
from risala.sms.numbering.written import NumberFault, UnreadNumber


@pytest.mark.parametrize(
    ("served", "typed", "country"),
    [
        (("MR",), "+33 6 12 34 56 78", "FR"),
        (("MR",), "0033612345678", "FR"),
        (("MR",), "+221 77 123 45 67", "SN"),
        (("FR",), "+222 36 12 34 56", "MR"),
        (("SN", "MR"), "+1 (202) 555-0123", "US"),
    ],
)
def test_a_number_abroad_is_named(served, typed, country):
    plan = plan_of(served)
    assert plan.abroad(typed) == country
    with pytest.raises(UnreadNumber, match=rf"\({country}\) is not open here") as error:
        plan.read(typed)
    assert error.value.fault is NumberFault.NOT_SERVED
    assert plan.names in str(error.value)


@pytest.mark.parametrize(
    "typed",
    [
        *("36 12 34 56", "12", "+222 55 12 34 56", "Aïcha", "+999 123 45"),
        # Home's own, with a "+" too many: no mobile number of Hungary or Russia is so short.
        *("+36 12 34 56", "+77 123 45 67"),
    ],
)
def test_no_number_of_a_country_is_not_told_as_one(typed):
    assert plan_of(("MR",)).abroad(typed) is None


def test_calling_codes_are_those_of_the_library():
    phonenumbers = pytest.importorskip("phonenumbers")
    known = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    assert {
        str(code): regions[0] for code, regions in known.items() if regions[0] != "001"
    } == COUNTRIES
    assert all(country_of_code(f"{code}1234567890") == COUNTRIES[code] for code in COUNTRIES)


# Numbers of services and machines, or of islands with a few hundred lines.
SHORTER = {"ZA", "NU", "TK"}


def test_no_mobile_number_is_too_short_for_its_country():
    phonenumbers = pytest.importorskip("phonenumbers")
    for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items():
        for region in {*regions} - SHORTER - {"001"}:
            mobile = phonenumbers.PhoneMetadata.metadata_for_region(region).mobile
            lengths = () if mobile is None else mobile.possible_length
            shortest = min((each for each in lengths if each > 0), default=15)
            assert len(str(code)) + shortest >= DIGITS_MIN[len(str(code))], region
