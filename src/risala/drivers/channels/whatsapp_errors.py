"""What the error codes of WhatsApp's Cloud API mean for a code, in an answer and in a report. Pure.

Meta's page names the codes (developers.facebook.com, "Cloud API error codes").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from risala.plugins.channel import Cause, Outcome, Refused, Scope, Throttled

_NOT_ALLOWED: Final = frozenset(
    {
        *(0, 3, 10, 190),  # the token, or what it may do
        *(368, 131031, 130497),  # the account is held, locked, or not for this country
        *(131005, 131045, 133010),  # the number is not ours, or not registered
        *range(200, 300),
    }
)
_SLOW: Final = frozenset({4, 80007, 130429})
_AGAIN: Final = frozenset({1, 2, 131000, 131016, 131057, 135000})
_CAUSES: Final[Mapping[int, Cause]] = {
    131026: Cause.UNKNOWN_NUMBER,  # no account, an old app, or terms that were not accepted
    131021: Cause.RECIPIENT_REFUSED,  # it is the sender
    131030: Cause.RECIPIENT_REFUSED,  # a test number, and not on its list
    130472: Cause.BARRED,  # the person is in an experiment
    131049: Cause.BARRED,  # too many messages of businesses
    131042: Cause.NO_CREDIT,
    131048: Cause.QUOTA_USED,  # too many people blocked the number
    131064: Cause.QUOTA_USED,
    131056: Cause.THROTTLED,  # too many to this person
}
_TEMPLATE: Final = frozenset(range(132000, 132017))
_FORM: Final = frozenset({33, 100, 131008, 131009})
"""The request is not what WhatsApp takes: mostly the settings name the wrong number."""
_FINAL: Final = frozenset({131026, 131021, 131030, 130472, 131049})

ATTENTION: Final[Mapping[Cause, str]] = {
    Cause.NOT_ALLOWED: "WhatsApp refuses the access token or the account: see its Manager.",
    Cause.NO_CREDIT: "The account at WhatsApp cannot pay: see its billing.",
    Cause.QUOTA_USED: "WhatsApp lets this number send no more for now: see its Manager.",
    Cause.CONTENT_REFUSED: "WhatsApp does not take the template: see its Manager.",
    Cause.UNSUPPORTED: "WhatsApp does not take the request: check phone_number_id and template.",
}
"""What the operator should do, by cause."""


def cause_of_code(code: int) -> Cause | None:
    """Why a code was not taken; None: this version does not know the error."""
    if code in _NOT_ALLOWED:
        return Cause.NOT_ALLOWED
    if code in _SLOW:
        return Cause.THROTTLED
    if code in _AGAIN:
        return Cause.CARRIER_FAULT
    if code in _TEMPLATE:
        return Cause.CONTENT_REFUSED
    if code in _FORM:
        return Cause.UNSUPPORTED
    return _CAUSES.get(code)


def refusal_of(code: int, raw: str) -> Outcome:
    """What an error means for a code: it waits, is tried again, or the next channel begins.

    Args:
        raw: WhatsApp's own word, for the timeline.
    """
    cause = cause_of_code(code)
    if code in _SLOW:
        return Throttled(raw)
    if cause is Cause.CARRIER_FAULT:
        return Refused(Scope.NOW, raw, cause=cause)
    if cause is Cause.THROTTLED:
        return Refused(Scope.RECIPIENT, raw, cause=cause)
    if cause is None or code in _FINAL:
        return Refused(Scope.FINAL, raw, cause=cause or Cause.REJECTED)
    return Refused(Scope.CARRIER, raw, cause=cause)
