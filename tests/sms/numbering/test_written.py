"""Numbers as people and their programs write them: read as what they are, or not at all."""

from __future__ import annotations

import re

import phonenumbers
import pytest
from hypothesis import assume, given
from hypothesis import example as tried
from hypothesis import strategies as st
from tests.sms.numbering.test_plan import REGIONS, mobile_numbers

from risala.sms.numbering.plan import plan_of
from risala.sms.numbering.written import NumberFault, UnreadNumber, entries, read_written

SHORTENED, TWO, EXTENSION = (
    NumberFault.SHORTENED,
    NumberFault.TWO_NUMBERS,
    NumberFault.EXTENSION,
)
FLOATS_ONCE_READ_AS_STRANGERS = ("AT", "AX", "DE", "FI", "GA", "ID", "NZ", "SO", "TK")


def found(text, country="MR"):
    """The number, or the fault."""
    try:
        return plan_of((country,)).read(text)
    except UnreadNumber as error:
        return error.fault


@pytest.mark.parametrize(
    ("text", "country", "number"),
    [
        ("36 12 34 01", "MR", "+22236123401"),
        ("36.12.34.01", "MR", "+22236123401"),
        ("36-12-34-01", "MR", "+22236123401"),
        ("36/12/34/01", "MR", "+22236123401"),
        ("(36 12 34 01)", "MR", "+22236123401"),
        ("00222 36 12 34 01", "MR", "+22236123401"),
        ("(+222) 36123401.", "MR", "+22236123401"),
        ("tel:+22236123401", "MR", "+22236123401"),
        ("Tél. : 36 12 34 01", "MR", "+22236123401"),
        ("\u206836\u00a012\u202f34\u201101\u2069", "MR", "+22236123401"),
        ("06.12.34.56.78", "FR", "+33612345678"),
        ("06.12.34.56.00", "FR", "+33612345600"),
        ("06/12/34/56/78", "FR", "+33612345678"),
        ("+33 (0)6 12 34 56 78", "FR", "+33612345678"),
        ("0033 (0) 612345678", "FR", "+33612345678"),
        ("+49 (0) 170 1234567", "DE", "+491701234567"),
        ("+49 (170) 1234567", "DE", "+491701234567"),
        ("0170/1234567", "DE", "+491701234567"),
        ("0170.1234567", "DE", "+491701234567"),
        ("0170-1234567", "DE", "+491701234567"),
        ("0664-1234-5678", "AT", "+4366412345678"),
        ("0664/1234567", "AT", "+436641234567"),
        ("(201) 555-0123", "US", "+12015550123"),
        ("1-201-555-0123", "US", "+12015550123"),
        ("8 (912) 345-67-89", "RU", "+79123456789"),
        ("p:+22236123401", "MR", "+22236123401"),
        ("P: +33 6 12 34 56 78", "FR", "+33612345678"),
        ("sms:+22236123401", "MR", "+22236123401"),
        ("WhatsApp : 36 12 34 01", "MR", "+22236123401"),
        ("Mob. 36 12 34 01", "MR", "+22236123401"),
        ("هاتف: ٣٦ ١٢ ٣٤ ٠١", "MR", "+22236123401"),
        ("98765-43210", "IN", "+919876543210"),
        ("(+234) 803 123 4567", "NG", "+2348031234567"),
    ],
)
def test_written_forms_are_read(text, country, number):
    assert found(text, country) == number


@pytest.mark.parametrize(
    ("text", "country", "number"),
    [
        ("36123401.0", "MR", "+22236123401"),
        ("22236123401,00", "MR", "+22236123401"),
        ("36 123 401,00", "MR", "+22236123401"),
        ("36,123,401.0", "MR", "+22236123401"),
        ("36123401.000000", "MR", "+22236123401"),
        ("2.2236123401E+10", "MR", "+22236123401"),
        ("2,2236123401e10", "MR", "+22236123401"),
        ("3.6123401E+07", "MR", "+22236123401"),
        ("3.61234010E+7", "MR", "+22236123401"),
        ("491701234567.0", "DE", "+491701234567"),
        ("+491701234567.0", "DE", "+491701234567"),
        ("1701234567.00", "DE", "+491701234567"),
        ("4.91701234567E+11", "DE", "+491701234567"),
        # As a person groups no number: its zero is a decimal, not the last digit of a longer one.
        ("+62810000000.0", "ID", "+62810000000"),
        ("62810000000,00", "ID", "+62810000000"),
        ("٣٦١٢٣٤٠١.٠", "MR", "+22236123401"),
        ("٣٦١٢٣٤٠١٫٠", "MR", "+22236123401"),
        ("٣٦٬١٢٣٬٤٠١٫٠٠", "MR", "+22236123401"),
        ("٢٫٢٢٣٦١٢٣٤٠١E+10", "MR", "+22236123401"),
        ("3.6123401e+007", "MR", "+22236123401"),
        ("2348031234567.0", "NG", "+2348031234567"),
        ("4155552671.0", "US", "+14155552671"),
    ],
)
def test_a_number_that_was_a_figure_is_read_as_what_it_was(text, country, number):
    assert found(text, country) == number


@pytest.mark.parametrize(
    ("text", "country", "fault"),
    [
        # A figure that has lost digits, and amounts and measures.
        ("2.2236E+10", "MR", SHORTENED),
        ("2,22E+10", "MR", SHORTENED),
        ("3.6E+07", "MR", SHORTENED),
        ("4.91701E+11", "DE", SHORTENED),
        ("5E+11", "DE", SHORTENED),
        ("3.61234015E+7", "MR", NumberFault.NUMBER),
        ("1.5E+3", "MR", NumberFault.NUMBER),
        ("36123401.5", "MR", NumberFault.NUMBER),
        ("361234.01", "MR", NumberFault.NUMBER),
        ("361234,01", "MR", NumberFault.NUMBER),
        ("36123.401", "MR", NumberFault.NUMBER),
        ("-36123401", "MR", NumberFault.NUMBER),
        ("3612.0000", "MR", NumberFault.NUMBER),
        ("170123456.78", "DE", NumberFault.NUMBER),
        # Two numbers.
        ("36 12 34 01 ::: 46 12 34 01", "MR", TWO),
        ("36123403 / 46123403", "MR", TWO),
        ("36123403/46123403", "MR", TWO),
        ("36123403;46123403", "MR", TWO),
        ("36123403 46123403", "MR", TWO),
        ("36123403\n46123403", "MR", TWO),
        ("36123403 ou 46123403", "MR", TWO),
        ("36123403 أو 46123403", "MR", TWO),
        ("+22236123403, +22246123403", "MR", TWO),
        ("Aicha 36123401, Sidi 46123402", "MR", TWO),
        ("36123401 | 46123402 | 26123403", "MR", TWO),
        ("0170 1234567 & 0171 2345678", "DE", TWO),
        ("36.12.34.01/46.12.34.02", "MR", TWO),
        ("36 12 34 01 - 46 12 34 02", "MR", TWO),
        ("36123401 (maman) 46123402", "MR", TWO),
        ("36123401, 36123401", "MR", TWO),
        ("+22236123401+22246123402", "MR", TWO),
        ("٣٦١٢٣٤٠١/٤٦١٢٣٤٠٢", "MR", TWO),
        ("77 123 45 67/76 123 45 67", "SN", TWO),
        ("0803-123-4567, 0805-123-4567", "NG", TWO),
        # One of them is a landline, or abroad.
        ("06 12 34 56 78 / 01 42 68 53 00", "FR", TWO),
        ("01.42.68.53.00 ou 06.12.34.56.78", "FR", TWO),
        ("Bureau 33 821 12 34, 77 123 45 67", "SN", TWO),
        ("+22236123401 / +33612345678", "MR", TWO),
        # Extensions.
        ("36123401 ext 5", "MR", EXTENSION),
        ("36123401 ext. 512", "MR", EXTENSION),
        ("36123401x12", "MR", EXTENSION),
        ("36123401 poste 12", "MR", EXTENSION),
        ("36123401#12", "MR", EXTENSION),
        ("+22236123401;ext=12", "MR", EXTENSION),
        ("36123401,,12", "MR", EXTENSION),
        ("36123401-12", "MR", EXTENSION),
        ("36 12 34 01 تحويلة 12", "MR", EXTENSION),
        ("0171 1234567-8", "DE", EXTENSION),
        ("0664 1234567 / 68", "AT", EXTENSION),
        ("36123401 int. 12", "MR", EXTENSION),
        ("36123401w12", "MR", EXTENSION),
        ("(415) 555-2671 x123", "US", EXTENSION),
        ("tel:+222-36-12-34-01;ext=5", "MR", EXTENSION),
        # Neither.
        ("2٫٢٢E+10", "MR", SHORTENED),
        ("٣٦١٢٣٤٫٠١", "MR", NumberFault.NUMBER),
        ("36123401 / 12 enfants", "MR", NumberFault.NUMBER),
        ("Facture 20261128, 1500 MRU", "MR", NumberFault.NUMBER),
        ("Aicha 36123401", "MR", NumberFault.NUMBER),
        ("36 12 34 (01)", "MR", NumberFault.NUMBER),
        ("36 12 34 01)", "MR", NumberFault.NUMBER),
        ("36x12y34z01", "MR", NumberFault.NUMBER),
        ("36²123401", "MR", NumberFault.NUMBER),
        ("3+6123401", "MR", NumberFault.NUMBER),
        ("1-800-FLOWERS", "US", NumberFault.NUMBER),
        ("3" * 1000, "MR", NumberFault.NUMBER),
        ("36123401 " * 100, "MR", NumberFault.NUMBER),
        ("", "MR", NumberFault.NUMBER),
    ],
)
def test_what_is_not_certainly_one_number_is_none(text, country, fault):
    assert found(text, country) is fault


def test_two_numbers_are_two_where_their_digits_together_are_one_too():
    """No plan has numbers of so many lengths yet."""

    def reads(digits):
        return digits if 3 <= len(digits.lstrip("+")) <= 18 else None

    assert read_written("361/23401/36123402", reads) is TWO


@pytest.mark.parametrize("country", FLOATS_ONCE_READ_AS_STRANGERS)
@pytest.mark.parametrize("decimals", [".0", ",0", ".00", ",00"])
def test_decimals_never_make_a_number_a_strangers(country, decimals):
    number = plan_of((country,)).example
    assert found(number[1:] + decimals, country) == number


def spoilt(number, country):
    """Ways in which a number comes that are no written form of it, or hardly one."""
    digits = number[1:]
    national = digits.removeprefix(plan_of((country,)).home.calling_code)
    for form in (number, digits, national, f"00{digits}", f"0{national}"):
        if found(form, country) != number and isinstance(found(form, country), str):
            continue  # where no zero is dialled at home, this is another person's number as it is
        for end in (".0", ",0", ".00", ",00", ".000", ".5", ",5", ".25", ". 5", "-1", "/1", "/12"):
            yield form + end
        for end in (" x1", "#1", " ext 12", ",1", ";1", " 1.0", ".1.2", "(1)", " (12)", "+1", "e1"):
            yield form + end
        head, tail = form[:-4], form[-4:]
        signed = (
            f"{head}{tail[:2]}.{tail[2:]}",
            f"{head},{tail}",
            f"{head}{tail[:3]}.{tail[3:]}",
        )
        # With only zeros behind the sign it is a shorter number's figure, and read as that.
        yield from (each for each in signed if not re.search("[.,]0+$", each))
    yield f"{digits[0]}.{digits[1:]}E+{len(digits) - 1}"
    yield f"{digits[0]}.{digits[1:-1]}E+{len(digits) - 1}"
    yield f"{digits[0]},{digits[1:4]}E+{len(digits) - 1}"
    yield f"{number} {number}"
    yield f"{national}/{national}"


@given(mobile_numbers())
@tried(("DE", "+491701234567"))
@tried(("AT", "+436641234567"))
@tried(("FI", "+35850123456"))
@tried(("ID", "+62812345678"))
@tried(("ID", "+628100000000"))
def test_what_comes_of_a_number_is_never_another_number(known):
    country, number = known
    assume(plan_of((country,)).serves(number))
    for text in spoilt(number, country):
        read = found(text, country)
        assert read == number or isinstance(read, NumberFault), text


def written_in(text, number, country):
    """Whether a text's digits are a spelling of a number: what is dialled before a national number,
    then this number whole; without decimals, the zero at home, and the form of a power."""
    digits = "".join(re.findall("[0-9]", re.sub(r"\( ?0 ?\)", "", text)))
    parsed = phonenumbers.parse(number)
    national = phonenumbers.national_significant_number(parsed)
    code = str(parsed.country_code)
    prefix = phonenumbers.PhoneMetadata.metadata_for_region(country)
    trunks = {"", prefix.national_prefix or "", "0"}
    fronts = {front + trunk for front in ("", code, f"00{code}") for trunk in trunks}
    ways = {front + national for front in fronts}
    whole = re.sub(r"[.,]0+$", "", text)
    return digits in ways or re.sub("[^0-9]", "", whole) in ways


# The library reads other dialling habits too: a carrier's digits, an area before a local number.
WITH_HABITS = frozenset({"AR", "BR", "MX", "CO", "CR", "CN", "US", "LT", "HU", "SV", "CL"})
PLAIN = sorted({*REGIONS} - WITH_HABITS)


@given(
    st.sampled_from([*FLOATS_ONCE_READ_AS_STRANGERS, "MR", "FR", "SN", "GB", "IN", "NG", "MA"]),
    st.text("0123456789 .,-/()+", min_size=6, max_size=20),
)
@tried("DE", "491701234567.0")
@tried("MR", "361234.01")
@tried("MR", "+222 (0) 36123401")
def test_no_text_is_read_as_a_number_that_it_does_not_spell(country, text):
    read = found(text, country)
    if not isinstance(read, NumberFault):
        assert written_in(text, read, country), read


@st.composite
def groupings(draw):
    """A number's digits with signs at random places."""
    country, number = draw(mobile_numbers())
    digits = draw(
        st.sampled_from([number[1:], number[1 + len(plan_of((country,)).prefixes[0]) - 1 :]])
    )
    signs = st.sampled_from(["", "", "", " ", "-", ".", "/", ", ", "(", ")", ".0", "0"])
    return country, "".join(draw(signs) + each for each in digits) + draw(signs)


@given(groupings())
def test_signs_at_any_place_make_no_other_number(known):
    country, text = known
    assume(country in PLAIN)
    read = found(text, country)
    if not isinstance(read, NumberFault):
        assert written_in(text, read, country), read


@given(st.text(max_size=200))
def test_any_text_is_read_or_has_a_fault(text):
    assert isinstance(read_written(text, lambda digits: digits), str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("36123401, 46123402;26123403\n36123404", 4),
        ("36123401،46123402؛26123403|36123404\t36123405", 5),
        ("36123401,0\n46123402,00", ["36123401,0", "46123402,00"]),
        ("491701234567,0; 4,91701E+11", ["491701234567,0", "4,91701E+11"]),
        ("36123401,46123402.0", ["36123401", "46123402.0"]),
        (" ;,\n", []),
    ],
)
def test_the_numbers_of_a_text(text, expected):
    known = entries(text)
    assert len(known) == expected if isinstance(expected, int) else known == expected
