"""Makes the requests that an API gets, from its templates. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

from risala.drivers.http.calling import HttpCall
from risala.drivers.http.settings import HttpSettings
from risala.drivers.http.shape import SendShape
from risala.drivers.http.templates import filled, filled_text
from risala.sms.cause import Cause
from risala.sms.message import Alphabet, Segment
from risala.sms.outcome import Refused, Scope
from risala.sms.segment import count

VALIDITY_S_MIN: Final = 60


def account_values(carrier: str, settings: HttpSettings) -> dict[str, str]:
    """What fills the holes of every request of an account."""
    return {
        "carrier": carrier,
        "user": settings.user,
        "password": settings.password.get_secret_value(),
        "token": settings.token.get_secret_value(),
        "callback": settings.secret_address.get_secret_value(),
        **{f"values.{name}": value for name, value in settings.values.items()},
    }


def own_id(segment: Segment) -> str:
    """Our id of an attempt: the same when the same attempt is sent again."""
    return f"{segment.message_id}-{segment.number}-{segment.attempt}"


def refusal_of(shape: SendShape, segment: Segment) -> Refused | None:
    """Why an API cannot be sent this text, which another carrier may take; None: it can."""
    is_plain = shape.alphabet != "ascii" or segment.text.isascii()
    if shape.alphabet != "any" and (segment.alphabet is not Alphabet.GSM7 or not is_plain):
        return Refused(Scope.CARRIER, "", cause=Cause.NOT_ENCODABLE)
    if shape.parts_max and count(segment.text).segments > shape.parts_max:
        return Refused(Scope.CARRIER, "", cause=Cause.TOO_LONG)
    return None


def message_values(
    shape: SendShape, segment: Segment, now_s: float, hops: Sequence[str] = ()
) -> dict[str, str]:
    """What fills the holes for one message."""
    left_s = max(int(segment.expires_at_ms / 1000 - now_s), VALIDITY_S_MIN)
    left_s = min(left_s, shape.validity_s_max)
    expires = datetime.fromtimestamp(now_s + left_s, UTC)
    return {
        "to": segment.recipient,
        "to_digits": segment.recipient.removeprefix("+"),
        "from": segment.sender,
        "from_digits": segment.sender.removeprefix("+"),
        "text": segment.text,
        "id": own_id(segment),
        "hops": ", ".join(hops),
        "flash": shape.flash if segment.message_class == 0 else "",
        "coding": shape.codings.get(segment.alphabet.value, ""),
        "validity_s": str(left_s),
        "validity_min": str(max(left_s // 60, 1)),
        "expires": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def send_call(shape: SendShape, base: str, values: Mapping[str, str]) -> HttpCall:
    """The request for one message."""
    target = base + _path(shape.path, values)
    headers = [(name, filled_text(value, values)) for name, value in shape.headers.items()]
    headers = [(name, value) for name, value in headers if value]
    fields = filled(shape.fields, values) or {}
    if shape.method == "GET" or shape.body == "query":
        mark = "&" if "?" in target else "?"
        target = f"{target}{mark}{_form(fields)}" if fields else target
        return HttpCall(shape.method, target, tuple(headers))
    headers.append(("Accept", "application/json"))
    if shape.body == "form":
        headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        return HttpCall(shape.method, target, tuple(headers), _form(fields).encode())
    headers.append(("Content-Type", "application/json"))
    body = json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return HttpCall(shape.method, target, tuple(headers), body)


def question(
    method: str,
    path: str,
    base: str,
    values: Mapping[str, str],
    fields: dict[str, Any] | None = None,
) -> HttpCall:
    """A request that asks for something."""
    headers, target = [("Accept", "application/json")], base + _path(path, values)
    if method == "GET":
        return HttpCall(method, target, tuple(headers))
    headers.append(("Content-Type", "application/json"))
    body = json.dumps(filled(fields or {}, values) or {}).encode()
    return HttpCall(method, target, tuple(headers), body)


def _path(path: str, values: Mapping[str, str]) -> str:
    return filled_text(path, values, lambda word: quote(word, safe=""))


def _form(fields: Mapping[str, object]) -> str:
    pairs = [(name, _text(value)) for name, value in fields.items()]
    return urlencode(pairs, errors="surrogatepass")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
