"""Messages as text (+CMGF=1; 27.005 §3.1, §3.4): character sets, headers, and input; and USSD,
plain, in the character set, or packed in hexadecimal. Pure.

A line is a ``str`` of Latin-1 characters: octets as on the wire.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from risala.drivers.modem.tpdu.coding import CharacterSet
from risala.drivers.modem.tpdu.pdu import (
    Deliver,
    PduError,
    StatusReport,
    Submit,
    TpAddress,
    UserData,
)
from risala.drivers.modem.tpdu.tpfields import (
    HEADER,
    VPF,
    VPF_RELATIVE,
    Reader,
    pack_ussd,
    unpack_ussd,
)
from risala.drivers.modem.tpdu.tpfields import STATUS_REPORT as WANTS_REPORT
from risala.drivers.modem.tpdu.userdata import read_user_data
from risala.lab.modem.at.replies import Cme, CmeError, Cms, CmsError
from risala.lab.modem.world.storage import StoredTpdu
from risala.sms.alphabet import (
    decode_gsm7,
    decode_ucs2,
    encode_gsm7,
    encode_ucs2,
    fits_gsm7,
)

_SUBMIT: Final = 0x01


@dataclass(slots=True)
class Parameters:
    """The parameters that a typed text is sent with (+CSMP, 27.005 §3.3.2)."""

    fo: int = 17
    vp: str = "167"
    pid: int = 0
    dcs: int = 0


def _gsm(text: str) -> str:
    """Septets as octets; ``?`` for missing characters."""
    return b"".join(encode_gsm7(each if fits_gsm7(each) else "?") for each in text).decode(
        "latin-1"
    )


_WRITE: Final[dict[str, Callable[[str], str]]] = {
    "GSM": _gsm,
    "IRA": lambda text: text.encode("ascii", "replace").decode("ascii"),
    "8859-1": lambda text: text.encode("latin-1", "replace").decode("latin-1"),
    "UCS2": lambda text: encode_ucs2(text).hex().upper(),
    "HEX": lambda text: _gsm(text).encode("latin-1").hex().upper(),
}
"""The encoding of a text, by the character set of +CSCS (27.007 §5.5)."""


def written(text: str, charset: str) -> str:
    """A text or a number in a character set."""
    return _WRITE[charset](text)


def _octets(body: bytes) -> bytes:
    try:
        return bytes.fromhex(body.decode("ascii"))
    except ValueError:
        raise CmsError(Cms.INVALID_TEXT_PARAMETER) from None


def read(body: bytes, charset: str) -> str:
    """A typed text, read in a character set: the reverse of :func:`written`."""
    match charset:
        case "GSM":
            return decode_gsm7(body)
        case "UCS2":
            return decode_ucs2(_octets(body))
        case "HEX":
            return decode_gsm7(_octets(body))
        case "8859-1":
            return body.decode("latin-1")
        case _:
            return body.decode("ascii", "replace").replace("\ufffd", "?")


def read_number(text: str, charset: str) -> str:
    """A typed number. It is to be written in the character set too, but plain digits are taken, as
    most modems take them."""
    if charset == "UCS2" and len(text) % 4 == 0 and text.upper().startswith("00"):
        return read(text.encode("latin-1"), charset)
    return text


def submit_of(number: str, kind: int | None, body: bytes, how: Parameters, charset: str) -> Submit:
    """The SUBMIT of a typed text.

    Raises:
        CmsError: 305, the text cannot be sent.
    """
    number = read_number(number, charset)
    destination = TpAddress.of_number(number)
    if kind is not None and not number.startswith("+"):
        destination = TpAddress(number, kind >> 4 & 0x07, kind & 0x0F)
    has_header = bool(how.fo & HEADER)
    seven_bit = UserData(dcs=how.dcs).coding.characters is CharacterSet.GSM7
    try:
        if has_header or not seven_bit:
            octets = _octets(body)
            length = len(octets) * 8 // 7 if seven_bit else len(octets)
            data = read_user_data(
                Reader(bytes((min(length, 255),)) + octets), how.dcs, has_header=has_header
            )
        else:
            data = UserData(read(body, charset), dcs=how.dcs)
        relative = how.fo & VPF == VPF_RELATIVE and how.vp.isdigit()
        submit = Submit(
            destination,
            data,
            validity=min(int(how.vp), 255) if relative else None,
            status_report=bool(how.fo & WANTS_REPORT),
            pid=how.pid,
        )
        submit.encode()
    except PduError:
        raise CmsError(Cms.INVALID_TEXT_PARAMETER) from None
    return submit


def data_of(data: UserData, charset: str) -> str:
    """A received message as text mode shows it: a text in the character set; octets, and a message
    with a user data header, in hexadecimal (27.005 §3.1)."""
    if data.coding.characters is CharacterSet.GSM7 and not data.header:
        return written(data.text, charset)
    return data.encode()[1:].hex().upper()


def _time(moment: datetime | None) -> str:
    if moment is None:
        return "00/00/00,00:00:00+00"
    offset = moment.utcoffset()
    quarters = round(offset.total_seconds() / 900) if offset else 0
    return f"{moment:%y/%m/%d,%H:%M:%S}{quarters:+03d}"


def _type(address: TpAddress) -> int:
    return 0x80 | (address.ton & 7) << 4 | address.npi & 0x0F


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes headers in text mode; with ``details`` all their fields, as under +CSDH=1."""

    charset: str
    details: bool
    smsc: str

    def _address(self, address: TpAddress) -> str:
        return f'"{written(address.readable, self.charset)}"'

    def _center(self) -> str:
        kind = 145 if self.smsc.startswith("+") else 129
        return f'"{written(self.smsc, self.charset)}",{kind}'

    def report(self, report: StatusReport) -> str:
        """A status report, all of which is in the header:
        ``<fo>,<mr>,[<ra>],[<tora>],<scts>,<dt>,<st>``."""
        fo = report.encode()[0]
        ends = f"{self._address(report.recipient)},{_type(report.recipient)}"
        times = f'"{_time(report.sent_at)}","{_time(report.done_at)}"'
        return f"{fo},{report.reference},{ends},{times},{report.status}"

    def direct(self, deliver: Deliver) -> str:
        """The header of +CMT, for a message that goes straight to the port."""
        head = f'+CMT: {self._address(deliver.originator)},,"{_time(deliver.sent_at)}"'
        text = data_of(deliver.user_data, self.charset)
        if self.details:
            head += (
                f",{_type(deliver.originator)},{deliver.encode()[0]},{deliver.pid},"
                f"{deliver.user_data.dcs},{self._center()},{len(text)}"
            )
        return f"{head}\r\n{text}"

    def listed(self, index: int, stored: StoredTpdu) -> str:
        """A row of +CMGL."""
        head, tpdu = f'+CMGL: {index},"{stored.stat.word}"', stored.tpdu
        if isinstance(tpdu, StatusReport):
            return f"{head},{self.report(tpdu)}"
        text = data_of(tpdu.user_data, self.charset)
        if isinstance(tpdu, Submit):
            head += f",{self._address(tpdu.destination)},,"
            kind = _type(tpdu.destination)
        else:
            head += f',{self._address(tpdu.originator)},,"{_time(tpdu.sent_at)}"'
            kind = _type(tpdu.originator)
        if self.details:
            head += f",{kind},{len(text)}"
        return f"{head}\r\n{text}"

    def shown(self, stored: StoredTpdu) -> str:
        """The row of +CMGR."""
        head, tpdu = f'+CMGR: "{stored.stat.word}"', stored.tpdu
        if isinstance(tpdu, StatusReport):
            return f"{head},{self.report(tpdu)}"
        data = tpdu.user_data
        text = data_of(data, self.charset)
        fo = tpdu.encode()[0]
        end = f"{tpdu.pid},{data.dcs}"
        if isinstance(tpdu, Submit):
            head += f",{self._address(tpdu.destination)},"
            vp = tpdu.validity if isinstance(tpdu.validity, int) else ""
            tail = f",{_type(tpdu.destination)},{fo},{end},{vp},{self._center()},{len(text)}"
        else:
            head += f',{self._address(tpdu.originator)},,"{_time(tpdu.sent_at)}"'
            tail = f",{_type(tpdu.originator)},{fo},{end},{self._center()},{len(text)}"
        return f"{head}{tail if self.details else ''}\r\n{text}"


_UNKNOWN_CODE: Final = "+CUSD: 4"
"""The answer to an unknown code: not supported (27.007 §7.15)."""
_DCS_GSM7: Final = 15
_DCS_UCS2: Final = 72


def ussd_code(text: str, *, packed: bool, charset: str) -> str:
    """The code that +CUSD dials.

    Raises:
        CmeError: the code is not written in the way that this modem wants.
    """
    if packed:
        try:
            return decode_gsm7(unpack_ussd(bytes.fromhex(text)))
        except ValueError:
            raise CmeError(Cme.UNKNOWN) from None
    return read_number(text, charset)


def ussd_answer(text: str | None, *, packed: bool, charset: str) -> str:
    """The ``+CUSD:`` line; None: an unknown code."""
    if text is None:
        return _UNKNOWN_CODE
    if not fits_gsm7(text):
        return f'+CUSD: 0,"{encode_ucs2(text).hex().upper()}",{_DCS_UCS2}'
    if packed:
        return f'+CUSD: 0,"{pack_ussd(encode_gsm7(text)).hex().upper()}",{_DCS_GSM7}'
    return f'+CUSD: 0,"{written(text, charset)}",{_DCS_GSM7}'
