"""The quick way of the bodies that traffic is made of: what fits is taken as the general way would
take it, and what does not is left alone."""

from dataclasses import replace

import pytest

from risala.drivers.smpp.protocol import codec as hot
from risala.drivers.smpp.protocol.codec import (
    decode,
    decode_any,
    decode_message_id,
    decode_short_message,
    encode,
    encode_body,
    encode_message_id,
    encode_short_message,
)
from risala.drivers.smpp.protocol.fields import SHORT_MESSAGE_MAX, FieldError, PduFault
from risala.drivers.smpp.protocol.pdu import (
    DataSmResp,
    DeliverSm,
    DeliverSmResp,
    SubmitSm,
    SubmitSmResp,
)
from risala.drivers.smpp.protocol.tlv import Tlv

# Each field has a value that no other has, and the texts differ in length.
FULL = SubmitSm(
    service_type="CMT",
    source_addr_ton=5,
    source_addr_npi=6,
    source_addr="RISALA",
    dest_addr_ton=1,
    dest_addr_npi=8,
    destination_addr="22236123456",
    esm_class=0x40,
    protocol_id=0x7F,
    priority_flag=3,
    schedule_delivery_time="261122115959700+",
    validity_period="000002000000000R",
    registered_delivery=0x11,
    replace_if_present_flag=2,
    data_coding=4,
    sm_default_msg_id=9,
    short_message=b"\x05\0\x03\x07\x02\x01abc",
    sequence_number=77,
)
FULL_BODY = (
    b"CMT\0\x05\x06RISALA\0\x01\x0822236123456\0\x40\x7f\x03"
    b"261122115959700+\x00000002000000000R\0\x11\x02\x04\x09"
    b"\x09\x05\0\x03\x07\x02\x01abc"
)
MESSAGES = [
    FULL,
    SubmitSm(),
    DeliverSm(source_addr="1", destination_addr="22236123456", esm_class=4, short_message=b"id:1"),
    DeliverSm(source_addr="é b\n", destination_addr="\x01é", service_type=" ", command_status=8),
    SubmitSm(short_message=bytes(SHORT_MESSAGE_MAX)),
    SubmitSm(short_message=b"x", tlvs=(Tlv(0x0204, b"\0\5"), Tlv(0x1400, b"")), trailing=b"\1"),
    SubmitSm(source_addr_ton=255, dest_addr_npi=255, esm_class=255, sm_default_msg_id=255),
]
ANSWERS = [
    SubmitSmResp("4b1d0c", sequence_number=7),
    SubmitSmResp("\x01é", command_status=0x58),
    DeliverSmResp(),
    DataSmResp("7" * 64),
]


@pytest.fixture(autouse=True)
def _nothing_kept():
    """What another test had made is not found again."""
    hot._encoded.clear()
    hot._decoded.clear()


def test_a_message_octet_by_octet():
    assert encode_short_message(FULL) == encode_body(FULL) == FULL_BODY
    octets = b"\0\0\0\x5e\0\0\0\4\0\0\0\0\0\0\0\x4d" + FULL_BODY
    assert encode(FULL) == octets
    assert decode_short_message(SubmitSm, octets, 0, 77) == decode_any(octets) == FULL


@pytest.mark.parametrize("pdu", MESSAGES)
@pytest.mark.parametrize("time", ["first", "again"])
def test_a_message_that_fits_is_taken(pdu, time):
    if time == "again":
        decode(encode(replace(pdu, short_message=b"other")))
    assert encode_short_message(pdu) == encode_body(pdu)
    octets = encode(pdu)
    taken = decode_short_message(type(pdu), octets, pdu.command_status, pdu.sequence_number)
    assert taken == decode_any(octets) == pdu
    assert vars(taken).keys() == vars(pdu).keys()


@pytest.mark.parametrize("pdu", ANSWERS)
def test_an_answer_that_fits_is_taken(pdu):
    assert encode_message_id(pdu) == encode_body(pdu)
    octets = encode(pdu)
    taken = decode_message_id(type(pdu), octets, pdu.command_status, pdu.sequence_number)
    assert taken == decode_any(octets) == pdu
    assert vars(taken).keys() == vars(pdu).keys()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"service_type": "a\0b"}, "NUL"),
        ({"source_addr": "a\0b"}, "NUL"),
        ({"destination_addr": "a\0b"}, "NUL"),
        ({"destination_addr": "سلام"}, "octets"),
        ({"short_message": bytes(SHORT_MESSAGE_MAX + 1)}, f"{SHORT_MESSAGE_MAX} octets"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_by_either_way(fields, why):
    pdu = SubmitSm(**fields)
    with pytest.raises(ValueError):  # noqa: PT011 - the general way has the words for it
        encode_short_message(pdu)
    with pytest.raises(FieldError, match=why):
        encode(pdu)


def test_an_id_with_a_nul_in_it_is_refused_by_either_way():
    pdu = SubmitSmResp("a\0b")
    with pytest.raises(ValueError):  # noqa: PT011 - the general way has the words for it
        encode_message_id(pdu)
    with pytest.raises(FieldError, match="NUL"):
        encode(pdu)


@pytest.mark.parametrize(
    "pdu",
    [
        SubmitSmResp("7", tlvs=(Tlv(0x001E, b"7\0"),)),  # its last octet is a NUL too
        SubmitSmResp("7", tlvs=(Tlv(0x0427, b"\2"),)),
        SubmitSmResp("7", trailing=b"\1"),
        SubmitSmResp("", trailing=b"\0"),
    ],
)
def test_an_answer_with_more_than_an_id_is_left_to_the_general_way(pdu):
    octets = encode(pdu)
    with pytest.raises(ValueError):  # noqa: PT011 - as before
        decode_message_id(SubmitSmResp, octets, 0, 0)
    assert decode(octets) == pdu


def test_octets_that_end_within_a_message_are_none():
    octets = encode(FULL)
    for end in range(16, len(octets)):
        with pytest.raises((ValueError, IndexError)):
            decode_short_message(SubmitSm, octets[:end], 0, 77)
        with pytest.raises(PduFault) as told:
            decode(octets[:end])
        assert told.value.command_status == (0x02 if end < len(octets) - 10 else 0x01)


def test_traffic_goes_the_quick_way():
    octets = encode(FULL)
    assert len(hot._encoded) == 1
    assert decode(octets) == FULL
    assert len(hot._decoded) == 1


def test_fields_that_vary_without_end_take_no_memory_without_end():
    for number in range(hot.KEPT_MAX + 10):
        sent = SubmitSm(validity_period=str(number), short_message=b"x")
        assert decode(encode(sent)) == sent
        assert len(hot._encoded) <= hot.KEPT_MAX
        assert len(hot._decoded) <= hot.KEPT_MAX
    kept = f"{hot._encoded} {hot._decoded}"
    secret = SubmitSm(destination_addr="22236123456", short_message=b"code 1234")
    assert decode(encode(secret)) == secret
    assert "1234" not in f"{hot._encoded} {hot._decoded}".replace(kept, "")


def test_what_is_decoded_shares_nothing_with_what_comes_after():
    octets = encode(DeliverSm(source_addr="1", short_message=b"a", tlvs=(Tlv(1, b"x"),)))
    plain = encode(DeliverSm(source_addr="2", short_message=b"b"))
    first, second = decode(octets), decode(plain)
    assert (first.source_addr, first.short_message, len(first.tlvs)) == ("1", b"a", 1)
    assert (second.source_addr, second.short_message, second.tlvs) == ("2", b"b", ())
    assert decode(octets) == first
