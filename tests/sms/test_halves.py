"""Parts that a customer cut inside a character keep every octet."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from risala.drivers.modem.tpdu.pdu import UserData
from risala.drivers.modem.tpdu.userdata import pack
from risala.engine.model.numbers import halves_of, part_number, part_of
from risala.sms.alphabet import decode_ucs2, encode_gsm7_part, encode_ucs2
from risala.sms.message import Alphabet, Concatenation, Segment
from risala.sms.segment import halves, user_data_header

UNITS = st.text(st.characters(codec="utf-16-be"), min_size=1, max_size=60)
PLACES = st.builds(
    lambda bits, reference, total, number: Concatenation(
        reference % (1 << bits), total, min(number, total), bits
    ),
    st.sampled_from((8, 16)),
    st.integers(0, 0xFFFF),
    st.integers(1, 255),
    st.integers(1, 255),
)


def segment(alphabet: Alphabet, cut: tuple[str, str, str]) -> Segment:
    before, text, behind = cut
    return Segment(
        *("sms_1", 1, 1, 1, "SHOP", "+22236123456", alphabet, text, 0, 0),
        half_before=before,
        half_behind=behind,
    )


@given(UNITS, st.data(), PLACES)
def test_a_cut_anywhere_keeps_each_code_unit(text, data, place):
    octets = encode_ucs2(text)
    units = len(octets) // 2
    at, end = sorted(data.draw(st.tuples(st.integers(0, units), st.integers(0, units))))
    part = octets[2 * at : 2 * end]
    before, shown, behind = halves(decode_ucs2(part, partial=True), Alphabet.UCS2)
    shown.encode()  # what is stored is text
    kept = part_number(place, (before, behind))
    assert 0 < kept < 1 << 63
    assert part_of(kept) == place
    assert halves_of(kept) == (before, behind)
    assert encode_ucs2(segment(Alphabet.UCS2, (before, shown, behind)).units) == part


@given(st.text("abc 1€^{}", min_size=1, max_size=70), st.integers(0, 150))
@example("€", 1)
def test_a_cut_anywhere_keeps_each_septet(text, at):
    septets = encode_gsm7_part(text)[:at]
    dangling = (len(septets) - len(septets.rstrip(b"\x1b"))) % 2
    clean = septets[: len(septets) - dangling]
    shown = text[: sum(1 for _ in clean) - clean.count(0x1B)]
    sent = segment(Alphabet.GSM7, ("", shown, "\x1b" * dangling))
    assert encode_gsm7_part(sent.units) == septets
    header = user_data_header(1, 2, 1)
    data = UserData.of_text(sent.units, Alphabet.GSM7, header=header).encode()
    assert data.endswith(pack(septets, 1)[-1:]) if septets else True
    assert data[0] == 7 + len(septets)


@pytest.mark.parametrize(
    ("units", "cut"),
    [
        ("", ("", "", "")),
        ("ab", ("", "ab", "")),
        *((f"{low}ab", (low, "ab", "")) for low in ("\udc00", "\ude00", "\udfff")),
        *((f"ab{high}", ("", "ab", high)) for high in ("\ud800", "\ud83d", "\udbff")),
        ("\udfff\ud800", ("\udfff", "", "\ud800")),
        ("\ue000ab\ud7ff", ("", "\ue000ab\ud7ff", "")),  # the neighbours of all surrogates
        ("ab\x1b", ("", "ab\x1b", "")),
    ],
)
def test_a_part_between_its_halves(units, cut):
    assert halves(units, Alphabet.UCS2) == cut


@pytest.mark.parametrize("units", ["a\ud83db", "\ud83da", "a\ude00", "\ude00\ude00"])
def test_half_a_character_elsewhere_is_no_cut(units):
    with pytest.raises(ValueError, match="stands alone"):
        halves(units, Alphabet.UCS2)
