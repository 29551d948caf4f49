"""Optional parameters by the names and values that settings write."""

import pytest

from risala.drivers.smpp.protocol.tlv import Tlv
from risala.drivers.smpp.protocol.tlv_names import PARAMETERS, TAGS, make_tlv, name_of


@pytest.mark.parametrize(
    ("name", "value", "tlv"),
    [
        ("message_state", 2, Tlv(0x0427, b"\x02")),
        ("message_state", 0, Tlv(0x0427, b"\x00")),
        ("message_state", 255, Tlv(0x0427, b"\xff")),
        ("sms_signal", 1, Tlv(0x1203, b"\x00\x01")),
        ("sms_signal", 0xFFFF, Tlv(0x1203, b"\xff\xff")),
        ("message_payload", "é", Tlv(0x0424, b"\xe9")),
        ("message_payload", "", Tlv(0x0424, b"")),
        ("broadcast_end_time", "261122115959700+", Tlv(0x0609, b"261122115959700+\0")),
        ("network_error_code", "hex:030015", Tlv(0x0423, b"\x03\x00\x15")),
        ("0x1400", 0, Tlv(0x1400, b"\x00")),
        ("0x1400", 255, Tlv(0x1400, b"\xff")),
        ("0x1400", 256, Tlv(0x1400, b"\x01\x00")),
        ("0x1400", "own", Tlv(0x1400, b"own")),
        ("0x1400", "", Tlv(0x1400, b"")),
        ("0x0", 1, Tlv(0, b"\x01")),
        ("0xFFFF", 1, Tlv(0xFFFF, b"\x01")),
        ("0x0427", 2, Tlv(0x0427, b"\x02")),
    ],
)
def test_a_parameter_as_it_is_written(name, value, tlv):
    assert make_tlv(name, value) == tlv


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("message_state", 256, "message_state is a number of 1 octets"),
        ("message_state", -1, "message_state is a number of 1 octets"),
        ("message_state", "two", "message_state is a number"),
        ("0x1400", -1, "0x1400 is a number of 1 octets"),
        ("network_error_code", "hex:0300", "network_error_code takes 3 to 3 octets"),
        ("source_network_id", "a", "source_network_id takes 7 to 65 octets"),
        ("message_payload", "رسالة", "latin-1"),
        ("message_payload", "hex:0", "hex"),
        ("nonsense", 1, "nonsense is neither a parameter of SMPP nor a tag such as 0x1400"),
        ("1400", 1, "1400 is neither"),
        ("0xzz", 1, "0xzz is neither"),
        ("0x10000", 1, "0x10000 is neither"),
        ("0x-1", 1, "0x-1 is neither"),
    ],
)
def test_what_is_wrong_with_it(name, value, why):
    with pytest.raises(ValueError, match=why):
        make_tlv(name, value)


def test_each_tag_has_one_name():
    assert len(TAGS) == len(PARAMETERS)
    for name, tag in TAGS.items():
        assert name_of(tag) == name
    assert name_of(0x1400) == "0x1400"
    assert name_of(0x0A) == "0x000A"
