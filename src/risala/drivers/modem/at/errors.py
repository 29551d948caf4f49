"""The meaning of ``+CMS ERROR`` and ``+CME ERROR`` for a message and its carrier. One table, pure.

Codes: 27.005 §3.2.5 (0 to 127 are causes of 24.011 annex E-2, 128 to 255 are TP-FCS of 23.040
§9.2.3.22) and 27.007 §9.2; from 512 on each vendor has its own, and these are the common ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.at.lines import Result, ResultKind


class ErrorVerdict(StrEnum):
    """The required reaction to an error."""

    FINAL = "final"
    """No carrier would deliver the message: the number does not exist."""
    CARRIER = "carrier"
    """The SIM may not send the message, or the modem is set up wrongly: the message fails unless
    another carrier takes it."""
    NOW = "now"
    """Try later."""
    RECIPIENT = "recipient"
    """Try later; messages to others go on."""
    SLOW = "slow"
    """Congestion: slow down."""
    UNCERTAIN = "uncertain"
    """The network did not acknowledge in time: it may have taken the message."""
    SICK = "sick"
    """The SIM or the modem has a fault: nothing can be sent until an operator acts. Nothing was
    sent."""
    BUSY = "busy"
    """The SIM is still starting: nothing was sent, ask again in a moment."""
    FULL = "full"
    """The modem's storage is full, and some modems then do not even send: delete the read messages,
    and send again."""


@dataclass(frozen=True, slots=True)
class ErrorMeaning:
    """The meaning of one code of +CMS ERROR or +CME ERROR."""

    verdict: ErrorVerdict
    text: str
    """One plain sentence."""
    words: str = ""
    """The modem's words under +CMEE=2, in small letters."""

    every_message: bool = False
    """True if other messages would fail too, until an operator acts."""

    @property
    def sick(self) -> bool:
        """The carrier needs an operator."""
        return self.verdict is ErrorVerdict.SICK or self.every_message


_FINAL, _CARRIER, _NOW, _SLOW = (
    ErrorVerdict.FINAL,
    ErrorVerdict.CARRIER,
    ErrorVerdict.NOW,
    ErrorVerdict.SLOW,
)
_SICK = ErrorVerdict.SICK

CMS: Final[Mapping[int, ErrorMeaning]] = {
    1: ErrorMeaning(_FINAL, "The number is not in use."),
    8: ErrorMeaning(_CARRIER, "The network operator has barred this SIM from sending."),
    10: ErrorMeaning(_CARRIER, "Sending is barred for this SIM or to this number."),
    17: ErrorMeaning(_NOW, "The network failed."),
    21: ErrorMeaning(_CARRIER, "The network rejected the message."),
    22: ErrorMeaning(_SLOW, "The network is congested."),
    27: ErrorMeaning(ErrorVerdict.RECIPIENT, "The recipient's network or phone cannot be reached."),
    28: ErrorMeaning(_CARRIER, "The network does not know this SIM's subscriber."),
    29: ErrorMeaning(_CARRIER, "The network refused the service."),
    30: ErrorMeaning(_FINAL, "The network does not know the recipient."),
    38: ErrorMeaning(_NOW, "The network is out of order."),
    41: ErrorMeaning(_NOW, "The network had a temporary failure."),
    42: ErrorMeaning(_SLOW, "The network is congested."),
    47: ErrorMeaning(_NOW, "The network has no resources for it now."),
    50: ErrorMeaning(_CARRIER, "This SIM has no subscription for SMS."),
    69: ErrorMeaning(_CARRIER, "The network does not offer this."),
    96: ErrorMeaning(_CARRIER, "The network found the message malformed."),
    97: ErrorMeaning(_CARRIER, "The network does not know this type of message."),
    98: ErrorMeaning(_NOW, "The network was not ready for the message."),
    99: ErrorMeaning(_CARRIER, "The network found the message malformed."),
    111: ErrorMeaning(_NOW, "The network reported a protocol error."),
    127: ErrorMeaning(_NOW, "The network could not work with another network."),
    192: ErrorMeaning(_SLOW, "The service centre is busy."),
    193: ErrorMeaning(_CARRIER, "The service centre has no subscription for this SIM."),
    194: ErrorMeaning(_NOW, "The service centre failed."),
    195: ErrorMeaning(_FINAL, "The service centre finds the number invalid."),
    196: ErrorMeaning(_FINAL, "The recipient is barred."),
    197: ErrorMeaning(_CARRIER, "The service centre rejected it as a duplicate."),
    198: ErrorMeaning(_CARRIER, "The service centre does not know the form of the validity."),
    199: ErrorMeaning(_CARRIER, "The service centre does not take the validity."),
    300: ErrorMeaning(_NOW, "The modem failed."),
    301: ErrorMeaning(_NOW, "The modem has the message service reserved."),
    302: ErrorMeaning(_NOW, "The modem does not allow it now.", "operation not allowed"),
    303: ErrorMeaning(_CARRIER, "The modem does not support it.", "operation not supported"),
    304: ErrorMeaning(
        _CARRIER, "The modem finds the message malformed.", "invalid pdu mode parameter"
    ),
    305: ErrorMeaning(
        _CARRIER, "The modem is in text mode, or finds a parameter wrong.", "invalid text mode"
    ),
    310: ErrorMeaning(_SICK, "There is no SIM in the modem.", "sim not inserted"),
    311: ErrorMeaning(_SICK, "The SIM needs its PIN.", "sim pin required"),
    312: ErrorMeaning(_SICK, "The modem is locked to another SIM.", "ph-sim pin required"),
    313: ErrorMeaning(_SICK, "The SIM failed.", "sim failure"),
    314: ErrorMeaning(ErrorVerdict.BUSY, "The SIM is busy.", "sim busy"),
    315: ErrorMeaning(_SICK, "The modem does not take this SIM.", "sim wrong"),
    316: ErrorMeaning(_SICK, "The SIM is blocked and needs its PUK.", "sim puk required"),
    317: ErrorMeaning(_SICK, "The SIM needs its PIN2.", "sim pin2 required"),
    318: ErrorMeaning(_SICK, "The SIM is blocked and needs its PUK2.", "sim puk2 required"),
    320: ErrorMeaning(_NOW, "The modem's storage failed.", "memory failure"),
    321: ErrorMeaning(_NOW, "This place in the storage is empty.", "invalid memory index"),
    322: ErrorMeaning(ErrorVerdict.FULL, "The modem's storage is full.", "memory full"),
    330: ErrorMeaning(
        _CARRIER,
        "The SMSC number is missing or wrong; set smsc_number.",
        "sms center address unknown",
        every_message=True,
    ),
    331: ErrorMeaning(_NOW, "There is no network service.", "no network service"),
    332: ErrorMeaning(
        ErrorVerdict.UNCERTAIN, "The network did not acknowledge it in time.", "network timeout"
    ),
    340: ErrorMeaning(_NOW, "The modem expected no acknowledgement.", "no +cnma acknowledgement"),
    500: ErrorMeaning(_NOW, "The modem gives no reason.", "unknown error"),
    512: ErrorMeaning(_NOW, "The modem could not send: a collision or a weak signal."),
    513: ErrorMeaning(ErrorVerdict.UNCERTAIN, "The network did not acknowledge it in time."),
    514: ErrorMeaning(_SLOW, "The modem or the network is congested."),
    515: ErrorMeaning(ErrorVerdict.BUSY, "The modem is still starting.", "please wait"),
}
"""Codes of +CMS ERROR. 332 and 513 mean that the network was silent *after* the message had left:
sent again it could arrive twice, so the carrier's ``on_uncertain_…`` setting decides."""

CME: Final[Mapping[int, ErrorMeaning]] = {
    -1: ErrorMeaning(_NOW, "The modem gives no reason."),
    0: ErrorMeaning(_NOW, "The modem failed.", "phone failure"),
    3: ErrorMeaning(_NOW, "The modem does not allow it now.", "operation not allowed"),
    4: ErrorMeaning(_CARRIER, "The modem does not support it.", "operation not supported"),
    5: ErrorMeaning(_SICK, "The modem is locked to another SIM.", "ph-sim pin required"),
    10: ErrorMeaning(_SICK, "There is no SIM in the modem.", "sim not inserted"),
    11: ErrorMeaning(_SICK, "The SIM needs its PIN.", "sim pin required"),
    12: ErrorMeaning(_SICK, "The SIM is blocked and needs its PUK.", "sim puk required"),
    13: ErrorMeaning(_SICK, "The SIM failed.", "sim failure"),
    14: ErrorMeaning(ErrorVerdict.BUSY, "The SIM is busy.", "sim busy"),
    15: ErrorMeaning(_SICK, "The modem does not take this SIM.", "sim wrong"),
    16: ErrorMeaning(_SICK, "The PIN is wrong.", "incorrect password"),
    17: ErrorMeaning(_SICK, "The SIM needs its PIN2.", "sim pin2 required"),
    18: ErrorMeaning(_SICK, "The SIM is blocked and needs its PUK2.", "sim puk2 required"),
    20: ErrorMeaning(ErrorVerdict.FULL, "The modem's storage is full.", "memory full"),
    21: ErrorMeaning(_NOW, "This place in the storage is empty.", "invalid index"),
    22: ErrorMeaning(_NOW, "The modem did not find it.", "not found"),
    23: ErrorMeaning(_NOW, "The modem's storage failed.", "memory failure"),
    24: ErrorMeaning(_CARRIER, "The modem finds a text too long.", "text string too long"),
    30: ErrorMeaning(_NOW, "There is no network service.", "no network service"),
    31: ErrorMeaning(
        ErrorVerdict.UNCERTAIN, "The network did not acknowledge it in time.", "network timeout"
    ),
    32: ErrorMeaning(_NOW, "The network takes emergency calls only.", "emergency"),
    50: ErrorMeaning(_CARRIER, "The modem finds a parameter wrong.", "incorrect parameters"),
    100: ErrorMeaning(_NOW, "The modem gives no reason.", "unknown"),
}

WRONG_PIN: Final = CME[16]

_RESERVED_FCS: Final = range(128, 256)
_UNKNOWN_FCS: Final = ErrorMeaning(_CARRIER, "The service centre refused it.")
UNKNOWN: Final = ErrorMeaning(_NOW, "The modem refused it with an unknown code.")
NO_REASON: Final = ErrorMeaning(_NOW, "The modem refused it without a reason.")

# A text is searched for these words, the longest first: "sim pin required" is also found in
# "ph-sim pin required".
_BY_WORDS: Final = sorted(
    ((row.words, row) for row in (*CMS.values(), *CME.values()) if row.words),
    key=lambda pair: -len(pair[0]),
)


def trouble_of(result: Result) -> ErrorMeaning:
    """The meaning of a result other than OK."""
    if result.ok:
        raise ValueError("OK is no trouble")
    if result.code is None:
        text = result.text.lower()
        return next((row for words, row in _BY_WORDS if words in text), NO_REASON)
    meaning = (CME if result.kind is ResultKind.CME else CMS).get(result.code)
    if meaning is None and result.kind is ResultKind.CMS and result.code in _RESERVED_FCS:
        return _UNKNOWN_FCS
    return meaning or UNKNOWN
