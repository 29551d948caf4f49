"""The lists of submit_multi and its answer, both ways; what is none of them is told why."""

import pytest

from risala.drivers.smpp.protocol.destinations import (
    DESTINATIONS_MAX,
    Destination,
    DistributionList,
    ListFault,
    Unsuccessful,
    decode_destinations,
    decode_unsuccessful,
    encode_destinations,
    encode_unsuccessful,
)

BOTH = (Destination(1, 8, "22236123456"), DistributionList("staff"), Destination(5, 0, ""))
FAILED = (Unsuccessful(1, 8, "22236123456", 0x0B), Unsuccessful(5, 2, "", 0xDEADBEEF))


def test_destinations_octet_by_octet():
    octets = b"\x03" + b"\x01\x01\x0822236123456\0" + b"\x02staff\0" + b"\x01\x05\0\0"
    assert encode_destinations(BOTH) == octets
    assert decode_destinations(b"zz" + octets + b"rest", 2, 2 + len(octets)) == (
        BOTH,
        2 + len(octets),
    )


def test_the_answers_list_octet_by_octet():
    octets = b"\x02" + b"\x01\x0822236123456\0\0\0\0\x0b" + b"\x05\x02\0\xde\xad\xbe\xef"
    assert encode_unsuccessful(FAILED) == octets
    assert decode_unsuccessful(b"z" + octets + b"rest", 1, 1 + len(octets)) == (
        FAILED,
        1 + len(octets),
    )


def fault_of(decode, octets, at=0, end=None):
    with pytest.raises(ListFault) as told:
        decode(octets, at, len(octets) if end is None else end)
    assert str(told.value) == told.value.reason
    return told.value.reason, told.value.command_status


@pytest.mark.parametrize(
    ("decode", "octets"),
    [
        (decode_destinations, encode_destinations(BOTH)),
        (decode_unsuccessful, encode_unsuccessful(FAILED)),
    ],
)
def test_a_list_that_is_cut_is_none_though_octets_follow(decode, octets):
    for end in range(len(octets)):
        reason, status = fault_of(decode, octets, 0, end)
        assert reason in ("the list ends too early", "a string has no end")
        assert status == 0x02


def test_why_it_is_no_list():
    assert fault_of(decode_destinations, b"") == ("the list ends too early", 0x02)
    assert fault_of(decode_destinations, b"\x01\x02staff") == ("a string has no end", 0x02)
    wrong = ("a dest_flag that is neither 1 nor 2", 0x40)
    for flag in (b"\x00", b"\x03", b"\xff"):
        assert fault_of(decode_destinations, b"\x01" + flag + b"staff\0") == wrong
    early = b"\x01\x01\x08222\0\0\0\0"
    assert fault_of(decode_unsuccessful, early) == ("the list ends too early", 0x02)


def test_what_cannot_be_written():
    many = (DistributionList("a"),) * DESTINATIONS_MAX
    assert encode_destinations(many)[0] == DESTINATIONS_MAX
    with pytest.raises(ValueError, match="254 destinations at most"):
        encode_destinations((*many, many[0]))
    with pytest.raises(ValueError, match="254 destinations at most"):
        encode_unsuccessful(FAILED * 128)
    with pytest.raises(ValueError, match="a C-Octet String cannot hold NUL"):
        encode_destinations((DistributionList("a\0b"),))
    with pytest.raises(ValueError, match="latin-1"):
        encode_destinations((DistributionList("رسالة"),))


def test_letters_of_latin_1_go_and_come_back():
    (found,), _ = decode_destinations(encode_destinations((DistributionList("é"),)), 0, 4)
    assert found == DistributionList("é")
