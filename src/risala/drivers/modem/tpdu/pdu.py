"""SMS TPDUs, encoded and decoded in both directions (3GPP TS 23.040 §9.2.2, 27.005 §3.1).

A phone or modem sends SUBMIT and receives DELIVER and STATUS-REPORT; a simulator does the reverse.
In AT commands a TPDU is written in hexadecimal, with the service centre's address in front::

    hex text = to_hex(smsc, tpdu)        smsc, tpdu = from_hex(text, Direction.TO_PHONE)

Decoding raises only :class:`PduError`, for any octets that are no PDU.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import Enum, auto
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.tpdu.tpfields import (
    HEADER,
    MTI,
    MTI_STATUS_REPORT,
    MTI_SUBMIT,
    NO_MORE_MESSAGES,
    REJECT_DUPLICATES,
    REPLY_PATH,
    STATUS_REPORT,
    VPF,
    VPF_RELATIVE,
    PduError,
    Reader,
    TpAddress,
    read_address,
    read_smsc,
    read_time,
    write_time,
)
from risala.drivers.modem.tpdu.userdata import UserData, read_user_data

# SMS-STATUS-REPORT: the result of a SUBMIT (3GPP TS 23.040 §9.2.2.3).

_PI_PID: Final = 0x01
_PI_DCS: Final = 0x02
_PI_UDL: Final = 0x04


@dataclass(frozen=True, slots=True)
class StatusReport:
    """SMS-STATUS-REPORT (§9.2.2.3): the result of a SUBMIT."""

    reference: int
    """TP-MR of the SUBMIT."""
    recipient: TpAddress
    sent_at: datetime | None
    """TP-SCTS: when the service centre got the SUBMIT."""
    done_at: datetime | None
    """TP-DT: when it was delivered, or last tried."""
    status: int
    """TP-ST (§9.2.3.15)."""
    more_messages: bool = False
    of_command: bool = False
    """TP-SRQ: of an SMS-COMMAND instead of a SUBMIT."""
    pid: int | None = None
    user_data: UserData | None = None

    def encode(self) -> bytes:
        """The TPDU's octets. Raises :class:`PduError` if a value does not fit."""
        user_data = self.user_data
        first = (
            MTI_STATUS_REPORT
            | NO_MORE_MESSAGES * (not self.more_messages)
            | STATUS_REPORT * self.of_command
            | HEADER * bool(user_data and user_data.header)
        )
        octets = bytes((first, self.reference)) + self.recipient.encode()
        octets += write_time(self.sent_at) + write_time(self.done_at) + bytes((self.status,))
        if self.pid is None and user_data is None:
            return octets
        indicator = _PI_PID * (self.pid is not None)
        indicator |= (_PI_DCS | _PI_UDL) * (user_data is not None)
        octets += bytes((indicator,))
        if self.pid is not None:
            octets += bytes((self.pid,))
        if user_data is not None:
            octets += bytes((user_data.dcs,)) + user_data.encode()
        return octets

    @classmethod
    def decode(cls, octets: bytes) -> StatusReport:
        """Read a TPDU. Raises :class:`PduError` if it is no STATUS-REPORT."""
        reader = Reader(octets)
        first = reader.octet("STATUS-REPORT")
        if first & MTI != MTI_STATUS_REPORT:
            raise PduError("this is no STATUS-REPORT")
        reference = reader.octet("STATUS-REPORT")
        recipient = read_address(reader)
        sent_at = read_time(reader, "the time stamp")
        done_at = read_time(reader, "the discharge time")
        status = reader.octet("TP-ST")
        try:
            pid, user_data = _optional_parameters(reader, has_header=bool(first & HEADER))
        except PduError:
            # All important fields were read before: a bad appendix of some networks is no reason to
            # lose the report.
            pid, user_data = None, None
        more, of_command = not first & NO_MORE_MESSAGES, bool(first & STATUS_REPORT)
        return cls(reference, recipient, sent_at, done_at, status, more, of_command, pid, user_data)


def _optional_parameters(reader: Reader, *, has_header: bool) -> tuple[int | None, UserData | None]:
    """TP-PI and the fields that it announces (§9.2.3.27)."""
    if not reader.left:
        return None, None
    indicator = reader.octet("TP-PI")
    if indicator & ~(_PI_PID | _PI_DCS | _PI_UDL):
        return None, None  # reserved bits are set: unknown parameters, or padding
    pid = reader.octet("TP-PID") if indicator & _PI_PID else None
    dcs = reader.octet("TP-DCS") if indicator & _PI_DCS else 0
    if not indicator & _PI_UDL:
        return pid, None
    return pid, read_user_data(reader, dcs, has_header=has_header)


__all__ = [
    "Deliver",
    "Direction",
    "PduError",
    "StatusReport",
    "Submit",
    "TpAddress",
    "Tpdu",
    "UserData",
    "from_hex",
    "to_hex",
]

PDU_OCTETS_MAX: Final = 255
"""Octets of a PDU. A SUBMIT with everything in it has 176, and so has a SIM's record of a message,
which some modems hand on with its padding."""

_is_hex: Final = re.compile(r"(?:[0-9A-Fa-f]{2})+").fullmatch


class Direction(Enum):
    """The direction of a TPDU: the same message type has another meaning each way (§9.2.3.1)."""

    TO_PHONE = auto()
    TO_NETWORK = auto()


@dataclass(frozen=True, slots=True)
class Submit:
    """SMS-SUBMIT (§9.2.2.2): sent by a phone."""

    destination: TpAddress
    user_data: UserData
    reference: int = 0
    """TP-MR. Modems replace it with their own and report that in ``+CMGS:``."""
    validity: int | bytes | None = None
    """TP-VP: a relative code (see ``relative_code``), or the 7 octets of another format."""
    validity_format: int = VPF_RELATIVE
    """TP-VPF bits for a ``validity`` in octets: 0x08 enhanced, 0x18 absolute."""
    status_report: bool = False
    reject_duplicates: bool = False
    reply_path: bool = False
    pid: int = 0

    def encode(self) -> bytes:
        """The TPDU's octets. Raises :class:`PduError` if a value does not fit."""
        vpf, validity = 0, b""
        if isinstance(self.validity, int):
            vpf, validity = VPF_RELATIVE, bytes((self.validity,))
        elif self.validity is not None:
            vpf, validity = self.validity_format, self.validity
            if len(validity) != 7 or vpf not in (0x08, 0x18):
                raise PduError("an absolute or enhanced validity has 7 octets")
        first = (
            MTI_SUBMIT
            | vpf
            | REJECT_DUPLICATES * self.reject_duplicates
            | STATUS_REPORT * self.status_report
            | HEADER * bool(self.user_data.header)
            | REPLY_PATH * self.reply_path
        )
        return (
            bytes((first, self.reference))
            + self.destination.encode()
            + bytes((self.pid, self.user_data.dcs))
            + validity
            + self.user_data.encode()
        )

    @classmethod
    def decode(cls, octets: bytes) -> Submit:
        """Read a TPDU. Raises :class:`PduError` if it is no SUBMIT."""
        reader = Reader(octets)
        first = reader.octet("SUBMIT")
        if first & MTI != MTI_SUBMIT:
            raise PduError("this is no SUBMIT")
        reference = reader.octet("SUBMIT")
        destination = read_address(reader)
        pid, dcs = reader.take(2, "SUBMIT")
        vpf = first & VPF
        validity: int | bytes | None = None
        if vpf == VPF_RELATIVE:
            validity = reader.octet("the validity")
        elif vpf:
            validity = reader.take(7, "the validity")
        return cls(
            destination,
            read_user_data(reader, dcs, has_header=bool(first & HEADER)),
            reference,
            validity,
            vpf if isinstance(validity, bytes) else VPF_RELATIVE,
            bool(first & STATUS_REPORT),
            bool(first & REJECT_DUPLICATES),
            bool(first & REPLY_PATH),
            pid,
        )


@dataclass(frozen=True, slots=True)
class Deliver:
    """SMS-DELIVER (§9.2.2.1): received by a phone."""

    originator: TpAddress
    user_data: UserData
    sent_at: datetime | None
    """TP-SCTS: when the service centre got it; None if the network wrote no date."""
    more_messages: bool = False
    """TP-MMS: further messages wait at the service centre."""
    status_report: bool = False
    reply_path: bool = False
    pid: int = 0

    def encode(self) -> bytes:
        """The TPDU's octets. Raises :class:`PduError` if a value does not fit."""
        first = (
            NO_MORE_MESSAGES * (not self.more_messages)
            | STATUS_REPORT * self.status_report
            | HEADER * bool(self.user_data.header)
            | REPLY_PATH * self.reply_path
        )
        return (
            bytes((first,))
            + self.originator.encode()
            + bytes((self.pid, self.user_data.dcs))
            + write_time(self.sent_at)
            + self.user_data.encode()
        )

    @classmethod
    def decode(cls, octets: bytes) -> Deliver:
        """Read a TPDU. Raises :class:`PduError` if it is no DELIVER."""
        reader = Reader(octets)
        first = reader.octet("DELIVER")
        # The reserved type 11 is to be taken as a DELIVER (§9.2.3.1).
        if first & MTI in (MTI_SUBMIT, MTI_STATUS_REPORT):
            raise PduError("this is no DELIVER")
        originator = read_address(reader)
        pid, dcs = reader.take(2, "DELIVER")
        sent_at = read_time(reader, "the time stamp")
        return cls(
            originator,
            read_user_data(reader, dcs, has_header=bool(first & HEADER), is_lenient=True),
            sent_at,
            not first & NO_MORE_MESSAGES,
            bool(first & STATUS_REPORT),
            bool(first & REPLY_PATH),
            pid,
        )


Tpdu = Submit | Deliver | StatusReport


def decode_tpdu(octets: bytes, direction: Direction) -> Tpdu:
    """A TPDU without service centre, by its message type."""
    if not octets:
        raise PduError("there is no octet")
    kind = octets[0] & MTI
    if direction is Direction.TO_NETWORK:
        return Submit.decode(octets)
    return (StatusReport if kind == MTI_STATUS_REPORT else Deliver).decode(octets)


def to_hex(tpdu: Tpdu, smsc: TpAddress | None = None) -> tuple[str, int]:
    """The hexadecimal text of a PDU, and the octets of its TPDU alone, as ``+CMGS=`` wants them."""
    octets = tpdu.encode()
    prefix = smsc.encode_smsc() if smsc else b"\0"
    return (prefix + octets).hex().upper(), len(octets)


def from_hex(
    text: str, direction: Direction, tpdu_octets: int | None = None
) -> tuple[TpAddress | None, Tpdu]:
    """Service centre and TPDU out of a PDU in hexadecimal.

    Args:
        tpdu_octets: the length that the modem gave with it. If that is all of the PDU, the modem
            writes no service centre.
    """
    if len(text) > 2 * PDU_OCTETS_MAX:
        raise PduError("this is longer than any PDU")
    if not _is_hex(text):
        raise PduError("this is not hexadecimal")
    octets = bytes.fromhex(text)
    if tpdu_octets == len(octets):
        return None, decode_tpdu(octets, direction)
    reader = Reader(octets)
    smsc = read_smsc(reader)
    return smsc, decode_tpdu(reader.rest(), direction)
