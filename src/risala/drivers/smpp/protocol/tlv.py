"""Optional parameters: tag, length, value (SMPP 3.4 §5.3). Unknown tags are kept as they came."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final, NamedTuple

_HEAD: Final = Struct(">HH")

DEST_ADDR_SUBUNIT: Final = 0x0005
SC_INTERFACE_VERSION: Final = 0x0210
RECEIPTED_MESSAGE_ID: Final = 0x001E
USER_MESSAGE_REFERENCE: Final = 0x0204
SAR_MSG_REF_NUM: Final = 0x020C
SAR_TOTAL_SEGMENTS: Final = 0x020E
SAR_SEGMENT_SEQNUM: Final = 0x020F
MS_AVAILABILITY_STATUS: Final = 0x0422
NETWORK_ERROR_CODE: Final = 0x0423
MESSAGE_PAYLOAD: Final = 0x0424
MESSAGE_STATE: Final = 0x0427
CONGESTION_STATE: Final = 0x0428


class Tlv(NamedTuple):
    """One optional parameter, by its tag and the octets of its value (§5.3.1)."""

    tag: int
    value: bytes

    def __repr__(self) -> str:
        # Without the value, which may be a message's text and must not reach a log.
        return f"Tlv(0x{self.tag:04X}, {len(self.value)} octets)"

    @property
    def number(self) -> int:
        """The value as an unsigned integer."""
        return int.from_bytes(self.value)

    @property
    def text(self) -> str:
        """The value as a C-Octet String; a missing NUL does not matter."""
        return self.value.partition(b"\0")[0].decode("latin-1")


def find(tlvs: Iterable[Tlv], tag: int) -> Tlv | None:
    """The first parameter with this tag."""
    for tlv in tlvs:
        if tlv.tag == tag:
            return tlv
    return None


def decode_tlvs(octets: bytes, at: int, end: int) -> tuple[tuple[Tlv, ...], bytes]:
    """The whole parameters up to ``end``, and the octets after the last whole one.

    Some carriers add vendor parameters whose length overruns the PDU. The part before is good and a
    receipt must not be lost for it, so the rest is returned instead of raising.
    """
    tlvs: list[Tlv] = []
    while at + _HEAD.size <= end:
        tag, length = _HEAD.unpack_from(octets, at)
        stop = at + _HEAD.size + length
        if stop > end:
            break
        tlvs.append(Tlv(tag, octets[at + _HEAD.size : stop]))
        at = stop
    return tuple(tlvs), octets[at:end]


def encode_tlvs(tlvs: Iterable[Tlv]) -> bytes:
    """The octets of optional parameters, in their order (§5.3.1)."""
    return b"".join(_HEAD.pack(tag, len(value)) + value for tag, value in tlvs)
