"""What a report of the phone means: the outcome of a submit, and the receipt. Pure.

The app knows whether Android took a message, whether the network did, and whether the recipient's
phone has it. It reports that again and again, late, and not always in order: what counts is how far
a message ever got. A failure after ``Sent`` is a receipt and no refusal: some of the text may have
arrived.
"""

from __future__ import annotations

import re
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.phone.words import PhoneState, StateReport
from risala.plugins.contract import (
    Accepted,
    Cause,
    Outcome,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
)

THROTTLED_S: Final = 120.0
"""How long a phone is left alone whose Android or radio says that it sends too much."""
RAW_CHARACTERS_MAX: Final = 100
_EXPIRED: Final = "TTL expired"
_RESULT: Final = re.compile(r"RESULT_[A-Z_]+")
_DIGITS: Final = re.compile(r"[0-9]{5,}")

_SERVICE: Final = (Scope.NOW, Cause.NO_SERVICE)
_DEVICE: Final = (Scope.NOW, Cause.DEVICE_FAULT)
_FORM: Final = (Scope.CARRIER, Cause.UNSUPPORTED)
_DENIED: Final = (Scope.CARRIER, Cause.NOT_ALLOWED)
_REFUSALS: Final = {
    "NO_SERVICE": _SERVICE,
    "RADIO_OFF": _SERVICE,
    "RADIO_NOT_AVAILABLE": _SERVICE,
    "NETWORK_NOT_READY": _SERVICE,
    "ACCESS_BARRED": _SERVICE,
    "BLOCKED_DUE_TO_CALL": _SERVICE,
    "SIMULTANEOUS_SMS_AND_CALL_NOT_ALLOWED": _SERVICE,
    "BLOCKED_DURING_EMERGENCY": _SERVICE,
    "NETWORK_REJECT": (Scope.CARRIER, Cause.REJECTED),
    "GENERIC_FAILURE": (Scope.NOW, Cause.CARRIER_FAULT),
    "NETWORK_ERROR": (Scope.NOW, Cause.CARRIER_FAULT),
    "NETWORK_ERR": (Scope.NOW, Cause.CARRIER_FAULT),
    "SEND_RETRY_FAILED": (Scope.NOW, Cause.CARRIER_FAULT),
    "FDN_CHECK_FAILURE": _DENIED,
    "SHORT_CODE_NOT_ALLOWED": _DENIED,
    "SHORT_CODE_NEVER_ALLOWED": _DENIED,
    "OPERATION_NOT_ALLOWED": _DENIED,
    "UNEXPECTED_EVENT_STOP_SENDING": (Scope.NOW, Cause.NOT_ALLOWED),
    "NULL_PDU": _FORM,
    "INVALID_ARGUMENTS": _FORM,
    "INVALID_SMS_FORMAT": _FORM,
    "ENCODING_ERR": _FORM,
    "ENCODING_ERROR": _FORM,
    "REQUEST_NOT_SUPPORTED": _FORM,
}
"""Ends of Android's words for a failed send; all others are a fault of the phone."""
_THROTTLES: Final = ("LIMIT_EXCEEDED", "REQUEST_RATE_LIMITED")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a report says."""

    outcome: Outcome | None
    """What the submit came to; None: that is not decided yet."""
    receipt: ReceiptState | None = None
    """What became of a message that the network took; None: nothing more is known."""
    was_never_sent: bool = False
    """True: the phone has not sent it and will not: nobody has it."""
    is_taken: bool = False
    """True: Android has it, or had it; it can no longer be called back."""
    expired_early: bool = False
    """True: the phone says that its validity is over."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more is to be expected of the phone."""
        refused = self.outcome is not None and not isinstance(self.outcome, Accepted)
        return refused or (self.receipt is not None and self.receipt.is_final)


def meaning_of(report: StateReport) -> Meaning:
    """What a report says of its message."""
    reached, raw = report.reached, raw_of(report)
    if reached & {PhoneState.SENT, PhoneState.DELIVERED}:
        return Meaning(Accepted(report.id, raw), _receipt(report), is_taken=True)
    if PhoneState.FAILED in reached:
        if report.error.startswith("Delivery result"):  # so it had been sent
            return Meaning(Accepted(report.id, raw), ReceiptState.UNDELIVERABLE, is_taken=True)
        return _failed(report, raw)
    if PhoneState.CANCELLED in reached:
        text = "The phone had not sent it, and gave it back."
        refused = Refused(Scope.NOW, raw, text, Cause.DEVICE_FAULT)
        return Meaning(refused, was_never_sent=True)
    return Meaning(None, is_taken=PhoneState.PROCESSED in reached)


def _receipt(report: StateReport) -> ReceiptState | None:
    if PhoneState.DELIVERED in report.reached:
        return ReceiptState.DELIVERED
    return ReceiptState.UNDELIVERABLE if PhoneState.FAILED in report.reached else None


def _failed(report: StateReport, raw: str) -> Meaning:
    taken = PhoneState.PROCESSED in report.reached
    if report.error == _EXPIRED:
        text = "The phone says that the message's validity is over."
        expired = Refused(Scope.NOW, raw, text, Cause.VALIDITY_OVER)
        return Meaning(expired, was_never_sent=not taken, is_taken=taken, expired_early=True)
    result = _RESULT.search(report.error)
    word = "" if result is None else result[0]
    if word.endswith(_THROTTLES):
        return Meaning(Throttled(raw, retry_after_s=THROTTLED_S), is_taken=taken)
    scope, cause = next((how for end, how in _REFUSALS.items() if word.endswith(end)), _DEVICE)
    return Meaning(Refused(scope, raw, cause=cause), is_taken=taken)


def for_good(outcome: Outcome) -> Outcome:
    """What a submit came to whose id the phone had before: an id that failed is never sent again,
    so that asking once more for the same changes nothing."""
    if isinstance(outcome, Refused | Throttled):
        return Refused(Scope.CARRIER, outcome.raw, outcome.text, outcome.cause)
    return outcome


def raw_of(report: StateReport) -> str:
    """The app's own words for a timeline: without numbers, and short."""
    result = _RESULT.search(report.error)
    error = report.error if result is None else result[0]
    furthest = PhoneState.FAILED if PhoneState.FAILED in report.reached else report.state
    words = f"{furthest.value}: {error}" if error else furthest.value
    return _DIGITS.sub("…", words)[:RAW_CHARACTERS_MAX]
