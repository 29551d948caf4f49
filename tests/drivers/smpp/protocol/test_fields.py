"""The fields of a body, one by one: where each ends, and what is said of those that do not fit."""

import pytest

from risala.drivers.smpp.protocol.destinations import Destination, DistributionList
from risala.drivers.smpp.protocol.fields import (
    C_OCTETS,
    DESTINATIONS,
    INT8,
    INT8_3,
    SHORT_MESSAGE,
    SHORT_MESSAGE_MAX,
    UNSUCCESSFUL,
    FieldError,
    PduFault,
    decode_fields,
    encode_fields,
)


@pytest.mark.parametrize(
    ("layout", "values", "octets"),
    [
        ((C_OCTETS, C_OCTETS, INT8), ("ab", "", 7), b"ab\0\0\7"),
        ((C_OCTETS, C_OCTETS), ("", "a"), b"\0a\0"),
        ((INT8_3, C_OCTETS), (1, 2, 3, "é"), b"\1\2\3\xe9\0"),
        ((SHORT_MESSAGE, C_OCTETS), (b"ab", "c"), b"\2abc\0"),
        ((C_OCTETS, SHORT_MESSAGE, C_OCTETS, INT8), ("a", b"b\0", "c", 7), b"a\0\2b\0c\0\7"),
        (
            (C_OCTETS, DESTINATIONS, C_OCTETS, INT8),
            ("a", (DistributionList("b"), Destination(1, 8, "2")), "c", 7),
            b"a\0\2\2b\0\1\1\x082\0c\0\7",
        ),
        ((UNSUCCESSFUL, INT8), ((), 7), b"\0\7"),
        ((SHORT_MESSAGE,), (bytes(SHORT_MESSAGE_MAX),), b"\xfe" + bytes(254)),
        ((), (), b""),
    ],
)
def test_each_field_stands_behind_the_one_before(layout, values, octets):
    assert encode_fields(layout, values) == octets
    for before, behind in ((b"", b""), (b"zz", b"\0\0\0\0\0\0\0\0")):
        whole = before + octets + behind
        end = len(before) + len(octets)
        assert decode_fields(layout, whole, len(before), end) == (list(values), end)


@pytest.mark.parametrize(
    ("step", "octets", "status"),
    [
        (C_OCTETS, b"ab\0", 0x02),
        (C_OCTETS, b"\0", 0x02),
        (SHORT_MESSAGE, b"\2ab", 0x01),
        (SHORT_MESSAGE, b"\1a", 0x01),
        (SHORT_MESSAGE, b"\0", 0x01),
        (INT8_3, b"\1\2\3", 0x02),
        (INT8, b"\1", 0x02),
        (DESTINATIONS, b"\1\2a\0", 0x02),
        (UNSUCCESSFUL, b"\1\1\1a\0\0\0\0\1", 0x02),
    ],
)
def test_a_field_that_goes_beyond_the_end_is_none_whatever_follows(step, octets, status):
    for end in range(len(octets)):
        for there in (octets[:end], octets, octets + bytes(9)):
            with pytest.raises(PduFault) as told:
                decode_fields((step,), there, 0, end)
            assert (told.value.command_status, told.value.in_sync) == (status, True)
            # The header, which names the PDU, is not among these octets.
            assert (told.value.command_id, told.value.sequence_number) == (0, 0)


@pytest.mark.parametrize(
    ("step", "value", "why"),
    [
        (C_OCTETS, "a\0b", "NUL"),
        (C_OCTETS, "سلام", "octets"),
        (SHORT_MESSAGE, bytes(SHORT_MESSAGE_MAX + 1), f"{SHORT_MESSAGE_MAX} octets"),
        (DESTINATIONS, (DistributionList("سلام"),), "destinations"),
        (DESTINATIONS, (Destination(256, 1, "2"),), "destinations"),
    ],
)
def test_what_is_said_of_a_value_that_does_not_fit(step, value, why):
    with pytest.raises(FieldError, match=why) as told:
        encode_fields((step,), (value,))
    assert "سلام" not in f"{told.value!r} {told.value.__cause__!r}"
