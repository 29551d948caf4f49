"""The lists of ``submit_multi`` and its answer (SMPP 3.4 §4.5.1.1, §4.5.2.1)."""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

ESME_RINVCMDLEN: Final = 0x02
ESME_RINVDESTFLAG: Final = 0x40
DESTINATIONS_MAX: Final = 254
"""Destinations of one request (§4.5.1); the octet that counts them holds one more."""

_BY_ADDRESS: Final = 1
_BY_LIST: Final = 2
_UINT32: Final = Struct(">I")


class Destination(NamedTuple):
    """A destination that is one SME, by its address (§4.5.1.1)."""

    ton: int
    npi: int
    address: str


class DistributionList(NamedTuple):
    """A destination that is a distribution list, which the SMSC keeps under this name."""

    name: str


class Unsuccessful(NamedTuple):
    """An SME for which the message was not accepted, and why (§4.5.2.1)."""

    ton: int
    npi: int
    address: str
    error_status_code: int


class ListFault(Exception):
    """The octets are no such list; ``command_status`` is the status to answer."""

    def __init__(self, reason: str, command_status: int = ESME_RINVCMDLEN) -> None:
        super().__init__(reason)
        self.reason = reason
        self.command_status = command_status


def decode_destinations(
    octets: bytes, at: int, end: int
) -> tuple[tuple[Destination | DistributionList, ...], int]:
    """The destinations of a ``submit_multi`` from their count at ``at`` on, and where they end.

    Raises:
        ListFault: the octets are no such list.
    """
    count, at = _octet(octets, at, end)
    destinations: list[Destination | DistributionList] = []
    for _ in range(count):
        flag, at = _octet(octets, at, end)
        if flag == _BY_ADDRESS:
            ton, npi, address, at = _address(octets, at, end)
            destinations.append(Destination(ton, npi, address))
        elif flag == _BY_LIST:
            name, at = _text(octets, at, end)
            destinations.append(DistributionList(name))
        else:
            raise ListFault("a dest_flag that is neither 1 nor 2", ESME_RINVDESTFLAG)
    return tuple(destinations), at


def decode_unsuccessful(octets: bytes, at: int, end: int) -> tuple[tuple[Unsuccessful, ...], int]:
    """The list of a ``submit_multi_resp`` from its count at ``at`` on, and where it ends.

    Raises:
        ListFault: the octets are no such list.
    """
    count, at = _octet(octets, at, end)
    unsuccessful: list[Unsuccessful] = []
    for _ in range(count):
        ton, npi, address, at = _address(octets, at, end)
        if at + _UINT32.size > end:
            raise ListFault("the list ends too early")
        unsuccessful.append(Unsuccessful(ton, npi, address, *_UINT32.unpack_from(octets, at)))
        at += _UINT32.size
    return tuple(unsuccessful), at


def encode_destinations(destinations: tuple[Destination | DistributionList, ...]) -> bytes:
    """The octets of a ``submit_multi``'s destinations, with their count.

    Raises:
        ValueError: there are too many, or a value does not fit.
    """
    parts = [_count(len(destinations))]
    for one in destinations:
        if isinstance(one, Destination):
            parts.append(bytes((_BY_ADDRESS, one.ton, one.npi)) + _c_octets(one.address))
        else:
            parts.append(bytes((_BY_LIST,)) + _c_octets(one.name))
    return b"".join(parts)


def encode_unsuccessful(ones: tuple[Unsuccessful, ...]) -> bytes:
    """The octets of a ``submit_multi_resp``'s list, with its count.

    Raises:
        ValueError: there are too many, or a value does not fit.
    """
    parts = [_count(len(ones))]
    for one in ones:
        parts.append(bytes((one.ton, one.npi)) + _c_octets(one.address))
        parts.append(one.error_status_code.to_bytes(4))
    return b"".join(parts)


def _count(number: int) -> bytes:
    if number > DESTINATIONS_MAX:
        raise ValueError(f"{DESTINATIONS_MAX} destinations at most")
    return bytes((number,))


def _c_octets(text: str) -> bytes:
    octets = text.encode("latin-1")
    if 0 in octets:
        raise ValueError("a C-Octet String cannot hold NUL")
    return octets + b"\0"


def _octet(octets: bytes, at: int, end: int) -> tuple[int, int]:
    if at >= end:
        raise ListFault("the list ends too early")
    return octets[at], at + 1


def _text(octets: bytes, at: int, end: int) -> tuple[str, int]:
    stop = octets.find(b"\0", at, end)
    if stop < 0:
        raise ListFault("a string has no end")
    return octets[at:stop].decode("latin-1"), stop + 1


def _address(octets: bytes, at: int, end: int) -> tuple[int, int, str, int]:
    ton, at = _octet(octets, at, end)
    npi, at = _octet(octets, at, end)
    address, at = _text(octets, at, end)
    return ton, npi, address, at
