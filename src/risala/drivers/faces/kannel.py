"""Kannel's ``sendsms``: the requests of systems written for Kannel's smsbox, and its answers.

Kannel's user guide, "HTTP interface to smsbox": the fields of a request and the escapes of a
``dlr-url``; where the guide is silent, the words of the answers are those of its program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from encodings.aliases import aliases
from typing import Any, Final
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from risala.dataclass import dataclass
from risala.plugins.face import (
    FaceAnswer,
    FaceCall,
    FaceCallback,
    FaceCaller,
    FaceEvent,
    FaceFactory,
    FaceMessage,
    FacePath,
    FaceRefusal,
    FaceRefusedError,
    FaceRequest,
    FaceService,
    Fields,
    Sign,
)
from risala.sms.cause import Cause
from risala.sms.limits import VALIDITY_S
from risala.sms.message import Concatenation
from risala.sms.segment import parse_user_data_header

RECEIVERS_MAX: Final = 100
"""The most receivers of one request: each is a message, accepted after the one before."""
_CODINGS: Final = {"0": "utf-8", "2": "utf-16-be"}
"""The charset of a text without one, by ``coding``."""
_UTF_16_BE: Final = frozenset({"utf-16-be", "utf_16_be"})
_is_charset: Final = re.compile(
    r"ascii|utf_8|utf_16(_[bl]e)?|latin_1|iso8859_\d+|cp\d+|koi8_[rtu]|mac_\w+"
    r"|big5|gb2312|gbk|gb18030|shift_jis|euc_\w+"
).fullmatch
_CHARSETS: Final = {
    name: codec
    for pair in aliases.items()
    for name, codec in (pair, (pair[1], pair[1]))
    if _is_charset(codec)
}
"""Charsets by all their names, and how Python calls them."""
_ACCEPTED: Final = "0: Accepted for delivery"
_QUEUED: Final = "3: Queued for later delivery"
_DENIED: Final = "Authorization failed for sendsms"
_LATER: Final = "Temporal failure, try again later."
_HEADER: Final = "x-kannel-"
_FORM: Final = "application/x-www-form-urlencoded"

DELIVERED: Final = 1
UNDELIVERED: Final = 2
ACCEPTED: Final = 8
REJECTED: Final = 16
MASK_MAX: Final = 127


class KannelSettings(BaseModel):
    """``[compat.kannel]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    forced_sender: bool = False
    """Messages are from the credential's sender, whatever ``from`` says."""


class MisformedError(Exception):
    """A field that cannot be used; ``str()`` is the answer."""


@dataclass(frozen=True, slots=True)
class _SendRequest:
    """A request, read."""

    receivers: tuple[str, ...]
    text: str
    part: Concatenation | None
    in_ucs2: bool
    sender: str | None
    validity_s: int | None
    deferred_s: int
    callback: FaceCallback | None
    message_class: int | None


class KannelCompat:
    """The face; see the module's text."""

    paths: Sequence[FacePath] = (FacePath("/cgi-bin/sendsms", get_changes=True),)

    def __init__(self, settings: KannelSettings) -> None:
        self._settings = settings

    async def answer(self, request: FaceRequest, service: FaceService) -> FaceAnswer:
        try:
            fields = await _fields(request)
            caller = await service.admit(
                _word(fields, "username", "user"), _word(fields, "password", "pass")
            )
            order = self._read(fields, caller)
            return await self._send(request, service, caller, order)
        except MisformedError as misformed:
            return _text_answer(400, str(misformed))
        except FaceRefusedError as refused:
            return _refused(refused)

    def _read(self, fields: Fields, caller: FaceCaller) -> _SendRequest:
        receivers = tuple(_word(fields, "to").replace("+", " +").split())
        if not receivers:
            raise MisformedError("Missing receiver number, rejected")
        if len(receivers) > RECEIVERS_MAX:
            raise MisformedError(f"More than {RECEIVERS_MAX} receivers, rejected")
        _refuse_unsupported(fields)
        sender = None if self._settings.forced_sender else _word(fields, "from") or None
        validity = _number(fields, "validity", "Validity")
        least, most = VALIDITY_S  # another is moved to them: Kannel's is in minutes without bounds
        return _SendRequest(
            receivers=receivers,
            text=_text(fields),
            part=_part(fields),
            in_ucs2=_word(fields, "coding") == "2",
            sender=sender or caller.sender,
            validity_s=None if validity is None else min(max(validity * 60, least), most),
            deferred_s=(_number(fields, "deferred", "Deferred") or 0) * 60,
            callback=_callback(fields),
            message_class=0 if _word(fields, "mclass") == "0" else None,
        )

    async def _send(
        self, request: FaceRequest, service: FaceService, caller: FaceCaller, order: _SendRequest
    ) -> FaceAnswer:
        """Accept a message for each receiver. Once one is accepted the request is accepted: else
        the client would send all of them again."""
        denied: list[str] = []
        why: FaceRefusedError | None = None
        for receiver in order.receivers:
            try:
                await service.send(caller, _message(request, service.number(receiver), order))
            except FaceRefusedError as refused:
                denied.append(receiver)
                why = why or refused
        if why is not None and len(denied) == len(order.receivers):
            raise why
        text = _QUEUED if order.deferred_s else _ACCEPTED
        if denied:
            text += f" Denied receivers are: {' '.join(denied)}"
        return _text_answer(202, text)

    def call(
        self, event: FaceEvent, url: str, stored: Mapping[str, Any], sign: Sign
    ) -> FaceCall | None:
        kind = _kind(event, stored["mask"])
        if not kind & stored["mask"]:
            return None
        return FaceCall(_filled(url, _escapes(event, stored, kind)), method="GET")


def _message(request: FaceRequest, to: str, order: _SendRequest) -> FaceMessage:
    later = request.received_at_ms + order.deferred_s * 1000
    return FaceMessage(
        to=to,
        text=order.text,
        sender=order.sender,
        validity_s=order.validity_s,
        send_at_ms=later if order.deferred_s else None,
        callback=order.callback,
        part=order.part,
        part_in_ucs2=order.in_ucs2,
        message_class=order.message_class,
    )


# -- requests --------------------------------------------------------------------------------------


async def _fields(request: FaceRequest) -> Fields:
    """The fields of a request: of its query, of a form, or of its header with the text as body."""
    if request.method != "POST":
        return request.query
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in (_FORM, ""):
        return {**request.query, **await request.form()}
    if kind != "text/plain":
        raise MisformedError("Unsupported content-type, rejected")
    headers = {
        name.removeprefix(_HEADER): (value.encode("latin-1"),)
        for name, value in request.headers.items()
        if name.startswith(_HEADER)
    }
    charset = request.headers["content-type"].partition("charset=")[2].strip(' "')
    if charset:
        headers["charset"] = (charset.encode("latin-1"),)
    return {**request.query, **headers, "text": (await request.read(),)}


def _word(fields: Fields, *names: str) -> str:
    """The first of these fields that exists, as text; else empty."""
    for name in names:
        if name in fields:
            return fields[name][0].decode("utf-8", "replace").strip()
    return ""


def _number(fields: Fields, name: str, label: str) -> int | None:
    word = _word(fields, name)
    if not word:
        return None
    if not (word.isascii() and word.isdigit() and len(word) < 9):
        raise MisformedError(f"{label} field misformed, rejected")
    return int(word)


def _refuse_unsupported(fields: Fields) -> None:
    """Refuse options that would make the message different from the requested one."""
    if _word(fields, "coding") == "1":
        raise MisformedError("Coding 1 (8 bit) is not supported here, rejected")
    if _word(fields, "mwi"):
        raise MisformedError("MWI field is not supported here, rejected")


def _part(fields: Fields) -> Concatenation | None:
    """The part of a message that the customer has cut: a Kannel does that itself. A header with
    anything else is refused, since that would get lost."""
    octets = fields.get("udh", (b"",))[0]
    if not octets:
        return None
    if (octets[:2] == b"\x05\x00" and len(octets) == 6) or (
        octets[:2] == b"\x06\x08" and len(octets) == 7
    ):
        with suppress(ValueError):  # its element is longer than it
            place = parse_user_data_header(octets).concatenation
            if place is not None:
                return place
    raise MisformedError("UDH field tells more than a part, which is not supported here, rejected")


def _text(fields: Fields) -> str:
    coding = _word(fields, "coding") or "0"
    if coding not in _CODINGS:
        raise MisformedError("Coding field misformed, rejected")
    octets, named = fields.get("text", (b"",))[0], _word(fields, "charset")
    charset = _charset(named or _CODINGS[coding])
    if not named and coding == "0" and not fields.get("udh"):
        charset = _unnamed(octets)
    if charset is None:
        raise MisformedError("Charset or body misformed, rejected")
    try:
        # A Kannel cuts by code units: a part may begin or end with half of a character.
        is_part = charset in _UTF_16_BE and bool(fields.get("udh"))
        errors = "surrogatepass" if is_part else "strict"
        text = octets.decode(charset, errors).removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise MisformedError("Charset or body misformed, rejected") from None
    if not text:
        raise MisformedError("Empty text is not supported here, rejected")
    return text


def _unnamed(octets: bytes) -> str:
    """The charset of a text that names none: UTF-8, else that of Western Windows. A Kannel takes
    any octets: before its version 1.4.2 they were Latin-1, and some clients, such as CommCare,
    still write what they can in it."""
    try:
        octets.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _charset(name: str) -> str | None:
    """Python's name of a charset; None for an unknown one.

    Python has other codecs too, such as its own escapes and names of hosts: they return something
    other than text, or raise unusual exceptions. And Python remembers every name that it is asked
    for, so it is asked only for these.
    """
    # UTF-16 without a mark is big-endian in SMS; Python's own takes the machine's order.
    if name.lower() in ("utf-16", "ucs-2", "utf-16be"):
        return "utf-16-be"
    return _CHARSETS.get(re.sub(r"[^a-z0-9]+", "_", name.lower()))


def _callback(fields: Fields) -> FaceCallback | None:
    mask = _number(fields, "dlr-mask", "DLR-Mask") or 0
    url = _word(fields, "dlr-url")
    if mask > MASK_MAX:
        raise MisformedError("DLR-Mask field misformed, rejected")
    if not mask or not url:
        return None
    return FaceCallback(url, {"mask": mask, "account": _word(fields, "account")})


# -- answers ---------------------------------------------------------------------------------------


def _text_answer(status: int, text: str, more: tuple[tuple[str, str], ...] = ()) -> FaceAnswer:
    return FaceAnswer(text.encode(), status, "text/plain; charset=utf-8", more)


_SAME: Final = (FaceRefusal.UNAUTHORIZED, FaceRefusal.ADDRESS, FaceRefusal.SUSPENDED)
_AGAIN: Final = (FaceRefusal.LIMITED, FaceRefusal.UNAVAILABLE, FaceRefusal.UNKNOWN)

_REJECTED: Final = {FaceRefusal.NO_BALANCE: 402, FaceRefusal.COUNTRY: 403}
"""The statuses of refusals that have one of their own."""


def _refused(refused: FaceRefusedError) -> FaceAnswer:
    if refused.refusal in _SAME:
        return _text_answer(403, _DENIED)
    if refused.refusal in _AGAIN:
        wait = refused.retry_after_s
        return _text_answer(503, _LATER, () if wait is None else (("Retry-After", str(wait)),))
    status = _REJECTED.get(refused.refusal, 400)
    return _text_answer(status, f"{str(refused).rstrip('.')}, rejected")


# -- callbacks -------------------------------------------------------------------------------------


_STATES: Final[Mapping[str, str]] = {
    "canceled": "DELETED",
    Cause.DELETED: "DELETED",
    Cause.EXPIRED: "EXPIRED",
    Cause.VALIDITY_OVER: "EXPIRED",
    Cause.REJECTED: "REJECTD",
}
"""Words of a receipt for undelivered messages, by cause, else by status; the same that an SMPP
customer gets. All others are ``UNDELIV``."""


def _kind(event: FaceEvent, mask: int) -> int:
    """The event as a bit of ``dlr-mask``. A failed message counts as rejected by the SMSC, and for
    customers without that bit as undelivered. A canceled or expired one counts as undelivered, and
    as rejected if only that bit was requested."""
    if event.status == "canceled" or event.error_code == Cause.VALIDITY_OVER:
        return REJECTED if mask & (UNDELIVERED | REJECTED) == REJECTED else UNDELIVERED
    match event.status:
        case "sent":
            return ACCEPTED
        case "delivered":
            return DELIVERED
        case "failed" if mask & REJECTED:
            return REJECTED
        case _:
            return UNDELIVERED


def _reply(event: FaceEvent, kind: int) -> str:
    """The SMSC's answer, as Kannel writes it."""
    code = event.carrier_code or event.error_code or event.status.upper()
    match kind:
        case _ if kind == ACCEPTED:
            return "ACK/"
        case _ if kind == REJECTED:
            return f"NACK/{code}"
        case _ if kind == DELIVERED:
            return "stat:DELIVRD err:000"
        case _:
            return f"stat:{_STATES.get(event.error_code or event.status, 'UNDELIV')} err:{code}"


def _escapes(event: FaceEvent, stored: Mapping[str, Any], kind: int) -> Mapping[str, str]:
    at = datetime.fromtimestamp(event.at_ms / 1000, UTC)
    # A report comes from the phone: for Kannel its sender is the recipient of the message.
    sender, receiver = event.to, event.sender
    return {
        "d": str(kind),
        "A": _reply(event, kind),
        "p": sender,
        "P": receiver,
        "q": sender,
        "Q": receiver,
        "t": f"{at:%Y-%m-%d %H:%M:%S}",
        "T": str(event.at_ms // 1000),
        "i": "risala",
        "I": event.message_id,
        "F": event.provider_message_id or "",
        "n": event.username,
        "o": str(stored.get("account", "")),
    }


def _filled(url: str, values: Mapping[str, str]) -> str:
    """A URL with its escapes filled in; other text is unchanged."""
    begin, *rest = url.split("%")
    parts = [begin]
    for each in rest:
        value = values.get(each[:1])
        parts.append(f"%{each}" if value is None else quote(value, safe="") + each[1:])
    return "".join(parts)


KANNEL: Final = FaceFactory(
    name="kannel",
    settings=KannelSettings,
    build=KannelCompat,
    summary="Kannel's sendsms, with dlr-url",
)
