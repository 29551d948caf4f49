"""Clients in front of a real service, with a proxy between them that behaves badly.

The proxy reads whole requests and decides by their number what goes wrong. It does to an answer
what networks do: the service has accepted, and the client never learns it.
"""

from __future__ import annotations

import http.client
import itertools
import json
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import pytest

from patience import HANG_S

Fault = Literal[
    "pass",
    "close",  # the request is read and not handed on
    "drop",  # carried out, and the connection ends without an answer
    "reset",  # the same, with a reset
    "cut",  # carried out, and half of the answer comes
    "drip",  # carried out, and the answer comes octet by octet without an end
    "hold",  # carried out, and nothing comes until the client goes away
    "bad gateway",  # carried out, and the proxy says 502
    "gateway timeout",  # the same with 504
    "unknown",  # carried out, and the service's own 503 that says that it does not know
    "full",  # not handed on: the service's own 503
    "limited",  # not handed on: the service's own 429
    "page",  # not handed on: a proxy's 503
]
MANY: Sequence[Fault] = (
    *("drop", "pass", "reset", "full", "pass", "cut", "limited", "bad gateway", "pass", "close"),
    *("page", "gateway timeout", "hold", "pass", "drip", "unknown"),
)
"""Each fault, and now and then none: so every call needs several attempts."""
REFUSED: dict[str, tuple[int, dict[str, str], object]] = {
    "full": (503, {"Retry-After": "0"}, {"code": "SERVICE_UNAVAILABLE", "status": 503}),
    "limited": (429, {"Retry-After": "0"}, {"code": "TOO_MANY_REQUESTS", "status": 429}),
    "unknown": (503, {"Retry-After": "0"}, {"code": "SERVICE_UNAVAILABLE", "status": 503}),
    "page": (503, {}, "<html>Service temporarily unavailable</html>"),
    "bad gateway": (502, {}, "<html>Bad gateway</html>"),
    "gateway timeout": (504, {}, "<html>Gateway timeout</html>"),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        fault = self.server.proxy.next_fault()
        if fault not in ("close", "full", "limited", "page"):
            answer = self._hand_on(body)
        if fault == "pass":
            self._write(*answer)
        elif fault in REFUSED:
            status, headers, told = REFUSED[fault]
            if isinstance(told, dict):
                data = {"code": "OUTCOME_UNKNOWN"} if fault == "unknown" else {}
                told = told | {
                    "message": "As the service says it.",
                    "data": data,
                    "requestId": "req_1",
                }
            text = told if isinstance(told, str) else json.dumps(told)
            self._write(status, headers, text.encode())
        else:
            self.close_connection = True
            getattr(self, f"_{fault}", lambda _: None)(answer if fault != "close" else None)

    def _hand_on(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """What the service answers. It has carried the request out by then."""
        connection = http.client.HTTPConnection(*self.server.proxy.service, timeout=HANG_S)
        named = ("x-api-key", "content-type")
        headers = {name: self.headers[name] for name in named}
        connection.request("POST", self.path, body, headers)
        response = connection.getresponse()
        text = response.read()
        kept = {name: value for name, value in response.getheaders() if name == "retry-after"}
        connection.close()
        return response.status, kept, text

    def _write(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _reset(self, _: object) -> None:
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def _cut(self, answer: tuple[int, dict[str, str], bytes]) -> None:
        status, _, body = answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])

    def _drip(self, answer: object) -> None:
        """Spaces, which JSON allows before a value, until the client has enough of them."""
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 30))
        self.end_headers()
        while not self.server.proxy.is_closed.wait(0.01):
            self.wfile.write(b" ")

    def _hold(self, _: object) -> None:
        self.connection.recv(1)  # nothing, once the client has gone

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: FaultyProxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy

    def handle_error(self, *_: object) -> None:
        """A client that went away in the middle, as it should."""


@dataclass
class FaultyProxy:
    """Hands requests on to a service, and spoils what comes back."""

    service: tuple[str, int]
    faults: Sequence[Fault]
    counted: dict[str, int] = field(default_factory=dict)
    """How often each fault was played."""
    is_closed: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._cycle = itertools.cycle(self.faults)
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def next_fault(self) -> Fault:
        with self._lock:
            fault = next(self._cycle)
            self.counted[fault] = self.counted.get(fault, 0) + 1
            return fault

    def moved_to(self, url: str) -> None:
        """The service is at another address from now on."""
        self.service = address(url)

    def close(self) -> None:
        self.is_closed.set()
        self._server.shutdown()
        self._thread.join(HANG_S)
        self._server.server_close()


def address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


@pytest.fixture
def faulty_at() -> Iterator[Any]:
    """Makes a proxy before the service at an address, which does these faults in turn."""
    made = []

    def make(url: str, faults: Sequence[Fault] = ("pass",)) -> FaultyProxy:
        made.append(FaultyProxy(address(url), faults))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def faulty(shared_service: Any, faulty_at: Any) -> Any:
    """The same before the service that the tests of a file share."""

    def make(faults: Sequence[Fault] = MANY) -> FaultyProxy:
        return faulty_at(shared_service.url, faults)

    return make


@pytest.fixture
def all_faults() -> Sequence[Fault]:
    return MANY
