"""A long message is joined from the parts that are there, and shows no broken letter."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from risala.sms.alphabet import decode_gsm7_part, decode_ucs2, encode_gsm7, encode_ucs2
from risala.sms.message import Alphabet
from risala.sms.segment import PartText, halves, text_of_parts

TEXTS = st.text(st.characters(codec="utf-16-be"), min_size=1, max_size=60)
SEPTETS = st.text(st.sampled_from("ab €[]~1"), min_size=1, max_size=60)


def parts_of(units: list[str], alphabet: Alphabet = Alphabet.UCS2) -> dict[int, PartText]:
    found = {}
    for number, each in enumerate(units, 1):
        before, text, behind = halves(each, alphabet)
        found[number] = PartText(text, before, behind)
    return found


def cut_ucs2(text: str, size: int) -> list[str]:
    octets = encode_ucs2(text)
    step = 2 * size
    return [decode_ucs2(octets[at : at + step], partial=True) for at in range(0, len(octets), step)]


def cut_gsm7(text: str, size: int) -> list[str]:
    septets = encode_gsm7(text)
    return [decode_gsm7_part(septets[at : at + size]) for at in range(0, len(septets), size)]


@given(TEXTS, st.integers(1, 7))
@example("😀" * 4, 3)
@example("a\x1be", 2)  # ESC, a control character: not the first half of €
def test_a_cut_inside_a_surrogate_pair_is_mended(text, size):
    parts = parts_of(cut_ucs2(text, size))
    assert text_of_parts(parts, len(parts)) == text


@given(SEPTETS, st.integers(1, 7))
@example("€" * 4, 3)
def test_a_cut_inside_an_escape_pair_is_mended(text, size):
    parts = parts_of(cut_gsm7(text, size), Alphabet.GSM7)
    assert text_of_parts(parts, len(parts)) == text


@pytest.mark.parametrize(
    ("there", "shown"),
    [
        ((1,), "ab…"),
        ((2,), "…c…"),
        ((3,), "…de"),
        ((1, 2), "ab😀c…"),
        ((2, 3), "…c😀de"),
        ((1, 3), "ab…de"),
        ((), "…"),
    ],
)
def test_a_gap_stands_for_what_is_missing_and_for_the_half_beside_it(there, shown):
    parts = parts_of(["ab\ud83d", "\ude00c\ud83d", "\ude00de"])
    assert text_of_parts({number: parts[number] for number in there}, 3) == shown


def test_halves_that_do_not_meet_are_no_letter():
    parts = parts_of(["ab\ud83d", "c", "😀\ud83d"])
    assert text_of_parts(parts, 3) == "ab…c😀…"
    parts = parts_of(["\ude00ab", "c\ud83d"])
    assert text_of_parts(parts, 2) == "…abc…"  # nothing is before the first, or behind the last
    parts = parts_of(["d\x1b", "ﬂ"], Alphabet.GSM7)
    assert text_of_parts(parts, 2) == "dﬂ"
