"""Segments to submit_sm and back to text."""

from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.drivers.smpp.protocol.codec import decode, encode
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, SubmitSm, varied
from risala.drivers.smpp.protocol.submit import (
    Concatenating,
    DefaultAlphabet,
    FlashBy,
    SubmitOptions,
    TextField,
    UnsendableError,
    Validity,
    decode_message,
    flashes,
    message_octets,
    plain_text,
    submit_sm,
)
from risala.drivers.smpp.protocol.times import relative_time
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.drivers.smpp.protocol.tlv_names import PARAMETERS, make_tlv, name_of
from risala.drivers.smpp.settings import SmppSettings
from risala.plugins.testing.conformance import segment
from risala.sms.alphabet import choose_alphabet
from risala.sms.assembly import Assembler
from risala.sms.evident import InboundCoding
from risala.sms.message import Alphabet, Concatenation
from risala.sms.segment import split

_NOW_MS = 1_800_000_000_000
_LATIN1 = SubmitOptions(default_alphabet=DefaultAlphabet.LATIN1)


def test_the_fields_of_a_plain_submit():
    code = segment("Votre code", urgent=True, expires_at_ms=_NOW_MS + 172_800_000)
    pdu = submit_sm(code, SubmitOptions(service_type="CMT"), _NOW_MS)
    assert (pdu.source_addr_ton, pdu.source_addr_npi, pdu.source_addr) == (5, 0, "RISALA")
    assert (pdu.dest_addr_ton, pdu.dest_addr_npi) == (1, 1)
    assert pdu.destination_addr == "22236123456"
    assert (pdu.data_coding, pdu.esm_class, pdu.registered_delivery) == (0, 0, 1)
    assert (pdu.priority_flag, pdu.validity_period) == (1, "000002000000000R")
    assert pdu.service_type == "CMT"
    assert pdu.short_message == b"Votre code"


def test_addresses_as_configured():
    options = SubmitOptions(source_ton=0, source_npi=1, dest_ton=2, dest_npi=8)
    pdu = submit_sm(segment(), options, _NOW_MS)
    assert (pdu.source_addr_ton, pdu.source_addr_npi) == (0, 1)
    assert (pdu.dest_addr_ton, pdu.dest_addr_npi) == (2, 8)


@pytest.mark.parametrize(
    ("ms", "expected"),
    [
        (-5, "000000000001000R"),
        (1, "000000000001000R"),
        (61_001, "000000000102000R"),
        (86_399_000, "000000235959000R"),
        (10**12, "000030000000000R"),
    ],
)
def test_relative_times(ms, expected):
    assert relative_time(ms) == expected


@pytest.mark.parametrize(
    ("total", "is_transaction", "esm_class"),
    [(1, False, 0), (2, False, 0x40), (1, True, 0x02), (2, True, 0x42)],
)
def test_the_class_tells_of_a_header_and_of_whose_answer_is_asked_for(
    total, is_transaction, esm_class
):
    options = SubmitOptions(is_transaction=is_transaction)
    assert submit_sm(segment("part", total=total), options, _NOW_MS).esm_class == esm_class


def test_gsm7_goes_unpacked_with_escapes():
    pdu = submit_sm(segment("@€é"), SubmitOptions(), _NOW_MS)
    assert pdu.short_message == b"\x00\x1b\x65\x05"
    assert decode_message(pdu).text == "@€é"


@pytest.mark.parametrize("default", DefaultAlphabet)
@pytest.mark.parametrize(
    ("text", "alphabet", "coding", "octets"),
    [
        ("Bonjour é€", Alphabet.GSM7, 0xF0, b"Bonjour \x05\x1be"),
        ("سلام", Alphabet.UCS2, 0x18, "سلام".encode("utf-16-be")),
    ],
)
def test_a_flash_message_is_marked_by_its_coding(text, alphabet, coding, octets, default):
    """0xF0 names GSM 03.38, whatever the carrier takes 0 for."""
    flash = segment(text, alphabet=alphabet, message_class=0)
    pdu = submit_sm(flash, SubmitOptions(default_alphabet=default), _NOW_MS)
    assert (pdu.data_coding, pdu.short_message, pdu.tlvs) == (coding, octets, ())
    assert flashes(pdu)
    assert decode_message(pdu, default).text == text
    plain = submit_sm(replace(flash, message_class=None), SubmitOptions(), _NOW_MS)
    assert plain.data_coding in (0, 8)
    assert not flashes(plain)


def test_a_flash_message_is_marked_by_the_subunit_where_the_carrier_wants_that():
    by_subunit = SubmitOptions(flash=FlashBy.DEST_ADDR_SUBUNIT)
    for text, alphabet, coding in (("Bonjour", Alphabet.GSM7, 0), ("سلام", Alphabet.UCS2, 8)):
        flash = segment(text, alphabet=alphabet, message_class=0)
        pdu = submit_sm(flash, by_subunit, _NOW_MS)
        assert (pdu.data_coding, pdu.tlvs) == (coding, (Tlv(0x0005, b"\x01"),))
        assert flashes(pdu)
        assert not submit_sm(replace(flash, message_class=None), by_subunit, _NOW_MS).tlvs


def test_latin1_where_the_carrier_takes_0_for_that():
    pdu = submit_sm(segment("@é"), _LATIN1, _NOW_MS)
    assert (pdu.data_coding, pdu.short_message) == (0, b"@\xe9")
    assert decode_message(pdu, DefaultAlphabet.LATIN1).text == "@é"
    euro = submit_sm(segment("5 €"), _LATIN1, _NOW_MS)
    assert (euro.data_coding, decode_message(euro).text) == (8, "5 €")
    with pytest.raises(UnsendableError, match="not in Latin-1"):
        submit_sm(segment("€" + "x" * 75), _LATIN1, _NOW_MS)


def test_a_long_arabic_text_is_three_segments_of_one_message():
    text = "سلام عليكم " * 19
    text = text[:200]
    parts = split(text)
    assert len(parts) == 3
    assembler = Assembler()
    wholes = []
    for number, part in enumerate(parts, 1):
        one = segment(part, alphabet=Alphabet.UCS2, number=number, total=3, reference=0x1234)
        pdu = submit_sm(one, SubmitOptions(), _NOW_MS)
        assert pdu.esm_class == 0x40
        assert pdu.data_coding == 8
        assert len(pdu.short_message) <= 140
        decoded = decode_message(pdu)
        assert decoded.concatenation == Concatenation(0x34, 3, number, 8)
        wholes.append(assembler.add(decoded.text, decoded.concatenation, "a", "b"))
    assert wholes[:2] == [None, None]
    assert wholes[2].text == text
    assert wholes[2].segments == 3


# ESC stands for half of a character at the end of a part, and no phone writes it.
_WRITTEN = st.characters(exclude_categories=("Cs",), exclude_characters="\x1b")


@given(st.text(_WRITTEN, min_size=1, max_size=400), st.randoms(use_true_random=False))
def test_any_text_arrives_in_any_order_of_parts_and_twice(text, rng):
    alphabet = choose_alphabet(text)
    parts = split(text, alphabet)
    pdus = [
        submit_sm(
            segment(part, alphabet=alphabet, number=number, total=len(parts)),
            SubmitOptions(),
            _NOW_MS,
        )
        for number, part in enumerate(parts, 1)
    ]
    rng.shuffle(pdus)
    assembler = Assembler()
    if len(pdus) > 1:
        first = decode_message(pdus[0], coding=InboundCoding.DECLARED)
        assert assembler.add(first.text, first.concatenation) is None
    found = []
    for pdu in pdus:
        decoded = decode_message(decode(encode(pdu)), coding=InboundCoding.DECLARED)
        found.append(assembler.add(decoded.text, decoded.concatenation))
    assert [whole.text for whole in found if whole] == [text]


@pytest.mark.parametrize(
    ("data_coding", "octets", "text"),
    [
        (0, b"\x00", "@"),
        (1, b"abc@[]\n", "abc@[]\n"),
        (1, b"caf\x05 5 \x1be", "café 5 €"),
        (3, b"\xe9", "é"),
        (2, b"\xe9", "é"),
        (4, b"\xe9", "é"),
        (5, "かな".encode("shift_jis"), "かな"),
        (6, "Привет".encode("iso8859-5"), "Привет"),
        (7, "שלום".encode("iso8859-8"), "שלום"),
        (8, "é".encode("utf-16-be"), "é"),
        (10, "かな".encode("iso2022_jp"), "かな"),
        (13, "かな".encode("iso2022_jp_1"), "かな"),
        (14, "한글".encode("euc_kr"), "한글"),
        (0x18, "é".encode("utf-16-be"), "é"),
        (0x10, b"\x05", "é"),
        (0xF0, b"\x05", "é"),
        (0xF4, b"\xe9", "é"),
        (0xF1, b"\x05", "é"),
        (0x11, b"\x05", "é"),
        (0x19, "é".encode("utf-16-be"), "é"),
        (0x80, b"\xe9", "é"),
        (0x08, b"\xd8\x3d", "\ufffd"),
    ],
)
def test_inbound_alphabets(data_coding, octets, text):
    assert decode_message(DeliverSm(data_coding=data_coding, short_message=octets)).text == text


def test_concatenation_by_sar_and_text_in_a_payload():
    tlvs = (
        Tlv(0x020C, b"\x12\x34"),
        Tlv(0x020E, b"\x03"),
        Tlv(0x020F, b"\x02"),
        Tlv(0x0424, b"part"),
    )
    for pdu in (DeliverSm(tlvs=tlvs), DataSm(tlvs=tlvs)):
        decoded = decode_message(pdu)
        assert decoded.text == "part"
        assert decoded.concatenation == Concatenation(0x1234, 3, 2, 16)


def sar(reference=b"\1\2", total=b"\3", number=b"\2"):
    return (Tlv(0x020C, reference), Tlv(0x020E, total), Tlv(0x020F, number))


@pytest.mark.parametrize(
    ("total", "number", "can_be"),
    [(1, 1, True), (255, 255, True), (3, 1, True), (3, 3, True), (3, 0, False), (2, 3, False)],
)
def test_which_parts_there_may_be(total, number, can_be):
    pdu = DeliverSm(tlvs=sar(total=bytes((total,)), number=bytes((number,))))
    found = Concatenation(0x102, total, number, 16) if can_be else None
    assert decode_message(pdu).concatenation == found


def test_there_are_no_more_parts_than_an_octet_counts():
    assert decode_message(DeliverSm(tlvs=sar(total=b"\1\0"))).concatenation is None


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_sar_that_lacks_a_parameter_is_none(missing):
    tlvs = [tlv for at, tlv in enumerate(sar()) if at != missing]
    assert decode_message(DeliverSm(tlvs=tuple(tlvs))).concatenation is None


def test_half_a_pair_is_kept_in_a_part_for_its_other_half():
    pdu = DeliverSm(data_coding=8, short_message=b"\xd8\x3d", tlvs=sar())
    assert decode_message(pdu).text == "\ud83d"


@pytest.mark.parametrize(
    ("tlvs", "text"),
    [((), "ab"), (sar(), "ab\x1b")],  # a whole message has no other half to wait for
)
def test_half_an_escape_pair_is_kept_in_a_part_for_its_other_half(tlvs, text):
    assert decode_message(DeliverSm(short_message=b"ab\x1b", tlvs=tlvs)).text == text


def test_a_part_that_was_cut_inside_a_character_is_sent_as_it_was_cut():
    cut = replace(segment("ab", total=2), half_behind="\x1b")
    assert submit_sm(cut, SubmitOptions(), _NOW_MS).short_message[6:] == b"ab\x1b"
    with pytest.raises(UnsendableError, match="ends inside a character"):
        submit_sm(cut, _LATIN1, _NOW_MS)


def test_a_sar_that_cannot_be_is_none():
    tlvs = (Tlv(0x020C, b"\1"), Tlv(0x020E, b"\x02"), Tlv(0x020F, b"\x03"))
    assert decode_message(DeliverSm(tlvs=tlvs)).concatenation is None


@given(st.binary(max_size=254), st.integers(0, 255), st.integers(0, 255))
def test_no_octets_raise(octets, esm_class, data_coding):
    pdu = DeliverSm(esm_class=esm_class, data_coding=data_coding, short_message=octets)
    assert isinstance(decode_message(pdu).text, str)
    assert message_octets(pdu) == octets


def test_a_pdu_without_any_text_has_no_octets():
    for pdu in (DeliverSm(tlvs=sar()), DataSm(tlvs=sar()), DataSm()):
        assert message_octets(pdu) == b""
        assert decode_message(pdu).text == plain_text(pdu) == ""


@pytest.mark.parametrize(
    ("fields", "octets", "text"),
    [
        ({"esm_class": 0x44}, b"\5\0\3\7\1\1id:1", "id:1"),
        ({"esm_class": 0x44}, b"\3\7\1\1id:1", "id:1"),
        ({"esm_class": 0x44}, b"\0id:1", "id:1"),
        # No header: what is in it is no element, or it is longer than all that there is.
        ({"esm_class": 0x44}, b"\4id:1", "èid:1"),
        ({"esm_class": 0x44}, b"\5id:1", "éid:1"),
        ({"esm_class": 0x44}, b"", ""),
        ({"esm_class": 0x04}, b"\5\0\3\7\1\1id:1", "id:1"),  # not declared
        ({"data_coding": 8}, b"\0i\0d\0:\6\x31", "id:\u0631"),
        ({"data_coding": 8}, b"\0i\0d\0", "id"),
        ({"data_coding": 8}, b"\xd8\x3d\0i", "\ufffdi"),
        ({"data_coding": 3}, b"id:\xe9", "id:é"),
    ],
)
def test_the_plain_text_of_a_receipt(fields, octets, text):
    assert plain_text(DeliverSm(**fields, short_message=octets)) == text


# -- as the carrier wants it -------------------------------------------------------------------


def test_sar_parameters_in_place_of_a_header():
    options = SubmitOptions(long_messages=Concatenating.SAR)
    part = segment("part", number=2, total=3, reference=0x1234)
    pdu = submit_sm(part, options, _NOW_MS)
    assert (pdu.esm_class, pdu.short_message) == (0, b"part")
    assert decode_message(pdu).concatenation == Concatenation(0x1234, 3, 2, 16)
    assert pdu.tlvs == sar(b"\x12\x34", b"\3", b"\2")
    assert submit_sm(segment("whole"), options, _NOW_MS).tlvs == ()


@pytest.mark.parametrize(("room", "bits", "octets"), [(16, 16, 7), (8, 8, 6)])
def test_a_wide_reference_where_every_part_has_room(room, bits, octets):
    options = SubmitOptions(long_messages=Concatenating.UDH16)
    part = segment("part", number=2, total=3, reference=0x1234, reference_bits=room)
    pdu = submit_sm(part, options, _NOW_MS)
    assert (pdu.esm_class, len(pdu.short_message)) == (0x40, octets + 4)
    reference = 0x1234 if bits == 16 else 0x34
    assert decode_message(pdu).concatenation == Concatenation(reference, 3, 2, bits)


def test_latin1_beside_a_wide_header_still_fits_one_tpdu():
    """67 code units and 7 octets would be 141."""
    options = SubmitOptions(
        default_alphabet=DefaultAlphabet.LATIN1, long_messages=Concatenating.UDH16
    )
    part = segment("€" * 67, number=1, total=2, reference_bits=16)
    with pytest.raises(UnsendableError):
        submit_sm(part, options, _NOW_MS)
    submit_sm(part, _LATIN1, _NOW_MS)


def test_the_text_in_a_payload():
    options = SubmitOptions(text_in=TextField.MESSAGE_PAYLOAD)
    pdu = submit_sm(segment("part", number=2, total=3, reference=7), options, _NOW_MS)
    assert (pdu.esm_class, pdu.short_message) == (0x40, b"")
    decoded = decode_message(decode(encode(pdu)))
    assert (decoded.text, decoded.concatenation) == ("part", Concatenation(7, 3, 2, 8))


@pytest.mark.parametrize(
    ("how", "written"),
    [
        (Validity.RELATIVE, "000000000100000R"),
        (Validity.ABSOLUTE, "270115080100000+"),
        (Validity.NONE, ""),
    ],
)
def test_validity(how, written):
    short = segment(expires_at_ms=_NOW_MS + 60_000)
    assert submit_sm(short, SubmitOptions(validity=how), _NOW_MS).validity_period == written


def test_a_moment_beyond_the_longest_span_is_its_end():
    far = segment(expires_at_ms=_NOW_MS + 31 * 86_400_000)
    options = SubmitOptions(validity=Validity.ABSOLUTE)
    assert submit_sm(far, options, _NOW_MS).validity_period == "270214080000000+"


def test_a_reference_by_which_receipts_may_name_the_submit():
    options, one = SubmitOptions(), segment()
    first, again, other = (
        submit_sm(each, options, _NOW_MS, has_reference=True).tlvs
        for each in (one, replace(one, attempt=2), replace(one, number=2, total=3))
    )
    assert first == (Tlv(0x0204, one.submit_reference.to_bytes(2)),)
    assert len({first, again, other}) == 3
    assert submit_sm(one, options, _NOW_MS, has_reference=True).tlvs == first
    assert submit_sm(one, options, _NOW_MS).tlvs == ()


def test_what_is_kept_of_one_submit_is_no_others():
    plain, other = SubmitOptions(), SubmitOptions(source_ton=0, source_npi=1, priority_flag=2)
    one = segment("a€", sender="RISALA")
    first = submit_sm(one, plain, _NOW_MS, has_reference=True)
    second = submit_sm(segment("b", sender="OTHER"), plain, _NOW_MS)
    assert (first.source_addr, second.source_addr) == ("RISALA", "OTHER")
    assert (second.short_message, second.tlvs) == (b"b", ())
    urgent = submit_sm(segment("a€", sender="RISALA", urgent=True), plain, _NOW_MS)
    assert (first.priority_flag, urgent.priority_flag) == (0, 1)
    theirs = submit_sm(segment("a€", sender="RISALA"), other, _NOW_MS)
    assert (first.source_addr_ton, theirs.source_addr_ton) == (5, 0)
    assert (theirs.source_addr_npi, theirs.priority_flag) == (1, 2)
    assert submit_sm(one, plain, _NOW_MS, has_reference=True) == first


def test_a_varied_pdu_is_what_a_replaced_one_is():
    pdu = submit_sm(segment("a"), SubmitOptions(), _NOW_MS)
    other = varied(pdu, destination_addr="22246123456", short_message=b"b")
    assert other == replace(pdu, destination_addr="22246123456", short_message=b"b")
    assert (type(other), pdu.short_message) == (SubmitSm, b"a")
    with pytest.raises(FrozenInstanceError):
        other.short_message = b"c"


def test_a_reference_is_not_given_twice():
    with pytest.raises(ValueError, match="given twice"):
        SmppSettings(host="x", system_id="x", user_message_reference=True, extra_tlvs={"0x0204": 5})
    own = SmppSettings(host="x", system_id="x", extra_tlvs={"0x0204": 5})
    assert own.references is False


def test_the_other_fields():
    settings = SmppSettings(
        host="x",
        system_id="x",
        priority_flag=2,
        priority_flag_code=3,
        protocol_id=0x7F,
        registered_delivery=0x11,
        replace_if_present=True,
        extra_tlvs={"user_message_reference": 5, "0x1400": "hex:0a0b", "0x1401": "free"},
    )
    options = settings.submit_options
    pdu = submit_sm(segment(), options, _NOW_MS)
    assert (pdu.priority_flag, pdu.protocol_id, pdu.registered_delivery) == (2, 0x7F, 0x11)
    assert pdu.replace_if_present_flag == 1
    assert submit_sm(segment(urgent=True), options, _NOW_MS).priority_flag == 3
    assert pdu.tlvs == (Tlv(0x0204, b"\0\5"), Tlv(0x1400, b"\x0a\x0b"), Tlv(0x1401, b"free"))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("user_mesage_reference", 5, "neither"),
        ("0x12345", 5, "neither"),
        ("0xzz", 5, "neither"),
        ("user_message_reference", 70000, "2 octets"),
        ("user_message_reference", "five", "is a number"),
        ("callback_num", "hex:00", "4 to 19"),
        ("0x1400", "hex:0", "hex"),
        ("0x1400", -1, "octets"),
    ],
)
def test_a_parameter_that_cannot_be_is_a_fault_of_the_settings(name, value, said):
    with pytest.raises(ValueError, match=said):
        SmppSettings(host="x", system_id="x", extra_tlvs={name: value})


def test_parameters_have_the_standards_names():
    assert name_of(0x0424) == "message_payload"
    assert name_of(0x1400) == "0x1400"
    assert make_tlv("receipted_message_id", "7") == Tlv(0x001E, b"7\0")
    assert make_tlv("0x1400", 258) == Tlv(0x1400, b"\1\2")
    assert make_tlv("billing_identification", "hex:0001") == Tlv(0x060B, b"\0\1")
    assert len(PARAMETERS) == 44 + 20, "of SMPP 3.4, and what 5.0 adds"
    assert sorted(PARAMETERS) == [row.tag for row in PARAMETERS.values()] == list(PARAMETERS)
