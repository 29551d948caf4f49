"""Kinds of a modem's lines: result codes, unsolicited ones, headers of a PDU. Tables, pure.

3GPP TS 27.007 §4 and §5.7, 27.005 §3; the other lines were seen on real modems.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass


class ResultKind(StrEnum):
    """The kinds of final results."""

    OK = "ok"
    ERROR = "error"
    """Refused, without a reason."""
    CME = "cme"
    """``+CME ERROR`` (27.007 §9.2): an error of the mobile equipment."""
    CMS = "cms"
    """``+CMS ERROR`` (27.005 §3.2.5): an error of the message service."""


@dataclass(frozen=True, slots=True)
class Result:
    """A final result code."""

    kind: ResultKind
    raw: str
    """The line as received, or the word for a number (ATV0)."""
    code: int | None = None
    """The number in ``+CME ERROR`` or ``+CMS ERROR``; None without a number."""
    text: str = ""
    """The words in ``+CME ERROR`` or ``+CMS ERROR`` (under +CMEE=2); empty without words."""

    @property
    def ok(self) -> bool:
        return self.kind is ResultKind.OK


_FINALS: Final = {
    "OK": ResultKind.OK,
    "ERROR": ResultKind.ERROR,
    "COMMAND NOT SUPPORT": ResultKind.ERROR,  # Huawei
    "COMMAND NOT SUPPORTED": ResultKind.ERROR,
    "NOT SUPPORT": ResultKind.ERROR,
    "TOO MANY PARAMETERS": ResultKind.ERROR,
    "ABORTED": ResultKind.ERROR,
}
_NUMERIC: Final = {"0": "OK", "4": "ERROR"}
"""V.250 table 1, in use after ATV0."""

_CALL_NUMERIC: Final = {
    "1": "CONNECT",
    "2": "RING",
    "3": "NO CARRIER",
    "6": "NO DIALTONE",
    "7": "BUSY",
    "8": "NO ANSWER",
}
"""The codes of V.250 table 1 about calls, in use after ATV0."""
_call: Final = re.compile(
    r"(RING(?:ING)?|CONNECT|NO CARRIER|BUSY|NO ANSWER|NO DIAL ?TONE|DELAYED|BLACKLISTED"
    r"|MISSED_CALL|VOICE CALL)(?:[ :].*)?",
    re.IGNORECASE,
).fullmatch
"""Words of V.250 §6.3.1 and §5.7.1 about calls, with the details that some modems add (``NO
CARRIER: 16``); then those of SIMCom modems."""


def call_of(line: str, *, numeric: bool) -> str | None:
    """The word of a line about a call: it rings, is hung up, was missed.

    V.250 has most of these words as final results of the commands that dial or answer a call. We
    give no such command: the line is about a call of others and ends no command of ours.

    Args:
        numeric: single digits count too, as after ATV0.
    """
    if numeric and line in _CALL_NUMERIC:
        return _CALL_NUMERIC[line]
    match = _call(line)
    return match[1].upper() if match else None


_reasoned: Final = re.compile(r"\+CM([ES]) ?ERROR ?:? ?(.*)", re.IGNORECASE).fullmatch
_vague: Final = re.compile(r"(?:MODEM )?ERROR ?:.*", re.IGNORECASE).fullmatch
_is_number: Final = re.compile(r"[+-]?[0-9]{1,6}", re.ASCII).fullmatch


def final_of(line: str, *, numeric: bool) -> Result | None:
    """The final result in a line, read while one is awaited; None if the line is no result.

    Args:
        numeric: single digits count too, as after ATV0.
    """
    if numeric and line in _NUMERIC:
        line = _NUMERIC[line]
    kind = _FINALS.get(line.upper())
    if kind is not None:
        return Result(kind, line)
    reasoned = _reasoned(line)
    if reasoned:
        kind = ResultKind.CME if reasoned[1] in "Ee" else ResultKind.CMS
        reason = reasoned[2].strip()
        if _is_number(reason):
            return Result(kind, line, int(reason))
        return Result(kind, line, text=reason)
    if _vague(line):
        return Result(ResultKind.ERROR, line)
    return None


# fmt: off
UNSOLICITED: Final = frozenset((
    # 27.005 §3.4.1; then 27.007: calls, USSD, packet events, time
    "+CMTI", "+CMT", "+CDS", "+CDSI", "+CBM", "+CBMI",
    "+CLIP", "+CRING", "+CCWA", "+CUSD", "+CSSI", "+CSSU", "+CGEV", "+CTZV", "+CTZE", "+CTZDST",
    # Huawei; ^CURC=0 silences some
    "^RSSI", "^HCSQ", "^BOOT", "^MODE", "^DSFLOWRPT", "^CSNR", "^SRVST", "^SIMST", "^STIN",
    "^NWTIME", "^CONN", "^CEND", "^ORIG", "^CONF", "^RFSWITCH", "^SMMEMFULL", "^THERM",
    # ZTE, SIMCom, Quectel, Ericsson
    "+ZUSIMR", "+ZDONR", "+ZPASR", "+SPNWNAME", "*PSUTTZ", "+QIND", "+QUSIM", "*EMRDY",
    "*RADIOPOWER", "*STKI",
))
"""Names of lines that are unsolicited even while a command waits, for any command."""
_caller_setting: Final = re.compile(r"\+CLIP:\s*[01]\s*,\s*[0-2]", re.IGNORECASE).fullmatch
"""The answer to ``AT+CLIP?`` (27.007 §7.11); a caller's number is in quotes, or left out."""

_WORDS: Final = frozenset((
    "RDY", "SMS READY", "CALL READY", "PB DONE", "SMS DONE", "SYSSTART", "START",
    "NORMAL POWER DOWN", "POWERED DOWN", "UNDER-VOLTAGE WARNNING", "OVER-VOLTAGE WARNNING",
))
# fmt: on
RESTARTED: Final = frozenset(("RDY", "SYSSTART", "^SYSSTART", "START", "*EMRDY"))
"""A modem's lines after a restart: every setting is lost."""

_name: Final = re.compile(r"[+^*$%#&][A-Z][A-Z0-9_]*(?=[:\s]|$)", re.IGNORECASE).match


def name_of(line: str) -> str | None:
    """The name at the head of a line: ``+CMTI`` of ``+CMTI: "SM",3``; a known unsolicited word
    (``RDY``) unchanged; None for anything else."""
    match = _name(line)
    if match:
        return match[0].upper()
    word = line.upper()
    return word if word in _WORDS else None


def is_unsolicited(name: str, line: str) -> bool:
    """Whether a line of this name is unsolicited even while its own command waits."""
    return name in UNSOLICITED and _caller_setting(line) is None


_FIELDS_MAX: Final = {"+CMT": 2, "+CDS": 1, "+CBM": 1, "+CMGR": 3, "+CMGL": 4}
"""Fields of a header in PDU mode (27.005 §3.4, §4.1, §4.2); in text mode there are more."""
URC_HEADERS: Final = frozenset(("+CMT", "+CDS", "+CBM"))
ROW_HEADERS: Final = frozenset(("+CMGR", "+CMGL"))

_quoted: Final = re.compile(r'"[^"]*"').sub
_is_pdu: Final = re.compile(r"(?:[0-9A-Fa-f]{2}){8,255}").fullmatch
_SMSC_OCTETS_MAX: Final = 0x0C


@dataclass(frozen=True, slots=True)
class PduHeader:
    """A line that announces another one: a PDU of so many octets, or a text."""

    name: str
    line: str
    tpdu_octets: int | None
    """None in text mode."""

    def is_exactly(self, line: str) -> bool:
        """Whether ``line`` is a PDU of the announced length, with or without a service centre's
        address in front."""
        if self.tpdu_octets is None or not _is_pdu(line):
            return False
        octets = len(line) // 2
        return octets in (self.tpdu_octets, self.tpdu_octets + 1 + int(line[:2], 16))

    def may_be(self, line: str) -> bool:
        """Whether ``line`` can be the announced PDU although its length differs: some modems count
        differently.

        A PDU begins with the length of the service centre's address, which a serial number of a
        card or a modem, also digits in an even number, never does.
        """
        if self.tpdu_octets is None:
            return True
        return bool(_is_pdu(line)) and int(line[:2], 16) <= _SMSC_OCTETS_MAX


def pdu_header_of(name: str, line: str) -> PduHeader | None:
    """The header for a line with this name; None if no PDU or text follows the line."""
    if name not in _FIELDS_MAX:
        return None
    fields = [field.strip() for field in _quoted("", line.partition(":")[2]).split(",")]
    is_pdu_mode = len(fields) <= _FIELDS_MAX[name] and all(
        not field or _is_number(field) for field in fields
    )
    if name in ROW_HEADERS and '"REC' in line.upper():
        is_pdu_mode = False  # the status is a word in text mode
    if not is_pdu_mode:
        return None if name == "+CDS" else PduHeader(name, line, None)
    if not fields[-1] or int(fields[-1]) <= 0:
        return None  # +CMGR of an empty place has length 0, and nothing follows
    return PduHeader(name, line, int(fields[-1]))
