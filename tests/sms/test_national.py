"""National language shift tables, by the letters that people of these languages write."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risala.sms.alphabet import EXTENSION_CHARACTERS, GSM7_CHARACTERS, decode_gsm7, encode_gsm7
from risala.sms.national import (
    PORTUGUESE,
    SPANISH,
    TURKISH,
    decode_national,
    encode_national,
)
from risala.sms.segment import parse_user_data_header, user_data_header

PAIRS = [(0, TURKISH), (TURKISH, 0), (TURKISH, TURKISH), (0, SPANISH), (0, PORTUGUESE)]
PAIRS += [(PORTUGUESE, 0), (PORTUGUESE, PORTUGUESE), (PORTUGUESE, SPANISH)]


@pytest.mark.parametrize(
    ("languages", "letters"),
    [
        ((TURKISH, 0), "ığĞşŞİç€ÇöÖüÜ"),
        ((0, TURKISH), "ığĞşŞİç€ÇöÖüÜ"),
        ((0, SPANISH), "áéíóúÁÉÍÓÚñÑüÜ¿¡çº€".replace("º", "")),
        ((0, PORTUGUESE), "áâãàçéêíóôõúÁÂÃÀÉÊÍÓÔÕÚÇ€"),
        ((PORTUGUESE, 0), "áâãàçéêíóôõúÁÂÃÀÇÉÊÍÓÔÕÚºª€"),
        ((PORTUGUESE, PORTUGUESE), "áâãàçéêíóôõúÁÂÃÀÇÉÊÍÓÔÕÚºªΦΓΩΠΨΣΘ"),
    ],
)
def test_the_letters_of_a_language(languages, letters):
    assert decode_national(encode_national(letters, *languages), *languages) == letters


@pytest.mark.parametrize(
    ("septets", "languages", "text"),
    [
        ("1B47 1B49 1B53 1B63 1B67 1B69 1B73 1B65", (0, TURKISH), "ĞİŞçğış€"),
        ("04 07 0B 0C 1C 1D 40 60", (TURKISH, 0), "€ıĞğŞşİç"),
        ("04 1B65 1B47", (0, TURKISH), "è€Ğ"),
        ("1B09 1B41 1B49 1B4F 1B55 1B61 1B69 1B6F 1B75", (0, SPANISH), "çÁÍÓÚáíóú"),
        ("12 13 14 15 16 17 18 19 1A 24 40 60 7D", (PORTUGUESE, 0), "ªÇÀ∞^\\€Ó|ºÍ~`"),
        ("1B05 1B12 1B19 1B1F 1B5B 1B7B 1B7F", (0, PORTUGUESE), "êΦΘÊÃãâ"),
        # the default extension is in all of them
        ("1B0A 1B14 1B28 1B29 1B2F 1B3C 1B3D 1B3E 1B40", (0, SPANISH), "\f^{}\\[~]|"),
        # undefined behind ESC: as without it, in the table that is locked
        ("1B0B 1B42", (TURKISH, TURKISH), "ĞB"),
        ("1B1B 41 1B", (TURKISH, 0), " A"),
        ("FF 41", (TURKISH, 0), "\ufffdA"),
        # none of ours: the default alphabet
        ("04 1B65", (5, 9), "è€"),
    ],
)
def test_septet_by_septet(septets, languages, text):
    assert decode_national(bytes.fromhex(septets), *languages) == text


@settings(deadline=None)
@given(st.binary(max_size=160), st.integers(0, 20), st.integers(0, 20))
def test_any_octets_read_as_something(octets, locking, single):
    assert isinstance(decode_national(octets, locking, single), str)


@pytest.mark.parametrize("languages", PAIRS)
def test_what_a_locking_table_does_not_change_reads_as_ever(languages):
    kept = [
        text
        for text in sorted(GSM7_CHARACTERS - EXTENSION_CHARACTERS)
        if languages[0] == 0 or encode_gsm7(text)[0] in range(0x41, 0x5B)
    ]
    assert decode_national(encode_gsm7("".join(kept)), *languages) == "".join(kept)


@settings(deadline=None)
@given(st.data(), st.sampled_from(PAIRS))
def test_what_is_read_is_written_and_reads_the_same(data, languages):
    octets = bytes(data.draw(st.lists(st.integers(0, 0x7F), max_size=60)))
    text = decode_national(octets, *languages)
    assert decode_national(encode_national(text, *languages), *languages) == text


def test_a_character_that_no_table_has():
    with pytest.raises(UnicodeEncodeError) as told:
        encode_national("Şعğ", TURKISH, 0)
    fault = told.value
    assert (fault.encoding, fault.object, fault.start, fault.end) == ("gsm7", "Şعğ", 1, 2)
    with pytest.raises(UnicodeEncodeError):
        encode_national("Ş", 0, 0)
    assert encode_national("abc", 9, 9) == encode_gsm7("abc")
    assert decode_national(b"abc", 0, 0) == decode_gsm7(b"abc")


@pytest.mark.parametrize(
    ("elements", "locking", "single"),
    [
        ("", 0, 0),
        ("24 01 01", 0, 1),
        ("25 01 03", 3, 0),
        ("25 01 01 24 01 02", 1, 2),
        ("24 02 01 01", 0, 0),  # of a wrong length
        ("24 01 01 24 01 03", 0, 3),  # the last counts
    ],
)
def test_the_header_names_them(elements, locking, single):
    octets = bytes.fromhex(elements) + user_data_header(1, 2, 1)[1:]
    header = parse_user_data_header(bytes((len(octets),)) + octets)
    assert (header.locking, header.single) == (locking, single)
    assert header.concatenation.total == 2
