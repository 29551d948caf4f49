"""Seven-bit characters packed into octets (3GPP TS 23.038 §6.1.2.1), and the octets of USSD.

A packed text is one long number: septet 0 has its lowest seven bits, septet 1 the next seven. So
packing is a shift and a conversion, and no carry from octet to octet is kept by hand.
"""

from __future__ import annotations

from typing import Final

_CARRIAGE_RETURN: Final = 0x0D


def octets_for(septets: int, fill_bits: int = 0) -> int:
    """Octets that so many septets take."""
    return (7 * septets + fill_bits + 7) // 8


def fill_bits_after(header_octets: int) -> int:
    """Bits between a user data header and the text, which begins on a septet (23.040 §9.2.3.24)."""
    return -8 * header_octets % 7


def pack(septets: bytes, fill_bits: int = 0) -> bytes:
    """Septets, one to an octet, packed; the first ``fill_bits`` bits are 0."""
    number = 0
    for septet in reversed(septets):
        number = number << 7 | septet & 0x7F
    return (number << fill_bits).to_bytes(octets_for(len(septets), fill_bits), "little")


def unpack(octets: bytes, count: int, fill_bits: int = 0) -> bytes:
    """The first ``count`` septets, one to an octet; bits beyond the end of ``octets`` are 0."""
    number = int.from_bytes(octets, "little") >> fill_bits
    return bytes(number >> 7 * at & 0x7F for at in range(count))


def unpack_ussd(octets: bytes) -> bytes:
    """The septets of a packed USSD string, which has no length of its own.

    If seven bits were left over the sender filled them with CR (23.038 §6.1.2.3.1), because zeros
    would read as ``@``.
    """
    septets = unpack(octets, len(octets) * 8 // 7)
    if septets and len(septets) % 8 == 0 and septets[-1] == _CARRIAGE_RETURN:
        return septets[:-1]
    return septets


def pack_ussd(septets: bytes) -> bytes:
    """Septets, one to an octet, packed as a USSD string: the reverse of :func:`unpack_ussd`."""
    if len(septets) % 8 == 7:
        septets += bytes((_CARRIAGE_RETURN,))
    return pack(septets)
