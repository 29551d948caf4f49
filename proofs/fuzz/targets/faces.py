"""What is asked in other gateways' words: Kannel's, playSMS's, SMSGate's and Twilio's queries,
forms, JSON and headers."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes, urlencode
from xml.etree import ElementTree

from proofs.fuzz.target import FuzzTarget, Script, is_unicode, refusal_of, work_within
from risala.config.model import Settings
from risala.drivers.faces.kannel import KannelCompat, KannelSettings
from risala.drivers.faces.playsms import PlaysmsCompat, PlaysmsSettings
from risala.drivers.faces.smsgate import (
    FAILED,
    SENDS,
    SHOWS,
    STATES,
    SmsgateCompat,
    SmsgateSettings,
)
from risala.drivers.faces.twilio.compat import (
    CHECK,
    MESSAGE,
    MESSAGES,
    VERIFICATION,
    VERIFICATIONS,
    TwilioCompat,
    TwilioSettings,
)
from risala.engine.features.compat.records import Admitted, CompatCredential
from risala.engine.model import errors
from risala.engine.model.commands import NOTHING_BESIDE, Principal, SendCode, SendMessage
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.verify.sessions import VerificationView
from risala.engine.model.states import Mode, SessionState
from risala.http.faces.paths import TypedAnswer
from risala.http.faces.service import RequestService
from risala.plugins.face import (
    FIELDS_MAX,
    FaceAnswer,
    FaceEvent,
    FaceRefusedError,
    FaceRequest,
    GatewayFace,
    fields_of,
)

T = TypeVar("T")
NOW_MS: Final = 1_767_225_600_000
_ACCOUNT: Final = "AC" + "0" * 32
_MESSAGE_ID: Final = "sms_01KB0ZJ4F0W8J5H7M2N9Q3R6T1V4X8Y0"
_SESSION_ID: Final = "ver_01KB0ZJ4F0W8J5H7M2N9Q3R6T1V4X8Y0"
_SQLITE_MAX: Final = 2**63 - 1
_STATUSES: Final = frozenset({200, 201, 202, 400, 401, 402, 403, 404, 409, 429, 503})
_PRINCIPAL: Final = Principal("org_1", "key_1", KeyType.SECRET, Mode.LIVE)


def _view() -> MessageView:
    return MessageView(
        *(_MESSAGE_ID, "org_1", Mode.LIVE, "sms", "+22236123456", "RISALA", "Salam", "pending"),
        *(1, "gsm7", 100, "MRU", 0, None, None, None, None, {}, None, None, None, NOW_MS, NOW_MS),
    )


def _session() -> VerificationView:
    return VerificationView(
        *(_SESSION_ID, "+22236123456", SessionState.PENDING, 0, NOW_MS, NOW_MS, NOW_MS),
        *("org_1", Mode.LIVE, None, 5, _MESSAGE_ID),
    )


class _Engine:
    """What is behind a face: takes what may be stored, and nothing else."""

    async def admit(self, face: str, username: str, password: str, address: object, /) -> Admitted:
        for text in (username, password):
            assert is_unicode(text)
        if not username:
            raise errors.Unauthorized
        return self.admitted("key_1")

    def admitted(self, credential_id: str, /) -> Admitted:
        credential = CompatCredential(
            *(credential_id, "org_1", "kannel", _ACCOUNT, Mode.LIVE, None, None),
            *(False, "1234", None),
            NOW_MS,
            *[None] * (len(CompatCredential.__slots__) - 11),
        )
        return Admitted(credential, _PRINCIPAL)

    def organization(self, principal: Principal, /) -> Organization:
        return Organization(
            *("org_1", "Shop", "active", 100, "MRU", None, False, False, False),
            *(None,) * 6,
            *("Africa/Nouakchott", NOW_MS),
        )

    async def send(
        self,
        principal: Principal,
        command: SendMessage,
        callback_url: str | None,
        told: Mapping[str, Any],
        /,
    ) -> str:
        assert is_unicode(command.body)
        assert "\0" not in command.body
        assert 1 <= len(command.body) <= 1600
        assert command.send_at is None or NOW_MS < command.send_at <= NOW_MS + 31 * 86_400_000
        assert command.part is None or command.part.takes(command.body)
        assert is_unicode(command.idempotency_key or "")
        assert is_unicode(callback_url or "")
        assert is_unicode(json.dumps(told, ensure_ascii=False))
        if command.body.startswith("poor"):
            raise errors.InsufficientBalance
        return _MESSAGE_ID

    def message(self, principal: Principal, start: str, /) -> MessageView:
        return _view()

    def messages(
        self,
        principal: Principal,
        /,
        *,
        limit: int,
        before: int | None,
        to: str | None,
        sender: str | None,
        since: int | None,
        until: int | None,
    ) -> tuple[list[MessageView], int | None]:
        for number in (limit, before, since, until):
            assert number is None or abs(number) <= _SQLITE_MAX
        assert 1 <= limit <= 100
        assert is_unicode(to or "")
        assert is_unicode(sender or "")
        return [_view()], 7

    def sent_with(self, principal: Principal, keys: Sequence[str], /) -> list[MessageView]:
        assert all(map(is_unicode, keys))
        assert len(keys) <= 100
        return [_view() for each in keys if each == "smsgate:order-7:1"]

    def verification(self, principal: Principal, start: str, /) -> VerificationView:
        return _session()

    def verification_to(self, principal: Principal, to: str, /) -> VerificationView:
        return _session()

    async def perform(self, name: str, arguments: Mapping[str, Any], caller: object) -> object:
        assert name == "message.cancel"
        assert arguments["message_id"] == _MESSAGE_ID
        return {}

    async def send_code(self, principal: Principal, command: SendCode) -> str:
        return _SESSION_ID

    def get_verification(self, principal: Principal, session_id: str) -> VerificationView:
        return _session()

    async def check_code(
        self,
        principal: Principal,
        session_id: str,
        code: str | None,
        beside: Mapping[str, Any] = NOTHING_BESIDE,
    ) -> bool:
        assert (code is not None and is_unicode(code)) or "reported" in beside
        return code == "123456"


def _done(work: Coroutine[Any, Any, T]) -> T:
    """What comes of a coroutine that waits for nobody."""
    try:
        work.send(None)
    except StopIteration as over:
        found: T = over.value
        return found
    raise AssertionError("a face waits for something that is none of its service's")


def _asked(
    face: GatewayFace,
    method: str,
    path: str,
    arguments: Mapping[str, str],
    query: bytes,
    headers: Mapping[str, str],
    body: bytes,
) -> FaceAnswer | None:
    """The answer; None where the service refuses the request before it comes to the face."""

    async def read() -> bytes:
        return body

    fields = refusal_of(lambda: fields_of(query), FaceRefusedError)
    if isinstance(fields, Exception):
        return None
    reading: Callable[[], Awaitable[bytes]] = read
    request = FaceRequest(
        *("req_1", method, path, arguments, fields, headers, "https://sms.example", NOW_MS),
        reading,
    )
    engine: Any = _Engine()
    service = RequestService(engine, engine, Settings(), "kannel", None, NOW_MS)
    with work_within(6000 + 80 * (len(query) + len(body))):
        answer = _done(face.answer(request, service))
    assert answer.status in _STATUSES
    lines = TypedAnswer(answer).lines("req_1")
    assert lines.count(b"\r\n") == len(lines.splitlines())
    return answer


_KANNEL: Final = KannelCompat(KannelSettings())
_TYPES: Final = ("application/x-www-form-urlencoded", "text/plain", "", "text/plain; charset=")


def _kannel(octets: bytes) -> None:
    script = Script(octets)
    method, kind = script.of(("GET", "POST")), script.of(_TYPES)
    headers = {"content-type": kind + script.some().decode("latin-1") if kind[-1:] == "=" else kind}
    if script.flag():
        headers["x-kannel-charset"] = script.some().decode("latin-1")
    query = script.some() if method == "POST" else script.rest()
    answer = _asked(_KANNEL, method, "/cgi-bin/sendsms", {}, query, headers, script.rest())
    if answer is not None:
        assert answer.content_type == "text/plain; charset=utf-8"
        answer.body.decode()
        assert answer.body
        if answer.status == 202:
            assert answer.body.startswith((b"0: ", b"3: "))


def _kannel_seeds() -> Iterator[bytes]:
    good = {"username": "u", "password": "p", "to": "22236123456", "text": "Salam é"}
    yield b"\0\0\0" + urlencode(good).encode()
    for more in (
        {"coding": "2", "text": "\u0633", "charset": "utf-8"},
        {"charset": "ISO-8859-1", "from": "RISALA", "dlr-mask": "31", "dlr-url": "https://a/?%d"},
        {"udh": "\5\0\3\7\2\1", "validity": "5", "deferred": "10"},
        {"to": "22236123456 +22246123456 0", "text": "poor", "account": "x"},
        {"charset": "undefined"},
        {"mclass": "0"},
    ):
        yield b"\0\0\0" + urlencode({**good, **more}).encode()
    yield b"\1\0\0\0" + urlencode(good).encode()
    yield b"\1\3\x0biso-8859-15\1\4utf8\x29username=u&password=p&to=22236123456&from=BSalam"
    yield b"\0\0\0user=u&pass=p&to=%2b22236123456&text=%C3%A9&coding=0&charset=windows-1252"


_PLAYSMS: Final = PlaysmsCompat(PlaysmsSettings())


def _playsms(octets: bytes) -> None:
    script = Script(octets)
    method, kind = script.of(("GET", "POST")), script.of(_TYPES[:2])
    query = script.some() if method == "POST" else script.rest()
    answer = _asked(
        _PLAYSMS, method, "/index.php", {}, query, {"content-type": kind}, script.rest()
    )
    if answer is None:
        return
    match answer.content_type:
        case "application/json":
            told = json.loads(answer.body)
            assert (answer.status == 200) == ("data" in told or told["error"] in ("0", "400"))
            assert answer.status == 200 or told["error_string"]
        case "text/xml":
            assert ElementTree.fromstring(answer.body).tag == "response"
        case other:
            assert other == "text/plain"
            assert answer.body.startswith(b"a:")
            assert answer.body.endswith(b"}")


def _playsms_seeds() -> Iterator[bytes]:
    good = {"app": "ws", "u": "u", "h": "h"}
    sent = {**good, "op": "pv", "to": "22236123456,0", "msg": "Salam é"}
    for more in (
        {},
        {"format": "xml", "msg": "\x01<&"},
        {"format": "serialize", "footer": "x"},
        {"msg": "poor"},
        {"schedule": "2026-01-02 08:30:00", "from": "RISALA"},
        {"type": "flash"},
    ):
        yield b"\0\0" + urlencode({**sent, **more}).encode()
    for more in ({}, {"smslog_id": "9" * 18}, {"queue": "0" * 31 + "f"}, {"c": "2", "last": "1"}):
        yield b"\0\0" + urlencode({**good, "op": "ds", **more}).encode()
    for more in ({"dt": "2026-01-01"}, {"dt": "9999-12-31"}, {"dst": "36123456", "src": "A"}):
        yield b"\0\0" + urlencode({**good, "op": "ds", "format": "xml", **more}).encode()
    yield b"\0\0" + urlencode({**good, "op": "cr"}).encode()
    yield b"\1\0\0" + urlencode(sent).encode()


_SMSGATE: Final = SmsgateCompat(SmsgateSettings())
_SMSGATE_STATES: Final = {*STATES.values(), FAILED}


def _smsgate(octets: bytes) -> None:
    script = Script(octets)
    path = script.of((*SENDS, *SHOWS))
    word = script.some() if script.flag() else base64.b64encode(b"shop:secret")
    method = "POST" if path in SENDS else script.of(("GET", "DELETE"))
    arguments = {"id": script.of(("order-7", _MESSAGE_ID, "x" * 37))}
    headers = {"authorization": "Basic " + word.decode("latin-1")}
    answer = _asked(_SMSGATE, method, path, arguments, b"", headers, script.rest())
    if answer is None:
        return
    told = json.loads(answer.body)
    if answer.status in (200, 202):
        assert {told["state"], *(each["state"] for each in told["recipients"])} <= _SMSGATE_STATES
        assert told["states"]
    else:
        assert told["code"] == answer.status
        assert told["message"]


def _smsgate_seeds() -> Iterator[bytes]:
    good = {"phoneNumbers": ["22236123456"], "textMessage": {"text": "Salam é"}}
    for more in (
        {},
        {"id": "order-7", "ttl": 3600, "priority": 100, "simNumber": 1},
        {"phoneNumbers": ["+22236123456", "0022246123456", "0"]},
        {"scheduleAt": "2026-01-02T08:30:00Z", "validUntil": "2026-01-03T08:30:00+01:00"},
        {"isEncrypted": True},
        {"dataMessage": {"data": "AAAA", "port": 1}},
    ):
        yield b"\0\0" + json.dumps({**good, **more}).encode()
    yield b"\1\0" + json.dumps({"message": "\ud800", "phoneNumbers": ["22236123456"]}).encode()
    yield b"\2\0\0\0"
    yield b"\3\1\4!!!!\1\1"


_TWILIO: Final = TwilioCompat(TwilioSettings())
_PATHS: Final = (
    *(("POST", MESSAGES), ("GET", MESSAGES), ("GET", MESSAGE)),
    *(("POST", VERIFICATIONS), ("GET", VERIFICATION), ("POST", CHECK)),
)
_SID: Final = f"SM{'0' * 31}1"


def _twilio(octets: bytes) -> None:
    script = Script(octets)
    method, path = script.of(_PATHS)
    word = script.some() if script.flag() else base64.b64encode(_ACCOUNT.encode() + b":secret")
    arguments = {
        "account": script.of((_ACCOUNT, "AC1")),
        "service": script.of((f"VA{_ACCOUNT[2:]}", "VA1")),
        "sid": script.of((_SID, "SM", "VE" + "f" * 32)),
    }
    headers = {
        "authorization": "Basic " + word.decode("latin-1"),
        "content-type": script.of(_TYPES[:2]),
        "i-twilio-idempotency-token": script.some().decode("latin-1"),
    }
    rest = script.rest()
    query, body = (rest, b"") if method == "GET" else (b"", rest)
    answer = _asked(_TWILIO, method, path, arguments, query, headers, body)
    if answer is None:
        return
    told = json.loads(answer.body)
    if answer.status >= 400:
        assert set(told) == {"code", "message", "more_info", "status"}
        assert told["status"] == answer.status
        assert isinstance(told["code"], int)
    elif path == MESSAGES and method == "GET":
        # The address of the next page is one, whatever this one was asked by.
        pairs = dict(parse_qsl(told["next_page_uri"].partition("?")[2], keep_blank_values=True))
        assert pairs["PageToken"] == "7"


def _twilio_seeds() -> Iterator[bytes]:
    good = {"To": "+22236123456", "From": "RISALA", "Body": "Salam é"}
    head = b"\0\0\0\0\0\0"
    for more in (
        {},
        {"StatusCallback": "https://a/x", "ValidityPeriod": "9", "SendAt": "2026-01-02T08:30Z"},
        {"MediaUrl": "x"},
        {"Body": "poor"},
    ):
        yield b"\0\0\0\0\0\0\0" + urlencode({**good, **more}).encode()
    listed = {"PageSize": "2", "Page": "1", "PageToken": "9" * 18, "DateSent>": "2026-01-01"}
    yield b"\1" + head + urlencode(listed).encode()
    yield b"\2" + head
    yield (
        b"\3" + head + urlencode({"To": "+22236123456", "Channel": "sms", "Locale": "fr"}).encode()
    )
    yield b"\4\0\0\0\2\0\0"
    yield b"\5" + head + urlencode({"To": "+22236123456", "Code": "123456"}).encode()
    yield b"\0\1\4dTpw\0\0\0\0\0Body=x"


_FACE_WORDS: Final = (
    b"&", b"=", b"%00", b"%ff", b"+", b"%ED%A0%80", b"charset=", b"coding=2", b"idna", b"punycode",
    b"udh=%05%00%03%01%02%01", b"utf-16", b"utf-7", b"unicode_escape", b"undefined", b"utf-8",
    b"text=", b"dlr-mask=31", b"dlr-url=", b"PageToken=", b"9999999999999999999", b"DateSent=",
    b"SendAt=", b"op=pv", b"op=ds", b"op=cr", b"app=ws", b"format=xml", b"format=serialize",
    b"schedule=", b"smslog_id=", b"queue=", b"last=", b"dt=",
)  # fmt: skip


def _fields(octets: bytes) -> None:
    """A query read once more by hand, and written again."""
    found = refusal_of(lambda: fields_of(octets), FaceRefusedError)
    if isinstance(found, Exception):
        assert octets.count(b"&") + 1 > FIELDS_MAX
        return
    flat = [(name, value) for name, values in found.items() for value in values]
    wanted = [
        [unquote_to_bytes(each.replace(b"+", b" ")) for each in pair.partition(b"=")[::2]]
        for pair in octets.split(b"&")
        if pair
    ]
    assert sorted(flat) == sorted((name.decode("latin-1"), value) for name, value in wanted)
    again = fields_of(urlencode([(name.encode("latin-1"), value) for name, value in flat]).encode())
    assert again == found


def _calls(octets: bytes) -> None:
    """Whatever a carrier's word is, a call goes where its customer said, with one line a header."""
    script = Script(octets)
    event = FaceEvent(
        *("evt_1", NOW_MS, _MESSAGE_ID, "+22236123456", script.some().decode("latin-1")),
        script.of(("sent", "delivered", "undelivered", "failed")),
        *(script.of((None, "ABSENT")), script.some().decode("latin-1")),
        *(script.some().decode("latin-1"), _ACCOUNT),
    )
    told = {"mask": script.number() & 127, "account": script.some().decode("latin-1")}
    tail = script.rest().decode("latin-1")
    url = "https://customer.example/dlr?" + "".join(each for each in tail if "!" <= each <= "~")
    for face in (_KANNEL, _TWILIO):
        call = face.call(event, url, told, lambda text: text[:20])
        if call is None:
            continue
        assert call.url.startswith("https://customer.example/dlr?")
        assert all("!" <= each <= "~" for each in call.url)
        for name, value in call.headers.items():
            assert not any(each in name + value for each in "\r\n\0")
        if call.method == "POST":
            assert call.url == url
            fields = dict(
                parse_qsl(call.body.decode(), keep_blank_values=True, strict_parsing=True)
            )
            assert fields["AccountSid"] == _ACCOUNT
            assert fields["From"] == event.sender


TARGETS: Final = (
    FuzzTarget(
        "kannel",
        "answered in Kannel's words, by a status that it has; what is accepted can be stored and"
        " sent",
        _kannel,
        _kannel_seeds,
        octets_max=600,
        words=_FACE_WORDS,
    ),
    FuzzTarget(
        "playsms",
        "answered in playSMS's shape and in the format that was asked for; what failed has a status"
        " of 400 and above; what is accepted can be stored and sent",
        _playsms,
        _playsms_seeds,
        octets_max=600,
        words=_FACE_WORDS,
    ),
    FuzzTarget(
        "smsgate",
        "answered in SMSGate's JSON, by a state or a sentence; what is accepted can be stored and"
        " sent",
        _smsgate,
        _smsgate_seeds,
        octets_max=600,
        words=_FACE_WORDS,
    ),
    FuzzTarget(
        "twilio",
        "answered in Twilio's shape, with its code; what is accepted can be stored and sent; what"
        " is looked up SQLite can hold",
        _twilio,
        _twilio_seeds,
        octets_max=600,
        words=_FACE_WORDS,
    ),
    FuzzTarget(
        "queries",
        "the same fields as by hand; written again they read the same; or refused for their number",
        _fields,
        lambda: (b"a=1&b=%20&a=", b"&&=&a", b"a=%zz;b", b"&" * 101),
        octets_max=400,
        words=_FACE_WORDS,
    ),
    FuzzTarget(
        "callbacks",
        "a call goes to the customer's own address, with one line a header, whatever the carrier"
        " said",
        _calls,
        lambda: (b"\6RISALA\1\1\3x\r\n\2ab\x1f\1aid=%I&t=%T&r=%A&p=%p%q%", b"\0\3\0\0\0\x02\0"),
        octets_max=300,
        words=(b"%d", b"%A", b"%%", b"%i", b"\r\n"),
    ),
)
