"""PDUs in words, for an operator's traffic view: no password, no text, no whole number.

The shown fields are listed here, one by one; all others are left out.
"""

from __future__ import annotations

import re
from typing import Final

from risala.drivers.smpp.protocol.pdu import Bind, Pdu
from risala.drivers.smpp.protocol.status import status_of
from risala.drivers.smpp.protocol.tlv_names import name_of

_FIELDS: Final = (
    *("system_id", "system_type", "message_id", "source_addr", "destination_addr"),
    *("esm_class", "data_coding", "registered_delivery", "validity_period"),
    *("schedule_delivery_time", "message_state", "final_date", "error_code"),
)
_ADDRESSES: Final = frozenset(("source_addr", "destination_addr"))
_number: Final = re.compile(r"\+?([0-9]{3,})([0-9]{4})").fullmatch


def pdu_text(pdu: Pdu, sequence_number: int) -> str:
    """One line."""
    words = [pdu.name, f"#{sequence_number}"]
    if pdu.name.endswith("_resp") or pdu.command_status:
        status = pdu.command_status
        words.append(status_of(status).name if status else "ESME_ROK")
    for name in _FIELDS:
        value = getattr(pdu, name, None)
        if value not in (None, "", 0):
            shown = masked(str(value)) if name in _ADDRESSES else value
            words.append(f"{name}={shown}")
    if isinstance(pdu, Bind):
        words.append(f"version=0x{pdu.interface_version:02X} password=…")
    text = getattr(pdu, "short_message", None)
    if text is not None:
        words.append(f"({len(text)} octets)")
    words += [name_of(each.tag) for each in pdu.tlvs]
    return " ".join(map(str, words))


def masked(address: str) -> str:
    """A number's last four digits; a name, or a service's short number, as it is."""
    match = _number(address)
    return address if match is None else f"…{match[2]}"
