"""Alphabets: the table, the choice, the lengths, and octets from a network that may be anything."""

from __future__ import annotations

import pytest
import smsutil
from hypothesis import given
from hypothesis import strategies as st

from risala.sms.alphabet import (
    EXTENSION_CHARACTERS,
    GSM7_CHARACTERS,
    choose_alphabet,
    code_unit_count,
    decode_gsm7,
    decode_gsm7_part,
    decode_ucs2,
    decode_ucs2_part,
    encode_gsm7,
    encode_gsm7_part,
    encode_ucs2,
    fits_gsm7,
    plainer,
    septet_count,
    smart_encode,
)
from risala.sms.message import Alphabet

# 3GPP TS 23.038 table 6.2.1, written out by hand: row by row of 16, ESC left out as a blank mark.
TABLE = (
    "@£$¥èéùìòÇ\nØø\rÅå"
    "Δ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ"
    " !\"#¤%&'()*+,-./"
    "0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNO"
    "PQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmno"
    "pqrstuvwxyzäöñüà"
)
EXTENSION = {
    "\f": 0x0A, "^": 0x14, "{": 0x28, "}": 0x29, "\\": 0x2F,
    "[": 0x3C, "~": 0x3D, "]": 0x3E, "|": 0x40, "€": 0x65,
}  # fmt: skip

gsm7_text = st.text(st.sampled_from(sorted(GSM7_CHARACTERS)), max_size=400)


def test_every_character_of_the_default_alphabet():
    assert len(TABLE) == 128
    for septet, character in enumerate(TABLE):
        if character != "\x1b":
            assert encode_gsm7(character) == bytes((septet,))
            assert decode_gsm7(bytes((septet,))) == character


def test_every_character_of_the_extension_table():
    for character, septet in EXTENSION.items():
        assert encode_gsm7(character) == bytes((0x1B, septet))
        assert decode_gsm7(bytes((0x1B, septet))) == character
    assert set(EXTENSION) == EXTENSION_CHARACTERS


def test_nothing_else_is_in_the_alphabet():
    assert set(TABLE) - {"\x1b"} | set(EXTENSION) == GSM7_CHARACTERS


@pytest.mark.slow
def test_the_choice_agrees_with_smsutil_on_the_basic_plane():
    from smsutil.codecs import is_valid_gsm

    differ = {
        chr(point) for point in range(0x10000) if fits_gsm7(chr(point)) != is_valid_gsm(chr(point))
    }
    # A raw ESC would pair with what follows it on the phone; smsutil lets it through.
    assert differ == {"\x1b"}


@pytest.mark.parametrize(
    "word", ["ç", "ê", "â", "î", "ô", "û", "œ", "`", "\t", "\x1b", "م", "’", "😀"]
)
def test_one_character_outside_makes_the_text_ucs2(word):
    assert choose_alphabet("code 123 ") is Alphabet.GSM7
    assert choose_alphabet("code 123 " + word) is Alphabet.UCS2


@given(st.text(max_size=300).filter(lambda text: "\x1b" not in text) | gsm7_text)
def test_lengths_agree_with_smsutil(text):
    theirs = smsutil.split(text)
    if choose_alphabet(text) is Alphabet.GSM7:
        assert theirs.encoding == "gsm0338" or not text
        assert not text or septet_count(text) == theirs.total_bytes
    else:
        assert theirs.encoding == "utf_16_be"
        assert code_unit_count(text) * 2 == theirs.total_bytes


@given(gsm7_text)
def test_gsm7_round_trip(text):
    octets = encode_gsm7(text)
    assert decode_gsm7(octets) == text
    assert len(octets) == septet_count(text)
    assert octets.isascii()


@given(st.text())
def test_ucs2_round_trip(text):
    octets = encode_ucs2(text)
    assert decode_ucs2(octets) == text
    assert decode_ucs2(octets, partial=True) == text
    assert len(octets) == 2 * code_unit_count(text)


@given(st.text(st.characters()))
def test_encoding_gsm7_never_loses_a_character(text):
    if fits_gsm7(text):
        assert decode_gsm7(encode_gsm7(text)) == text
    else:
        with pytest.raises(UnicodeEncodeError):
            encode_gsm7(text)


@given(st.binary(max_size=200) | st.lists(st.sampled_from(b"\x1b\x65A\x80\x00")).map(bytes))
def test_decoders_take_any_octets_and_give_text_that_can_be_stored(octets):
    decode_gsm7(octets).encode()
    decode_ucs2(octets).encode()
    decode_ucs2(octets, partial=True)


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (b"", ""),
        (b"A\x1b", "A"),
        (b"\x1b\x1bA", " A"),
        (b"\x1bA\x1be", "A€"),
        (b"\x80\xff", "\ufffd\ufffd"),
        (b"\x1b\x80A", "\ufffdA"),
        (b"\x1b\x1b\x1be", " €"),
    ],
)
def test_escapes_that_mean_nothing(octets, text):
    assert decode_gsm7(octets) == text


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (b"", ""),
        (b"ab", "ab"),
        (b"ab\x1b", "ab\x1b"),
        (b"\x1b", "\x1b"),
        (b"ab\x1b\x1b", "ab "),  # a pair of its own
        (b"ab\x1b\x1b\x1b", "ab \x1b"),
    ],
)
def test_a_part_in_gsm7_keeps_a_last_escape_that_leads_into_the_next(octets, text):
    assert decode_gsm7_part(octets) == text


@pytest.mark.parametrize(
    ("text", "octets"),
    [("", b""), ("ab", b"ab"), ("ab\x1b", b"ab\x1b"), ("\x1b", b"\x1b"), ("€\x1b", b"\x1be\x1b")],
)
def test_a_part_that_ends_in_an_escape_is_written_with_it(text, octets):
    assert encode_gsm7_part(text) == octets


@pytest.mark.parametrize(
    ("units", "text"),
    [
        ("ab\ud83d", "ab\ud83d"),
        ("\ude00ab", "\ude00ab"),
        ("a\x1bb\x1b", "a\x1bb"),
        ("ab\x1b\x1b", "ab"),
    ],
)
def test_a_part_in_ucs2_keeps_halves_of_characters_and_no_last_escape(units, text):
    assert decode_ucs2_part(encode_ucs2(units)) == text


def test_ucs2_that_is_cut():
    pair = encode_ucs2("😀")
    assert decode_ucs2(b"\x00A\x00") == "A\ufffd"
    assert decode_ucs2(pair[:2]) == "\ufffd"
    assert (
        decode_ucs2(pair[:2], partial=True) + decode_ucs2(pair[2:], partial=True) == "\ud83d\ude00"
    )
    assert decode_ucs2(b"\x00A\x00", partial=True) == "A\ufffd"
    assert encode_ucs2("\ud83d") == b"\xd8\x3d"


def test_smart_encoding_makes_a_text_fit():
    typed = "L’appel “urgent” – déjà…\u00a0: 3\u202f000"
    plain = 'L\'appel "urgent" - déjà... : 3 000'
    assert smart_encode(typed) == plain
    assert choose_alphabet(plain) is Alphabet.GSM7


@pytest.mark.parametrize("text", ["C’était ça…", "“نعم”…", "déjà vu", "", "« oui »"])
def test_smart_encoding_leaves_what_would_not_fit_anyway(text):
    assert smart_encode(text) == text


@given(st.text() | st.text(st.sampled_from("aé’“”–…\u00a0çم")))
def test_smart_encoding_never_changes_letters(text):
    def letters(value):
        return [character for character in value if character.isalnum()]

    assert letters(smart_encode(text)) == letters(text)
    assert smart_encode(smart_encode(text)) == smart_encode(text)


@pytest.mark.parametrize(
    ("character", "same"),
    [
        *(("’", "'"), ("…", "..."), ("\u00a0", " "), ("ê", "e"), ("ç", "c"), ("œ", "oe")),
        *(("ش", None), ("أ", None), ("☂", None), ("e", None), ("é", None)),
    ],
)
def test_what_says_nearly_the_same_in_the_basic_alphabet(character, same):
    assert plainer(character) == same
