"""Requests as llhttp reads them, with stricter rules of our own.

llhttp is strict about where a request ends; ``docs/discussion/hostile-clients.md`` has the table of
what is accepted and refused, which a test checks.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

import httptools

from risala.http.common.problems import Problem, plain
from risala.http.common.request import origin_form

HEAD_BYTES_MAX: Final = 16 * 1024
"""Bytes of a request's first line and its header together."""
_HEADERS_MAX: Final = 100
"""Header fields of a request: honest clients and the proxies before us send thirty at most."""
_LENGTH_DIGITS_MAX: Final = 15
"""Digits of a ``Content-Length``, up to a petabyte: more digits are an attempt to overflow a
server's numbers."""
_DROPPED: Final = frozenset({b"upgrade", b"http2-settings"})
_begins: Final = re.compile(rb"[A-Z]{1,20} (/[!-~]*) HTTP/").match
_find_origin: Final = re.compile(rb"\norigin:[ \t]*([!-~]+)[ \t]*\r?\n", re.IGNORECASE).search
_is_visible: Final = re.compile(rb"[!-~]+").fullmatch
_odd_method: Final = re.compile(rb"[A-Z]{1,20}(?= )").match


class Request:
    """One request, as far as it has been read."""

    __slots__ = (
        "complete", "fault", "fields", "head_bytes", "headers", "keep", "length", "method",
        "origin", "parts", "received", "target", "version", "waits", "wire",
    )  # fmt: skip

    def __init__(self) -> None:
        self.method = b""
        self.target = b""
        """In origin form; empty when the request could not be read so far."""
        self.version = "1.1"
        self.headers: list[tuple[bytes, bytes]] = []
        """Names in lower case, in their order."""
        self.fields: dict[bytes, list[bytes]] = {}
        """The header fields by name."""
        self.head_bytes = 0
        """Bytes of the header, plus those of the first line."""
        self.parts: list[bytes] = []
        """Bytes of the body that have come and were not taken yet."""
        self.received = 0
        """Bytes of the body that have come."""
        self.wire = 0
        """Bytes received after its head, including chunk framing."""
        self.length: int | None = None
        """Bytes of the whole body; None if the head has no length."""
        self.complete = False
        self.keep = False
        """Whether another request may follow on the connection."""
        self.waits = False
        """Whether the client waits for leave to send the body (``Expect: 100-continue``)."""
        self.fault: Problem | None = None
        """Why the request is refused, whatever it asks for; None: it is accepted."""
        self.origin: str | None = None
        """The origin of the page whose request is refused, if it is known."""

    @property
    def path(self) -> str | None:
        return self.target.partition(b"?")[0].decode("latin-1") or None

    def refuse(self, problem: Problem) -> None:
        self.fault = self.fault or problem

    def value(self, name: bytes) -> bytes | None:
        """The first value of a header."""
        values = self.fields.get(name)
        return values[0] if values else None


class RequestParser:
    """Bytes in, requests out, in their order.

    A request is in :attr:`requests` as soon as its head has been read; its body follows. One that
    cannot be read is the last, and has a fault.
    """

    def __init__(self) -> None:
        self.requests: deque[Request] = deque()
        self.in_head = False
        """Whether a head has begun and not ended yet."""
        self._parser = httptools.HttpRequestParser(self)
        self._reading: Request | None = None
        self._resumes = False
        self._method: bytes | None = None
        self._head = b""
        """The bytes of a head that is not whole yet; needed to answer it if it is no HTTP."""
        self._head_bytes = 0
        self._over = False

    def feed(self, data: bytes) -> None:
        """Read on. Bytes after a request that could not be read are dropped."""
        if self._over:
            return
        at_start, queued = self._reading is None, len(self.requests)
        body_of = None if at_start or self.in_head else self._reading
        self._head, self._head_bytes = (
            (self._head + data, self._head_bytes + len(data)) if self.in_head else (data, 0)
        )
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._resume(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            odd = _odd_method(data) if at_start and len(self.requests) == queued else None
            if odd is not None and isinstance(error, httptools.HttpParserInvalidMethodError):
                # llhttp refuses methods that are not on its list; here the path decides, and
                # answers 405.
                self._renew()
                self._method = odd[0]
                self.feed(b"POST" + data[odd.end() :])
            else:
                self._end(plain(400))
        if not self.in_head:
            self._head = b""
        elif self._head_bytes > HEAD_BYTES_MAX:
            self._end(plain(431))
        if body_of is not None:
            body_of.wire += len(data)
            if body_of is self._reading and body_of.wire > _frame_bytes_max(body_of):
                self._end(plain(400))

    def on_message_begin(self) -> None:
        if not self._resumes:
            self._reading = Request()
            self.in_head = True

    def on_url(self, part: bytes) -> None:
        if self._reading is not None and not self._resumes:
            self._reading.target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        request = self._reading
        if request is not None and self.in_head:
            name, value = name.lower(), value.strip(b" \t")
            request.headers.append((name, value))
            fields = request.fields
            if name in fields:
                fields[name].append(value)
            else:
                fields[name] = [value]
            request.head_bytes += len(name) + len(value) + 4

    def on_headers_complete(self) -> None:
        request = self._reading
        if request is None or self._resumes:
            self._resumes = False
            return
        parser = self._parser
        request.method = self._method or parser.get_method()
        request.version = parser.get_http_version()
        request.keep = request.version == "1.1" and parser.should_keep_alive()
        _judge(request)
        self.in_head, self._method = False, None
        self.requests.append(request)

    def on_body(self, part: bytes) -> None:
        if self._reading is not None:
            self._reading.received += len(part)
            self._reading.parts.append(part)

    def on_message_complete(self) -> None:
        request = self._reading
        if request is None or (self._parser.should_upgrade() and _has_body(request)):
            return
        request.complete = True
        self._reading = None

    def _resume(self, rest: bytes) -> None:
        """Read on after a head that asked for another protocol, which we do not support.

        A client switches only with our consent, so the body and the next request come as HTTP/1;
        llhttp, however, takes the following bytes for the other protocol. Some clients ask for
        another protocol with every request.
        """
        request = self._reading
        self._renew()
        self._reading = request
        if request is not None and request.fault is None:
            kinds = (b"content-length", b"transfer-encoding")
            frame = b"".join(b"%s: %s\r\n" % pair for pair in request.headers if pair[0] in kinds)
            self._resumes = True
            self._parser.feed_data(b"POST / HTTP/1.1\r\n" + frame + b"\r\n")
        if rest:
            self.feed(rest)

    def _renew(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._reading = None
        self.in_head = False

    def _end(self, problem: Problem) -> None:
        """The bytes are no HTTP: refuse the request that they begin or continue."""
        self._over = True
        request = self._reading
        if request is None or self.in_head:
            request = Request()
            request.target, request.origin = _guess(self._head)
            request.method = b"HEAD" if self._head.startswith(b"HEAD ") else b""
            self.requests.append(request)
        self.in_head = False
        request.refuse(problem)


def _judge(request: Request) -> None:
    """Refuse a request that llhttp accepts and we do not; normalise any other."""
    fields = request.fields
    host = None
    try:
        target, host = origin_form(request.target) if _is_visible(request.target) else (b"", None)
    except ValueError:
        target = b""
    problem = _fault(request) if target else plain(400)
    request.target = target
    if problem is not None:
        request.fault = problem
        origin = fields.get(b"origin")
        request.origin = origin[0].decode("latin-1") if origin else None
        return
    if b"content-length" in fields:
        request.length = int(fields[b"content-length"][0])
    if b"expect" in fields:
        is_asked = fields[b"expect"][0].lower() == b"100-continue"
        request.waits = is_asked and request.version == "1.1"
    if host is not None or b"upgrade" in fields:
        _normalize(request, host)


def _normalize(request: Request, host: bytes | None) -> None:
    """Take out the fields that ask for another protocol, and put in the host of the target."""
    request.headers = [
        (name, host if name == b"host" and host is not None else value)
        for name, value in request.headers
        if name not in _DROPPED
    ]
    request.fields = {}
    for name, value in request.headers:
        request.fields.setdefault(name, []).append(value)


def _fault(request: Request) -> Problem | None:
    """Why a request that llhttp could read is refused; None: it is accepted."""
    fields = request.fields
    if request.version not in ("1.0", "1.1") or request.method == b"CONNECT":
        return plain(400)
    hosts = len(fields.get(b"host", ()))
    if hosts > 1 or (hosts == 0 and request.version == "1.1"):
        return plain(400)
    size = len(request.target) + request.head_bytes
    if size > HEAD_BYTES_MAX or len(request.headers) > _HEADERS_MAX:
        return plain(431)
    codings = fields.get(b"transfer-encoding")
    if codings is not None and (
        request.version == "1.0"
        or b"content-length" in fields
        or len(codings) > 1
        or codings[0].lower() != b"chunked"
    ):
        # Length and chunks both mark the end of the body, or chunks come in a version without them:
        # another server on the way may see other requests in these bytes than we do (RFC 9112
        # §6.1).
        return plain(400)
    lengths = fields.get(b"content-length")
    if lengths is not None and (
        len(lengths) > 1 or not lengths[0].isdigit() or len(lengths[0]) > _LENGTH_DIGITS_MAX
    ):
        return plain(400)
    if b"upgrade" in fields and any(each.lower() == b"websocket" for each in fields[b"upgrade"]):
        return Problem(400, "This service does not speak WebSocket.")
    return None


def _frame_bytes_max(request: Request) -> int:
    """The most bytes that a body may take on the wire. Without a limit, the extensions of chunks
    and the fields after the last chunk could grow for ever. A chunk of one byte takes six bytes."""
    return HEAD_BYTES_MAX + 8 * request.received


def _has_body(request: Request) -> bool:
    return bool(request.length) or request.value(b"transfer-encoding") is not None


def _guess(head: bytes) -> tuple[bytes, str | None]:
    """Path and origin in an invalid head, if they can be found in it."""
    line = _begins(head)
    if line is None:
        return b"", None
    origin = _find_origin(head)
    return line[1], "*" if origin is None else origin[1].decode("latin-1")
