"""SMS-STATUS-REPORT: the result of a SUBMIT (3GPP TS 23.040 §9.2.2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from risala.drivers.modem.tpdu.tpfields import (
    HEADER,
    MTI,
    MTI_STATUS_REPORT,
    NO_MORE_MESSAGES,
    STATUS_REPORT,
    PduError,
    Reader,
    TpAddress,
    read_address,
    read_time,
    write_time,
)
from risala.drivers.modem.tpdu.userdata import UserData, read_user_data

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
