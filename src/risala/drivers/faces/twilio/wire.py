"""Answers and callbacks in Twilio's format: resources, errors, states. Pure."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email import utils
from typing import Any, Final

from risala.plugins.face import (
    FaceAnswer,
    FaceEvent,
    FaceMessageState,
    FaceRefusal,
    FaceRefusedError,
    FaceVerification,
    Sign,
)

VERSION: Final = "2010-04-01"
STATUSES: Final = {
    "pending": "queued",
    "processing": "sending",
    "sent": "sent",
    "delivered": "delivered",
    "undelivered": "undelivered",
    "failed": "failed",
    "canceled": "canceled",
}
"""Twilio's status of a message, by ours."""
UNKNOWN_ERROR: Final = 30008
ERRORS: Final = {
    "ABSENT": 30003,
    "UNDELIVERABLE": 30003,
    "BARRED": 30004,
    "UNKNOWN_NUMBER": 30005,
    "EXPIRED": 30036,
    "VALIDITY_OVER": 30036,
}
"""Twilio's error code of a failed message, by our cause; every other is :data:`UNKNOWN_ERROR`."""


@dataclass(eq=False)
class TwilioError(Exception):
    """An answer in Twilio's shape of errors."""

    status: int
    code: int
    message: str
    retry_after_s: int | None = None

    def answer(self) -> FaceAnswer:
        more: tuple[tuple[str, str], ...] = ()
        if self.retry_after_s is not None:
            more += (("Retry-After", str(self.retry_after_s)),)
        if self.status == 401:
            more += (("WWW-Authenticate", 'Basic realm="Twilio API"'),)
        body = {
            "code": self.code,
            "message": self.message,
            "more_info": f"https://www.twilio.com/docs/errors/{self.code}",
            "status": self.status,
        }
        return FaceAnswer(_json(body), self.status, "application/json", more)


NOT_FOUND: Final = "The requested resource was not found"
_REFUSALS: Final[Mapping[FaceRefusal, tuple[int, int]]] = {
    FaceRefusal.UNAUTHORIZED: (401, 20003),
    FaceRefusal.ADDRESS: (403, 20003),
    FaceRefusal.SUSPENDED: (403, 20005),
    FaceRefusal.NO_BALANCE: (402, 20005),
    FaceRefusal.COUNTRY: (403, 21408),
    FaceRefusal.SENDER: (400, 21606),
    FaceRefusal.OPTED_OUT: (400, 21610),
    FaceRefusal.NOT_FOUND: (404, 20404),
    FaceRefusal.LIMITED: (429, 20429),
    FaceRefusal.UNAVAILABLE: (503, 20503),
    FaceRefusal.UNKNOWN: (503, 20503),
}
_FIELDS: Final = {"to": 21211, "sender": 21212, "callback": 21609, "text": 21617}
INVALID: Final = 20422
VERIFY_INVALID: Final = 60200
VERIFY_LIMITED: Final = 60203
NOT_CANCELABLE: Final = 30409
"""For a message that is no longer pending."""
NOT_COMPLETE: Final = 20009
"""For a message that is to be redacted or deleted and has not left."""
_STATUSES_ALONE: Final = {404: 20404, 405: 20004, 500: 20500}
"""Twilio's codes for requests that reached no resource."""


def of_status(status: int, text: str) -> TwilioError:
    """An error of HTTP alone, in Twilio's numbers."""
    code = _STATUSES_ALONE.get(status, 20000 + status)
    return TwilioError(status, code, NOT_FOUND if status == 404 else text)


def of_refusal(refused: FaceRefusedError, *, verify: bool) -> TwilioError:
    """A refusal of the service, in Twilio's numbers.

    Args:
        verify: use Verify's own numbers, if they exist.
    """
    if refused.refusal is FaceRefusal.UNAUTHORIZED:
        return TwilioError(401, 20003, "Authenticate")
    if refused.refusal is FaceRefusal.NOT_FOUND:
        return TwilioError(404, 20404, NOT_FOUND)
    if refused.refusal is FaceRefusal.CONFLICT:
        return TwilioError(409, NOT_CANCELABLE, str(refused))
    status, code = _REFUSALS.get(refused.refusal, (400, INVALID))
    if verify and refused.refusal is FaceRefusal.LIMITED:
        code = VERIFY_LIMITED
    if refused.refusal is FaceRefusal.INVALID:
        code = VERIFY_INVALID if verify else _FIELDS.get(refused.field or "", INVALID)
    return TwilioError(status, code, str(refused), refused.retry_after_s)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def answer(value: Mapping[str, Any], status: int = 200) -> FaceAnswer:
    return FaceAnswer(_json(value), status)


def _rfc2822(at_ms: int | None) -> str | None:
    return (
        None if at_ms is None else utils.format_datetime(datetime.fromtimestamp(at_ms // 1000, UTC))
    )


def _iso(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms // 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def messages_uri(account: str) -> str:
    return f"/{VERSION}/Accounts/{account}/Messages"


def message(
    account: str, state: FaceMessageState, messaging_service: str | None = None
) -> dict[str, Any]:
    """A Message resource; it has the Messaging Service if the request named one."""
    sid = sid_of("SM", state.message_id)
    uri = f"{messages_uri(account)}/{sid}"
    ended_well = state.status not in ("failed", "canceled")
    return {
        "account_sid": account,
        "api_version": VERSION,
        "body": state.text or "",
        "date_created": _rfc2822(state.created_at_ms),
        "date_sent": _rfc2822(state.sent_at_ms),
        "date_updated": _rfc2822(state.updated_at_ms),
        "direction": "outbound-api",
        "error_code": _error_code(state.error_code) if state.error_code else None,
        "error_message": state.error_text,
        "from": state.sender,
        "messaging_service_sid": messaging_service,
        "num_media": "0",
        "num_segments": str(state.segments),
        "price": f"-{state.price}" if ended_well else None,
        "price_unit": state.currency,
        "sid": sid,
        "status": STATUSES.get(state.status, state.status),
        "subresource_uris": {"media": f"{uri}/Media.json"},
        "tags": None,
        "to": state.to,
        "uri": f"{uri}.json",
    }


def _error_code(word: str) -> int:
    return ERRORS.get(word, UNKNOWN_ERROR)


def verification(
    account: str, service: str, base_url: str, session: FaceVerification, status: str
) -> dict[str, Any]:
    """A Verification resource, or a VerificationCheck, which has the same members."""
    sid = sid_of("VE", session.verification_id)
    return {
        "sid": sid,
        "service_sid": service,
        "account_sid": account,
        "to": session.to,
        "channel": "sms",
        "status": status,
        "valid": status == "approved",
        "lookup": {},
        "amount": None,
        "payee": None,
        "send_code_attempts": [
            {"time": _iso(session.created_at_ms), "channel": "SMS", "attempt_sid": f"VL{sid[2:]}"}
        ],
        "sna": None,
        "sna_attempts_error_codes": None,
        "date_created": _iso(session.created_at_ms),
        "date_updated": _iso(session.updated_at_ms),
        "url": f"{base_url}/v2/Services/{service}/Verifications/{sid}",
    }


def status_of(session: FaceVerification) -> str:
    """A session's status; one that ended by wrong codes has a special word."""
    if session.status == "canceled" and session.attempts >= session.attempts_max:
        return "max_attempts_reached"
    return session.status


def callback_fields(event: FaceEvent) -> dict[str, str]:
    """The form posted to a StatusCallback."""
    sid, status = sid_of("SM", event.message_id), STATUSES.get(event.status, event.status)
    fields = {
        "AccountSid": event.username,
        "ApiVersion": VERSION,
        "From": event.sender,
        "MessageSid": sid,
        "MessageStatus": status,
        "SmsSid": sid,
        "SmsStatus": status,
        "To": event.to,
    }
    if event.error_code is not None:
        fields["ErrorCode"] = str(_error_code(event.error_code))
    return fields


def signature(url: str, fields: Mapping[str, str], sign: Sign) -> str:
    """The value of ``X-Twilio-Signature``."""
    text = url + "".join(f"{name}{fields[name]}" for name in sorted(fields))
    return base64.b64encode(sign(text.encode())).decode()


# Ids in Twilio's form: two letters and 32 hexadecimal digits, from ours and back. Pure.
#
# Ours have 160 bits, of which an id in that form holds the first 128: the time, and enough random
# bits that ids neither collide nor can be guessed. The start of our id can be computed from it, and
# the service finds the rest.

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES: Final = {digit: value for value, digit in enumerate(_CROCKFORD)}
_DIGITS: Final = 32
_KEPT_BITS: Final = 128
_REST_BITS: Final = 5 * _DIGITS - _KEPT_BITS
_START_DIGITS: Final = 25
"""The number of our id's digits that lie completely within the kept bits."""
_is_sid: Final = re.compile(r"[A-Z]{2}[0-9a-f]{32}").fullmatch


def sid_of(kind: str, identity: str) -> str:
    """An id of ours, such as ``sms_…``, in Twilio's form for a kind: ``SM…``."""
    number = 0
    for digit in identity.partition("_")[2]:
        number = number << 5 | _VALUES[digit]
    return f"{kind}{number >> _REST_BITS:032x}"


def start_of(kind: str, prefix: str, sid: str) -> str | None:
    """The beginning of our id for an id in Twilio's form; None: it is not of that kind."""
    if not _is_sid(sid) or not sid.startswith(kind):
        return None
    number = int(sid[2:], 16) << _REST_BITS
    digits = (
        _CROCKFORD[number >> 5 * (_DIGITS - 1 - place) & 31] for place in range(_START_DIGITS)
    )
    return f"{prefix}_{''.join(digits)}"
