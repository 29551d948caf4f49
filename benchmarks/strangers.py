"""Strangers who call carriers' addresses, many at once and none of them proved.

Run as a process of its own: reads a JSON job, one line of standard input. Prints a line when all
are connected and each has called once, goes on until its standard input ends, and prints what they
were answered as JSON. Plain sockets under one epoll loop, as :mod:`benchmarks.load`, which shares
no code with Risala.

The job: ``port``, ``connections``, ``every_s`` (between an answer and the next call of one of
them), ``floods`` (so many of them do not wait), and ``carriers``: ``phone`` and ``other`` (names of
phones' carriers), ``aggregator`` (one with a secret in its address), ``token`` (what the other's
phone calls with), ``message`` (an id of a message of the first phone).
"""

from __future__ import annotations

import heapq
import json
import select
import socket
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from benchmarks.load import answer_of

SLOW_OCTETS: Final = 8
"""That a slow one sends at once."""
SLOW_S: Final = 0.25
"""Between two pieces of a slow one."""
AGAIN_S: Final = 0.05
"""After which one connects again whose connection was closed."""
LARGE_BYTES: Final = 65_537
"""A body that is too large even for the carrier itself."""
ADDRESSES: Final = 100
"""From which they come, some from each."""
_CHUNK: Final = 1 << 16
_STALE: Final = {"x-timestamp": "1700000000", "x-signature": "0" * 64}
"""Of a text that was signed years ago."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to be a stranger."""

    name: str
    request: bytes
    is_slow: bool = False
    """Whether it sends octet after octet, and not the whole at once."""


def _request(method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
    fields = {"host": "bench", "content-length": str(len(body)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode() + body


def kinds_of(carriers: Mapping[str, str]) -> tuple[Kind, ...]:
    """All kinds of strangers for these carriers."""
    phone = f"/carriers/{carriers['phone']}"
    messages, register = f"{phone}/mobile/v1/message", f"{phone}/mobile/v1/device"
    told = [{"id": carriers["message"], "state": "Delivered", "recipients": [], "states": {}}]
    report = json.dumps(told).encode()
    foreign = json.dumps([{**told[0], "id": "msg_1.1.1.000000000000"}]).encode()
    other = {"authorization": f"Bearer {carriers['token']}"}
    receipt = b"id=ATXid_1&status=Success&phoneNumber=%2B22236000001"
    form = {"content-type": "application/x-www-form-urlencoded"}
    secret = f"/carriers/{carriers['aggregator']}/{'0' * 32}/receipt"
    return (
        Kind("no token", _request("GET", messages)),
        Kind("another phone's token", _request("GET", messages, **other)),
        Kind(
            "a token that nobody has", _request("POST", register, b"{}", authorization="Bearer x")
        ),
        Kind("a receipt for another's message", _request("PATCH", messages, report, **other)),
        Kind("a foreign id", _request("PATCH", messages, foreign, **other)),
        Kind("a receipt again, without its secret", _request("POST", secret, receipt, **form)),
        Kind("a text of years ago", _request("POST", f"{phone}/inbound", report, **_STALE)),
        Kind("a body that is too large", _request("POST", secret, b"x" * LARGE_BYTES, **form)),
        Kind("a stream", _request("GET", f"{phone}/mobile/v1/events"), is_slow=True),
        Kind("a slow body", _request("POST", f"{phone}/inbound", report, **_STALE), is_slow=True),
        Kind("a slow receipt", _request("POST", secret, receipt, **form), is_slow=True),
        Kind("no carrier's address", _request("POST", "/carriers/nobody/receipt", receipt)),
    )


@dataclass(slots=True, eq=False)
class _Stranger:
    kind: Kind
    comes_from: str
    waits_s: float
    sock: socket.socket | None = None
    sent: int = 0
    received: bytearray = field(default_factory=bytearray)
    has_called: bool = False
    is_due: bool = False
    """Whether it does something by itself later."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked of them: see the module's docstring."""

    port: int
    connections: int
    every_s: float
    floods: int
    carriers: dict[str, str]


class Strangers:
    """All of them, with what became of their calls."""

    def __init__(self, job: Job) -> None:
        self._port = job.port
        self._poll = select.epoll()
        self._by_number: dict[int, _Stranger] = {}
        self._due: list[tuple[float, int, _Stranger]] = []
        self._turns = 0
        self.answers: Counter[str] = Counter()
        """By kind and status; ``closed``: without an answer."""
        self.left = job.connections
        """Who has not called yet."""
        kinds = kinds_of(job.carriers)
        for number in range(job.connections):
            kind = kinds[number % len(kinds)]
            comes_from = f"127.0.{number % ADDRESSES + 1}.1"
            waits_s = 0.0 if number < job.floods else job.every_s
            # Their calls are spread over the time between two of one of them.
            first_s = job.every_s * number / job.connections
            self._later(_Stranger(kind, comes_from, waits_s), first_s)

    def _later(self, stranger: _Stranger, wait_s: float) -> None:
        self._turns += 1
        stranger.is_due = True
        heapq.heappush(self._due, (time.monotonic() + wait_s, self._turns, stranger))

    def turn(self, most_s: float) -> bool:
        """Whatever is to be done now; whether standard input is over."""
        now_s = time.monotonic()
        wait_s = min(most_s, max(0.0, self._due[0][0] - now_s)) if self._due else most_s
        is_over = False
        for number, _ in self._poll.poll(wait_s):
            if number == sys.stdin.fileno():
                is_over = True
            else:
                self._hear(self._by_number[number])
        while self._due and self._due[0][0] <= time.monotonic():
            stranger = heapq.heappop(self._due)[2]
            stranger.is_due = False
            self._go_on(stranger)
        return is_over

    def run(self) -> None:
        """Until standard input ends."""
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)
        is_said = False
        while not self.turn(1.0):
            if not is_said and not self.left:
                is_said = True
                print(json.dumps({"there": len(self._by_number)}), flush=True)

    def _go_on(self, stranger: _Stranger) -> None:
        """Connect, or send what is to be sent now."""
        try:
            if stranger.sock is None:
                self._connect(stranger)
            assert stranger.sock is not None
            data = stranger.kind.request[stranger.sent :]
            some = data[:SLOW_OCTETS] if stranger.kind.is_slow else data
            stranger.sent += stranger.sock.send(some)
        except BlockingIOError:
            pass
        except OSError:
            self._closed(stranger)
            return
        if stranger.sent < len(stranger.kind.request):
            self._later(stranger, SLOW_S if stranger.kind.is_slow else AGAIN_S)
        elif not stranger.has_called:
            stranger.has_called = True
            self.left -= 1

    def _connect(self, stranger: _Stranger) -> None:
        sock = socket.create_connection(
            ("127.0.0.1", self._port), source_address=(stranger.comes_from, 0)
        )
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stranger.sock, stranger.sent = sock, 0
        stranger.received.clear()
        self._by_number[sock.fileno()] = stranger
        self._poll.register(sock.fileno(), select.EPOLLIN)

    def _hear(self, stranger: _Stranger) -> None:
        assert stranger.sock is not None
        try:
            chunk = stranger.sock.recv(_CHUNK)
        except OSError:
            chunk = b""
        if not chunk:
            self._closed(stranger)
            return
        stranger.received += chunk
        found = answer_of(stranger.received)
        if found is None:
            return
        (status, _), size = found
        del stranger.received[:size]
        self.answers[f"{stranger.kind.name}: {status}"] += 1
        if stranger.sent < len(stranger.kind.request):
            self._drop(stranger)  # it was answered before it had sent all: it begins anew
        else:
            stranger.sent = 0
            self._later(stranger, stranger.waits_s)

    def _closed(self, stranger: _Stranger) -> None:
        self.answers[f"{stranger.kind.name}: closed"] += 1
        self._drop(stranger)

    def _drop(self, stranger: _Stranger) -> None:
        if stranger.sock is not None:
            del self._by_number[stranger.sock.fileno()]
            self._poll.unregister(stranger.sock.fileno())
            stranger.sock.close()
            stranger.sock = None
        if not stranger.has_called:
            stranger.has_called = True
            self.left -= 1
        if not stranger.is_due:
            self._later(stranger, max(stranger.waits_s, AGAIN_S))


def totals(answers: Mapping[str, int]) -> dict[str, int]:
    """Their answers by status alone."""
    found: Counter[str] = Counter()
    for name, count in answers.items():
        found[name.rpartition(": ")[2]] += count
    return dict(found)


def main() -> None:
    strangers = Strangers(Job(**json.loads(sys.stdin.readline())))
    strangers.run()
    print(json.dumps(strangers.answers), flush=True)


if __name__ == "__main__":
    main()
