"""The AT dialogue in words, for an operator's traffic view: no PIN, text, PDU, whole number.

Only lines with harmless values are shown; of all others the name alone. Pure.
"""

from __future__ import annotations

import re
from typing import Final

from risala.drivers.modem.at.events import Answer, Row, Urc

_PLAIN: Final = frozenset(
    (
        *("+CSQ", "+CREG", "+CEREG", "+CGREG", "+COPS", "+CPMS", "+CMGS", "+CMGF", "+CNMI"),
        *("+CSMS", "+CMEE", "+CMMS", "+CNMA", "+CMGD", "+CSCA", "+CSCS", "+CFUN", "+CMTI"),
        *("+CDSI", "+CMS ERROR", "+CME ERROR", "^RSSI", "^HCSQ", "^MODE", "^SRVST", "^BOOT"),
        *("^SIMST", "^CURC", "^SYSCFG", "^CVOICE", "+CPAS", "+CSCLK", "+IPR", "+CTZV", "+CCLK"),
        *("+CGSMS", "+CIREG", "+CNMP", "+WS46", "^SYSCFGEX", "+ZSNT", "+QCFG"),
    )
)
"""Rows and commands whose values are about the radio, the storage, or an error."""
_PIN: Final = "+CPIN"
_SAYS: Final = frozenset(("READY", "SIM PIN", "SIM PUK", "SIM PIN2", "SIM PUK2", "NOT INSERTED"))
"""A modem's words about its PIN that are no PIN."""
_name: Final = re.compile(r"(?:AT)?([+^*$%#&][A-Z0-9 ]+?|)(?=[:=?]|$)", re.IGNORECASE).match
_digits: Final = re.compile(r"[0-9]{3,}([0-9]{4})")
_BASIC: Final = re.compile(r"AT(?:[EVQXZI&][A-Z0-9]*)*", re.IGNORECASE).fullmatch


def command_text(text: str) -> str:
    """A sent command line, without the part after its ``=`` if that may be anything."""
    name = _name_of(text)
    if name in _PLAIN and ";" not in text:  # a command chained to it may be a PIN
        return masked(text)
    command, is_set, value = text.partition("=")
    if not is_set:
        return masked(text) if name or _BASIC(text) else "AT…"
    return f"{command}=?" if value == "?" else f"{masked(command)}=…"


def body_text(hexadecimal: str) -> str:
    """The PDU behind a prompt."""
    return f"(PDU of {len(hexadecimal) // 2} octets)"


def answer_text(answer: Answer) -> str:
    """An answer's rows and result, without secrets."""
    return " | ".join([*map(_row_text, answer.rows), line_text(answer.result.raw)])


def _row_text(row: Row) -> str:
    return line_text(row.text) + _pdu_text(row.pdu)


def _pdu_text(pdu: str | None) -> str:
    return "" if pdu is None else f" {body_text(pdu)}"


def urc_text(urc: Urc) -> str:
    """A line that came of itself."""
    return line_text(urc.text) + _pdu_text(urc.pdu)


def line_text(text: str) -> str:
    """One line of the modem."""
    name = _name_of(text)
    if name in _PLAIN or text in ("OK", "ERROR", "RING", "NO CARRIER", "BUSY", "NO ANSWER"):
        return masked(text)
    if name == _PIN:
        state = text.partition(":")[2].strip()
        return f"{name}: {state if state in _SAYS else '…'}"
    return f"{name}: …" if name else f"({len(text)} characters)"


def _name_of(text: str) -> str:
    match = _name(text)
    return match[1].upper() if match else ""


def masked(text: str) -> str:
    """With the last four digits of each number alone."""
    return _digits.sub(r"…\1", text)
