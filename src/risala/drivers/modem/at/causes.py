"""The causes for errors and status reports of a modem, and the outcome of a submit that ended in an
error. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from risala.drivers.modem.at.errors import CME, CMS, ErrorMeaning, ErrorVerdict, trouble_of
from risala.drivers.modem.at.lines import Result
from risala.sms.cause import Cause
from risala.sms.outcome import Outcome, Refused, Scope, Throttled, Uncertain, Unsent

_BY_VERDICT: Final = {
    ErrorVerdict.FINAL: Cause.UNKNOWN_NUMBER,
    ErrorVerdict.CARRIER: Cause.REJECTED,
    ErrorVerdict.NOW: Cause.CARRIER_FAULT,
    ErrorVerdict.RECIPIENT: Cause.ABSENT,
    ErrorVerdict.SLOW: Cause.THROTTLED,
    ErrorVerdict.UNCERTAIN: Cause.NOT_ACKNOWLEDGED,
    ErrorVerdict.SICK: Cause.DEVICE_FAULT,
    ErrorVerdict.BUSY: Cause.BUSY,
    ErrorVerdict.FULL: Cause.DEVICE_FAULT,
}
_CMS: Final[Mapping[Cause, tuple[int, ...]]] = {
    Cause.BARRED: (196,),
    Cause.NOT_ALLOWED: (8, 10, 28, 50, 193),
    Cause.UNSUPPORTED: (69, 96, 97, 99, 198, 199, 303, 304, 305),
    Cause.DUPLICATE: (197,),
    Cause.DEVICE_FAULT: (300, 301, 302, 320, 321, 330, 340),
    Cause.NO_SERVICE: (331, 512),
}
_CME: Final[Mapping[Cause, tuple[int, ...]]] = {
    Cause.UNSUPPORTED: (4, 24, 50),
    Cause.DEVICE_FAULT: (0, 3, 21, 22, 23),
    Cause.NO_SERVICE: (30, 32),
}
"""Codes of +CME ERROR whose cause does not follow from the verdict on them."""

_BY_TROUBLE: Final[Mapping[ErrorMeaning, Cause]] = {
    table[code]: cause
    for table, causes in ((CMS, _CMS), (CME, _CME))
    for cause, codes in causes.items()
    for code in codes
}

_BY_STATUS: Final[Mapping[int, Cause]] = {
    0x43: Cause.ABSENT,  # not obtainable
    0x49: Cause.UNTRACED,  # the service centre no longer has it
    0x61: Cause.ABSENT,  # the phone is busy
    0x62: Cause.ABSENT,  # the phone does not answer
    0x63: Cause.REJECTED,
}
"""Causes by TP-ST (23.040 §9.2.3.15), where they are more precise than the receipt's state."""


def cause_of_trouble(trouble: ErrorMeaning) -> Cause:
    """The cause of a message that this error ended."""
    return _BY_TROUBLE.get(trouble) or _BY_VERDICT[trouble.verdict]


def cause_of_status(status: int) -> Cause | None:
    """The cause of a failure by the TP-ST of its status report; None if the receipt's state is as
    precise."""
    return _BY_STATUS.get(status)


SLOW_DOWN_S: Final = 10.0
SIM_BUSY_S: Final = 5.0
_RAW_MAX: Final = 80
"""Characters of a modem's own text that are kept: the longest errors in words have 40."""

_SCOPES: Final = {
    ErrorVerdict.FINAL: Scope.FINAL,
    ErrorVerdict.CARRIER: Scope.CARRIER,
    ErrorVerdict.NOW: Scope.NOW,
    ErrorVerdict.FULL: Scope.NOW,
    ErrorVerdict.RECIPIENT: Scope.RECIPIENT,
}


def outcome_of(result: Result, *, has_left: bool = True) -> Outcome:
    """The outcome of a result other than OK.

    Args:
        has_left: False if the modem gave the result before it had asked for the PDU, so that the
            message surely did not leave.
    """
    trouble = trouble_of(result)
    raw, text, cause = result.raw[:_RAW_MAX], trouble.text, cause_of_trouble(trouble)
    match trouble.verdict:
        case ErrorVerdict.SLOW:
            return Throttled(raw, text, SLOW_DOWN_S, cause)
        case ErrorVerdict.BUSY:
            return Throttled(raw, text, SIM_BUSY_S, cause)
        case ErrorVerdict.SICK:
            return Unsent(raw, text, cause)
        case ErrorVerdict.UNCERTAIN if has_left:
            return Uncertain(raw, cause=cause)  # no text: the cause's own sentence is enough
        case ErrorVerdict.UNCERTAIN:
            text = "There was no network; nothing was sent."
            return Refused(Scope.NOW, raw, text, Cause.NO_SERVICE)
        case verdict:
            return Refused(_SCOPES[verdict], raw, text, cause)
