"""Segments: nothing lost, nothing over capacity, nothing torn; and the header that joins them."""

from __future__ import annotations

import pytest
import smsutil
from hypothesis import example, given
from hypothesis import strategies as st

from risala.sms.alphabet import (
    GSM7_CHARACTERS,
    choose_alphabet,
    code_unit_count,
    decode_gsm7_part,
    decode_ucs2,
    decode_ucs2_part,
    encode_ucs2,
    septet_count,
)
from risala.sms.message import Alphabet
from risala.sms.segment import (
    Concatenation,
    SegmentCount,
    UserDataHeader,
    count,
    is_boundary,
    join,
    parse_user_data_header,
    part_capacity,
    split,
    user_data_header,
    whole_capacity,
)

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
FLAG = "🇲🇷"
CLUSTERS = [
    "a", "é", "e\u0301", "[", "€", "{", "\n", "\r\n", "م", "مَّ", "ç", "😀", "👍🏽", "❤\ufe0f",
    "👍🏻", "👍🏿", "🇦🇿", "🇿🇦", "e\u0300", "न\u200c", "a\U000e0020",
    FAMILY, FLAG, "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "1\ufe0f\u20e3",
    "\u06dd٣",
]  # fmt: skip

texts = (
    st.text(max_size=500)
    | st.lists(st.sampled_from(CLUSTERS), max_size=200).map("".join)
    | st.text(st.sampled_from(sorted(GSM7_CHARACTERS)), max_size=500)
)
bits = st.sampled_from([8, 16])


@given(texts, bits)
@example("", 8)
@example(FLAG * 60, 8)
@example("a" + "\u0301" * 400, 8)
@example("[" * 800, 16)
@example(FAMILY * 100, 16)
@example("م" * 66 + "\x1be" + "م" * 70, 8)
def test_parts_are_the_text_and_each_fits(text, reference_bits):
    parts = split(text, reference_bits=reference_bits)
    alphabet = choose_alphabet(text)
    measure = septet_count if alphabet is Alphabet.GSM7 else code_unit_count
    assert "".join(parts) == text
    limit = part_capacity(alphabet, reference_bits=reference_bits)
    if len(parts) == 1:
        limit = whole_capacity(alphabet)
    else:
        assert measure(text) > whole_capacity(alphabet)
        assert all(parts)
    assert all(measure(part) <= limit for part in parts)


@given(texts, bits)
def test_the_count_is_that_of_the_parts(text, reference_bits):
    counted = count(text, reference_bits=reference_bits)
    parts = split(text, counted.alphabet, reference_bits=reference_bits)
    assert counted.segments == len(parts)
    measure = septet_count if counted.alphabet is Alphabet.GSM7 else code_unit_count
    assert counted.units == sum(map(measure, parts))


@given(st.lists(st.sampled_from(CLUSTERS), max_size=200))
def test_no_cluster_is_torn(clusters):
    # Flags beside flags pair up from the left, and CR before CR LF is its own cluster: both are
    # what a reader sees, so the clusters of the list are the clusters of the text.
    text = "".join(clusters)
    ends = {0}
    for cluster in clusters:
        ends.add(max(ends) + len(cluster))
    at = 0
    for part in split(text)[:-1]:
        at += len(part)
        assert at in ends


@given(st.lists(st.sampled_from(["a", "é", "[", "\n", "م", "ç", "😀"]), max_size=600).map("".join))
def test_the_parts_agree_with_smsutil_where_characters_stand_alone(text):
    if text:
        assert list(split(text)) == [part.content for part in smsutil.split(text).parts]


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("", 1),
        ("a" * 160, 1),
        ("a" * 161, 2),
        ("a" * 306, 2),
        ("a" * 307, 3),
        ("[" * 80, 1),
        ("[" * 81, 2),
        ("a" * 152 + "[" + "a" * 151, 2),
        ("a" * 152 + "[" + "a" * 152, 3),
        ("م" * 70, 1),
        ("م" * 71, 2),
        ("م" * 134, 2),
        ("م" * 135, 3),
        ("😀" * 35, 1),
        ("😀" * 36, 2),
        ("م" * 66 + "😀" + "م" * 66, 3),
        ("a" * 1600, 11),
        ("م" * 1600, 24),
        ("😀" * 1600, 49),
    ],
)
def test_counts_at_the_edges(text, segments):
    assert count(text).segments == segments


def test_a_wider_reference_leaves_one_unit_less():
    assert [len(part) for part in split("a" * 305, reference_bits=16)] == [152, 152, 1]
    assert [len(part) for part in split("م" * 133, reference_bits=16)] == [66, 66, 1]


def test_the_count_tells_of_a_wider_reference_too():
    assert count("a" * 305) == SegmentCount(Alphabet.GSM7, 2, 305)
    assert count("a" * 305, reference_bits=16) == SegmentCount(Alphabet.GSM7, 3, 305)
    assert count("م" * 133, reference_bits=16) == SegmentCount(Alphabet.UCS2, 3, 133)


def test_the_most_parts_that_a_header_can_count():
    assert len(split("a" * 153 * 255)) == 255
    with pytest.raises(AssertionError):
        split("a" * (153 * 255 + 1))


def test_capacities_are_those_of_the_narrow_reference_unless_said():
    assert part_capacity(Alphabet.GSM7) == 153
    assert part_capacity(Alphabet.UCS2) == 67


def test_a_given_alphabet_is_kept():
    assert len(split("a" * 71, Alphabet.UCS2)) == 2


def test_a_part_ends_just_before_the_character_that_does_not_fit_whole():
    assert [len(part) for part in split("م" * 66 + "e\u0301" + "م" * 10)] == [66, 12]


def test_a_cluster_longer_than_a_segment_is_cut_between_characters():
    parts = split("a" + "\u0301" * 100)
    assert [len(part) for part in parts] == [67, 34]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_cluster_has_no_boundary_within(cluster):
    text = "x" + cluster + "x"
    assert [at for at in range(1, len(text)) if is_boundary(text, at)] == [1, len(text) - 1]


def test_boundaries_of_flags_and_lines():
    assert [at for at in range(9) if is_boundary(FLAG * 4, at)] == [0, 2, 4, 6, 8]
    assert is_boundary("🇲x", 1)
    assert is_boundary("\u0301a", 0)
    assert is_boundary("\n\r", 1)
    assert is_boundary("سلام", 2)


def test_split_pairs_are_mended_and_halves_replaced():
    octets = encode_ucs2("a😀b")
    halves = [decode_ucs2(octets[:4], partial=True), decode_ucs2(octets[4:], partial=True)]
    assert join(halves) == "a😀b"
    assert join(halves[:1]) == "a\ufffd"
    assert join([]) == ""


# -- user data header --------------------------------------------------------------------------


def test_header_octets():
    assert user_data_header(0x1A7, 3, 2) == bytes.fromhex("050003a70302")
    assert user_data_header(0x1A7, 3, 2, reference_bits=16) == bytes.fromhex("06080401a70302")
    assert user_data_header(1, 255, 255) == bytes.fromhex("05000301ffff")


@given(st.integers(0, 0xFFFF), st.integers(1, 255), st.data(), bits, st.binary(max_size=20))
def test_header_round_trip(reference, total, data, width, text):
    number = data.draw(st.integers(1, total))
    header = user_data_header(reference, total, number, reference_bits=width)
    kept = reference & 0xFF if width == 8 else reference
    expected = UserDataHeader(len(header), Concatenation(kept, total, number, width))
    assert parse_user_data_header(header + text) == expected


@pytest.mark.parametrize(("total", "number"), [(0, 0), (1, 0), (1, 2), (256, 1), (3, -1)])
def test_impossible_parts_are_not_written(total, number):
    with pytest.raises(ValueError, match="parts are counted"):
        user_data_header(1, total, number)


@given(st.binary(max_size=60))
def test_any_octets_are_read_or_refused(octets):
    try:
        header = parse_user_data_header(octets)
    except ValueError:
        return
    assert 1 <= header.length <= len(octets)
    found = header.concatenation
    assert found is None or 1 <= found.number <= found.total <= 255


@pytest.mark.parametrize(
    ("octets", "concatenation"),
    [
        ("00", None),
        ("0605041581158a", None),  # application ports
        ("0605042384f00b", None),  # which would be part 11 of 240
        ("0b0504158115820003a70302", Concatenation(0xA7, 3, 2, 8)),
        ("0a0003a703010003a70302", Concatenation(0xA7, 3, 2, 8)),  # the last counts
        ("050003a70304", None),  # part 4 of 3
        ("050003a70300", None),
        ("050003a70000", None),
        ("040002a703", None),  # too short an element
        ("02ff00", None),
        ("050003a70302ffff", Concatenation(0xA7, 3, 2, 8)),
    ],
)
def test_what_headers_mean(octets, concatenation):
    assert parse_user_data_header(bytes.fromhex(octets)).concatenation == concatenation


@pytest.mark.parametrize(
    "octets", ["", "05", "0205", "050003a703", "0100", "050004a70302", "06000301020300"]
)
def test_headers_that_do_not_fit(octets):
    with pytest.raises(ValueError, match="longer than"):
        parse_user_data_header(bytes.fromhex(octets))


def test_a_ucs2_part_that_ends_in_esc_is_no_cut_escape_pair():
    assert join([decode_ucs2_part(encode_ucs2("a\x1b\x1b")), "e"]) == "ae"
    assert join([decode_gsm7_part(b"a\x1b"), "e"]) == "a€"
    assert join([decode_gsm7_part(b"abc\x1b"), "e"]) == "abc€"
