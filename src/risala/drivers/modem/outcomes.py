"""The outcome of a submit that ended in an error of the modem. Pure."""

from __future__ import annotations

from typing import Final

from risala.drivers.modem.at.causes import cause_of_trouble
from risala.drivers.modem.at.errors import ErrorVerdict, trouble_of
from risala.drivers.modem.at.lines import Result
from risala.sms.cause import Cause
from risala.sms.outcome import Outcome, Refused, Scope, Throttled, Uncertain, Unsent

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
