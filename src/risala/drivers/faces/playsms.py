"""playSMS's webservices, ``index.php?app=ws``: sending, delivery status and credit.

playSMS's WEBSERVICES.md: the operations, their fields, and the numbers of errors; where it is
silent, the answers are shaped as its program shapes them. playSMS answers every request with 200.
Some of its clients, such as Nextcloud's and LibreNMS's, look at nothing but the status: so a
request that failed has a status of 400 and above here, with playSMS's body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from risala.dataclass import dataclass
from risala.plugins.face import (
    FaceAnswer,
    FaceCaller,
    FaceFactory,
    FaceMessage,
    FaceMessageState,
    FacePath,
    FaceRefusal,
    FaceRefusedError,
    FaceRequest,
    FaceService,
    Fields,
)

# playSMS's answers: errors, messages, and the formats that they are written in. Pure.

TIME: Final = "%Y-%m-%d %H:%M:%S"
_QUEUE_DIGITS: Final = 32
_NOT_IN_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

ERRORS: Final = {
    "100": "authentication failed",
    "101": "type of action is invalid or unknown",
    "102": "one or more field empty",
    "103": "not enough credit for this operation",
    "106": "webservice token not allowed from this IP address",
    "200": "send message failed",
    "201": "destination number or message is empty",
    "400": "no delivery status available",
}
"""playSMS's errors that happen here, in its words."""
_REFUSALS: Final[Mapping[FaceRefusal, tuple[int, str]]] = {
    FaceRefusal.UNAUTHORIZED: (403, "100"),
    FaceRefusal.SUSPENDED: (403, "100"),
    FaceRefusal.ADDRESS: (403, "106"),
    FaceRefusal.BAD_REQUEST: (400, "102"),
    FaceRefusal.NO_BALANCE: (402, "103"),
    FaceRefusal.COUNTRY: (403, "200"),
    FaceRefusal.LIMITED: (429, "200"),
    FaceRefusal.UNAVAILABLE: (503, "200"),
    FaceRefusal.UNKNOWN: (503, "200"),
}
"""The status and playSMS's error of each refusal; any other is :data:`REFUSED`."""
REFUSED: Final = (400, "200")
STATES: Final = {"pending": "0", "processing": "0", "sent": "1", "delivered": "3"}
"""playSMS's number of a message's state; every other has ended without delivery."""
FAILED: Final = "2"


@dataclass(eq=False)
class PlaysmsError(Exception):
    """A request that failed as a whole."""

    status: int
    error: str
    """A number of :data:`ERRORS`."""
    text: str | None = None
    """The reason, where playSMS's words do not say it."""
    retry_after_s: int | None = None

    def body(self) -> dict[str, str]:
        words = ERRORS[self.error]
        text = words if self.text is None else f"{words}: {self.text}"
        return {"status": "ERR", "error": self.error, "error_string": text}


def of_refusal(refused: FaceRefusedError) -> PlaysmsError:
    status, error = _REFUSALS.get(refused.refusal, REFUSED)
    # What a stranger is told is the same whatever was wrong.
    text = None if error == "100" else str(refused)
    return PlaysmsError(status, error, text, refused.retry_after_s)


def receipt_of(state: FaceMessageState) -> dict[str, str]:
    """What the client of an accepted message is told."""
    return {
        "status": "OK",
        "error": "0",
        "smslog_id": str(state.number),
        # playSMS's is random, and of a whole request; its clients look one message up by it.
        "queue": f"{state.number:0{_QUEUE_DIGITS}x}",
        "to": state.to,
    }


def state_of(state: FaceMessageState) -> dict[str, str]:
    """A message as a list has it; times are UTC, as playSMS keeps them."""
    made, changed = (
        datetime.fromtimestamp(ms / 1000, UTC).strftime(TIME)
        for ms in (state.created_at_ms, state.updated_at_ms)
    )
    return {
        "smslog_id": str(state.number),
        "src": state.sender,
        "dst": state.to,
        "msg": state.text or "",
        "dt": made,
        "update": changed,
        "status": STATES.get(state.status, FAILED),
    }


def written(answer: Mapping[str, Any], form: str) -> tuple[bytes, str]:
    """An answer in the format that was asked for, and its content type."""
    if form == "XML":
        return f'<?xml version="1.0"?>\n{_xml("response", answer)}\n'.encode(), "text/xml"
    if form == "SERIALIZE":
        return _serialized(answer), "text/plain"
    return json.dumps(answer, separators=(",", ":")).encode(), "application/json"


def _xml(name: str, value: object) -> str:
    """A value as an element; each of a list is an ``item``."""
    if isinstance(value, Mapping):
        inner = "".join(_xml(key, each) for key, each in value.items())
    elif isinstance(value, list):
        inner = "".join(_xml("item", each) for each in value)
    else:
        inner = "" if value is None else _escaped(_NOT_IN_XML.sub("", str(value)))
    return f"<{name}>{inner}</{name}>" if inner else f"<{name}/>"


def _escaped(text: str) -> str:
    """As ``xml.sax.saxutils`` does it, which imports an HTTP client."""
    return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")


def _serialized(value: Any) -> bytes:  # noqa: ANN401 -- whatever JSON has
    """A value as PHP's ``serialize`` writes it; the length of a text is in octets."""
    if value is None:
        return b"N;"
    if isinstance(value, int):
        return b"i:%d;" % value
    if isinstance(value, str):
        octets = value.encode()
        return b's:%d:"%s";' % (len(octets), octets)
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
    inner = [_serialized(each) for pair in pairs for each in pair]
    return b"a:%d:{%s}" % (len(inner) // 2, b"".join(inner))


RECEIVERS_MAX: Final = 100
"""The most receivers of one request: each is a message, accepted after the one before."""
LISTED_MAX: Final = 100
"""The most messages of one list, and playSMS's own number where ``c`` is not given."""
_DAYS: Final = (
    ("%Y-%m-%d", timedelta(days=1)),
    ("%Y-%m-%d %H:%M", timedelta(minutes=1)),
    (TIME, timedelta(seconds=1)),
)
"""The forms of ``dt``, and the time that each of them spans."""
_WHITE: Final = " \t\n\r\0\x0b"
"""What is taken from the ends of a field: the same as PHP's ``trim`` takes."""
_is_queue: Final = re.compile(r"0*[0-9a-f]{1,16}").fullmatch


class PlaysmsSettings(BaseModel):
    """``[compat.playsms]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    forced_sender: bool = False
    """Messages are from the credential's sender, whatever ``from`` says."""


class PlaysmsCompat:
    """The face; see the module's text."""

    paths: Sequence[FacePath] = (
        FacePath("/index.php", get_changes=True),
        FacePath("/playsms/index.php", get_changes=True),
    )

    def __init__(self, settings: PlaysmsSettings) -> None:
        self._settings = settings

    async def answer(self, request: FaceRequest, service: FaceService) -> FaceAnswer:
        fields: Fields = request.query
        status = 200
        more: tuple[tuple[str, str], ...] = ()
        try:
            # PHP takes the form's field where the query has it too.
            fields = {**fields, **await request.form()} if request.method == "POST" else fields
            content = await self._answer(request, service, fields)
        except (PlaysmsError, FaceRefusedError) as error:
            failed = of_refusal(error) if isinstance(error, FaceRefusedError) else error
            status, content = failed.status, failed.body()
            if failed.retry_after_s is not None:
                more = (("Retry-After", str(failed.retry_after_s)),)
        content = {**content, "timestamp": request.received_at_ms // 1000}
        body, kind = written(content, _word(fields, "format").upper())
        return FaceAnswer(body, status, kind, more)

    async def _answer(
        self, request: FaceRequest, service: FaceService, fields: Fields
    ) -> dict[str, Any]:
        op = _word(fields, "op").upper()
        if not op:
            raise PlaysmsError(400, "102")
        if _word(fields, "app") != "ws" or op not in ("PV", "DS", "CR"):
            raise PlaysmsError(400, "101")
        caller = await service.admit(_word(fields, "u"), _word(fields, "h"))
        if op == "PV":
            receivers, message = self._read(service, caller, fields)
            return {"data": await _send(service, caller, receivers, message), "error_string": None}
        if op == "DS":
            return {"data": await _states(service, caller, fields), "error_string": None}
        credit = service.organization(caller).balance
        return {"status": "OK", "error": "0", "credit": credit, "error_string": None}

    def _read(
        self, service: FaceService, caller: FaceCaller, fields: Fields
    ) -> tuple[list[str], FaceMessage]:
        """The receivers of a request, and the message that each is to get."""
        numbers = (each.strip(_WHITE) for each in _word(fields, "to").split(","))
        receivers = list(dict.fromkeys(each for each in numbers if each))
        text = _text(fields)
        if not receivers or not text:
            raise PlaysmsError(400, "201")
        if len(receivers) > RECEIVERS_MAX:
            raise PlaysmsError(*REFUSED, f"There are more than {RECEIVERS_MAX} numbers.")
        if _word(fields, "type").lower() == "flash":
            raise PlaysmsError(*REFUSED, "Flash messages are not supported here.")
        footer = _word(fields, "footer")
        if footer and _word(fields, "nofooter") in ("", "0"):
            text = f"{text} {footer}"
        sender = None if self._settings.forced_sender else _word(fields, "from") or None
        later = _word(fields, "schedule")
        at_ms = _moment(later, service.organization(caller).time_zone) if later else None
        return receivers, FaceMessage("", text, sender or caller.sender, send_at_ms=at_ms)


# -- requests --------------------------------------------------------------------------------------


def _word(fields: Fields, name: str) -> str:
    return fields.get(name, (b"",))[-1].decode("utf-8", "replace").strip(_WHITE)


def _text(fields: Fields) -> str:
    try:
        text = fields.get("msg", (b"",))[-1].decode()
    except UnicodeDecodeError:
        raise PlaysmsError(*REFUSED, "The text is not UTF-8.") from None
    return text.replace("\r\n", "\n").strip(_WHITE)


def _moment(word: str, zone: str) -> int:
    """UTC epoch milliseconds of a time of the organization's own clock."""
    try:
        moment = datetime.strptime(word, TIME).replace(tzinfo=ZoneInfo(zone))
        return round(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        text = "A schedule is like 2026-11-21 08:30:00."
        raise PlaysmsError(*REFUSED, text) from None


# -- operations ------------------------------------------------------------------------------------


async def _send(
    service: FaceService, caller: FaceCaller, receivers: Sequence[str], message: FaceMessage
) -> list[dict[str, str]]:
    """Accept a message for each receiver. Once one is accepted the request is: else the client
    would send all of them again."""
    answers: list[dict[str, str]] = []
    why: FaceRefusedError | None = None
    is_accepted = False
    for receiver in receivers:
        try:
            to = service.number(receiver)
            answers.append(receipt_of(await service.send(caller, replace(message, to=to))))
            is_accepted = True
        except FaceRefusedError as refused:
            why = why or refused
            ids = {"smslog_id": "", "queue": "", "to": receiver}
            answers.append({**of_refusal(refused).body(), **ids})
    if why is not None and not is_accepted:
        raise why
    return answers


async def _states(service: FaceService, caller: FaceCaller, fields: Fields) -> list[dict[str, str]]:
    number, queue = _word(fields, "smslog_id"), _word(fields, "queue")
    try:
        if not number and _is_queue(queue):
            number = str(int(queue, 16))
        if number or queue:
            states: Sequence[FaceMessageState] = (_numbered(service, caller, number),)
        else:
            states = await _listed(service, caller, fields)
    except FaceRefusedError as refused:
        if refused.refusal not in (FaceRefusal.NOT_FOUND, FaceRefusal.INVALID):
            raise
        states = ()
    if not states:
        raise PlaysmsError(200, "400")
    return [state_of(each) for each in states]


def _numbered(service: FaceService, caller: FaceCaller, number: str) -> FaceMessageState:
    if not (number.isascii() and number.isdigit()):
        raise FaceRefusedError(FaceRefusal.NOT_FOUND, ERRORS["400"])
    return service.message(caller, number)


async def _listed(
    service: FaceService, caller: FaceCaller, fields: Fields
) -> Sequence[FaceMessageState]:
    """The newest messages; playSMS's ``last`` takes out those up to a number."""
    count, last = (_whole(fields, name) for name in ("c", "last"))
    to, since_ms, until_ms = _word(fields, "dst"), None, None
    if when := _word(fields, "dt"):
        since_ms, until_ms = _span(when)
    page = await service.messages(
        caller,
        limit=min(count or LISTED_MAX, LISTED_MAX),
        to=service.number(to) if to else None,
        sender=_word(fields, "src") or None,
        since_ms=since_ms,
        until_ms=until_ms,
    )
    return [each for each in page.items if each.number > (last or 0)]


def _whole(fields: Fields, name: str) -> int | None:
    word = _word(fields, name)
    return int(word) if word.isascii() and word.isdigit() and len(word) < 20 else None


def _span(when: str) -> tuple[int, int]:
    """The beginning and end of a day, a minute or a second, in UTC epoch milliseconds."""
    for form, length in _DAYS:
        try:
            begin = datetime.strptime(when, form).replace(tzinfo=UTC)
            end = begin + length
            return round(begin.timestamp() * 1000), round(end.timestamp() * 1000)
        except (ValueError, OverflowError):
            continue
    raise FaceRefusedError(FaceRefusal.NOT_FOUND, ERRORS["400"])


PLAYSMS: Final = FaceFactory(
    name="playsms",
    settings=PlaysmsSettings,
    build=PlaysmsCompat,
    summary="playSMS's webservices: pv, ds and cr",
)
