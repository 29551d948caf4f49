"""Where a message is cut to be sent: for a 16-bit reference wherever that costs nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.sms.alphabet import choose_alphabet, code_unit_count, septet_count
from risala.sms.message import Alphabet
from risala.sms.segment import count, cut, part_capacity, split, user_data_header

_MEASURE = {Alphabet.GSM7: septet_count, Alphabet.UCS2: code_unit_count}


@pytest.mark.parametrize(
    ("text", "lengths", "bits"),
    [
        ("x" * 160, [160], 16),
        ("x" * 161, [152, 9], 16),
        ("x" * 304, [152, 152], 16),
        ("x" * 305, [153, 152], 8),
        ("x" * 306, [153, 153], 8),
        ("x" * 307, [152, 152, 3], 16),
        ("س" * 132, [66, 66], 16),
        ("س" * 133, [67, 66], 8),
    ],
)
def test_there_is_room_where_it_costs_nothing(text, lengths, bits):
    parts = cut(text)
    assert ([len(one) for one in parts.texts], parts.reference_bits) == (lengths, bits)


def test_a_given_alphabet_is_cut_for():
    assert cut("x" * 71, Alphabet.UCS2).texts == ("x" * 66, "x" * 5)
    assert cut("x" * 132, Alphabet.UCS2).reference_bits == 16
    assert cut("x" * 133, Alphabet.UCS2).reference_bits == 8


@given(st.text(max_size=700))
def test_as_many_as_are_charged_and_each_fits_its_header(text):
    parts = cut(text)
    assert "".join(parts.texts) == text
    assert len(parts.texts) == count(text).segments
    alphabet = choose_alphabet(text)
    if len(parts.texts) > 1:
        capacity = part_capacity(alphabet, reference_bits=parts.reference_bits)
        assert all(_MEASURE[alphabet](one) <= capacity for one in parts.texts)
    if parts.reference_bits == 8:
        assert len(split(text, reference_bits=16)) > len(parts.texts)


def test_a_wide_header_with_what_fits_beside_it_is_one_tpdu():
    for alphabet, bits_each in ((Alphabet.GSM7, 7), (Alphabet.UCS2, 16)):
        header = user_data_header(7, 2, 1, reference_bits=16)
        bits = part_capacity(alphabet, reference_bits=16) * bits_each
        assert len(header) * 8 + bits <= 140 * 8
