"""A load of keep-alive HTTP/1.1 requests, light enough not to be what is measured.

Run as a process of its own: reads a JSON job from standard input, prints a JSON result. One epoll
loop and plain sockets: a request costs it some 20 µs, so that it can load what takes 100.

The job: ``port``, ``connections``, ``seconds`` or ``requests``, and what is asked:

``flow: "same"``
    ``method``, ``path``, ``headers``, ``bodies``: one after another, from the first on again.
``flow: "pairs"``
    ``/api/verify/send`` and then ``/api/verify/check`` with the code that test keys get; a pair
    counts once. ``headers``, ``body``.
"""

from __future__ import annotations

import itertools
import json
import re
import select
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

SECONDS_MAX = 600.0
_CHUNK = 1 << 18
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)

Answer = tuple[int, bytes]
Flow = Generator[tuple[bytes, bool], Answer, None]
"""Yields a request, and whether the answer ends what counts as one; is sent the answer."""


def answer_of(received: bytes | bytearray) -> tuple[Answer, int] | None:
    """The first answer and how many octets it took; None while it is not whole.

    Raises:
        ValueError: it has no ``Content-Length``; nothing that we measure leaves it out.
    """
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    found = _LENGTH.search(received, 0, end)
    if found is None:
        raise ValueError(f"an answer without Content-Length: {bytes(received[:end])!r}")
    last = end + 4 + int(found.group(1))
    if len(received) < last:
        return None
    return (int(received[9:12]), bytes(received[end + 4 : last])), last


def request(method: str, path: str, headers: dict[str, str], body: str = "") -> bytes:
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in {"host": "bench", **headers}.items()]
    if method == "POST":
        lines += ["Content-Type: application/json", f"Content-Length: {len(body.encode())}"]
    return "\r\n".join([*lines, "", body]).encode()


def _same(requests: Iterator[bytes]) -> Flow:
    while True:
        yield next(requests), True


def _pairs(job: dict) -> Flow:
    send = request("POST", "/api/verify/send", job["headers"], job["body"])
    while True:
        status, body = yield send, False
        found = json.loads(body).get("verificationId", "") if status == 200 else ""
        check = json.dumps({"verificationId": found, "code": "000000"})
        yield request("POST", "/api/verify/check", job["headers"], check), True


def _flow_of(job: dict) -> Callable[[], Flow]:
    if job["flow"] == "pairs":
        return lambda: _pairs(job)
    bodies = job.get("bodies") or [""]
    requests = itertools.cycle(
        [request(job["method"], job["path"], job["headers"], body) for body in bodies]
    )
    return lambda: _same(requests)


@dataclass(slots=True)
class _Client:
    sock: socket.socket
    flow: Flow
    received: bytearray = field(default_factory=bytearray)
    begun: float = 0.0
    last: bool = True
    """Whether the answer that is waited for ends what counts as one."""


@dataclass(slots=True)
class _Run:
    until: float
    left: int
    latencies: list[float] = field(default_factory=list)
    refused: int = 0
    example: str = ""

    def ask(self, client: _Client, answer: Answer | None) -> bool:
        """Send the client's next request; False when it has none left."""
        now = time.perf_counter()
        if client.last:
            if now >= self.until or self.left <= 0:
                return False
            self.left -= 1
            client.begun = now
        asked = client.flow.send(answer) if answer else next(client.flow)
        client.last = asked[1]
        client.sock.sendall(asked[0])
        return True

    def hear(self, client: _Client) -> bool:
        """Take what has come; False when the client is done."""
        chunk = client.sock.recv(_CHUNK)
        if not chunk:
            raise ConnectionError("the server closed the connection")
        client.received += chunk
        found = answer_of(client.received)
        if found is None:
            return True
        answer, size = found
        del client.received[:size]
        if not 200 <= answer[0] < 300:
            self.refused += 1
            self.example = self.example or f"{answer[0]} {answer[1][:200]!r}"
        if client.last:
            self.latencies.append(time.perf_counter() - client.begun)
        return self.ask(client, answer)


def _connect(job: dict) -> list[_Client]:
    make = _flow_of(job)
    clients = []
    for _ in range(job["connections"]):
        sock = socket.create_connection(("127.0.0.1", job["port"]))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        clients.append(_Client(sock, make()))
    return clients


def run(job: dict) -> dict:
    clients = {client.sock.fileno(): client for client in _connect(job)}
    started = time.perf_counter()
    seconds = min(job.get("seconds", SECONDS_MAX), SECONDS_MAX)
    going = _Run(started + seconds, job.get("requests", sys.maxsize))
    poll = select.epoll()
    for number, client in list(clients.items()):
        if going.ask(client, None):
            poll.register(number, select.EPOLLIN)
        else:
            del clients[number]
    while clients:
        for number, _ in poll.poll():
            if not going.hear(clients[number]):
                poll.unregister(number)
                clients.pop(number).sock.close()
    elapsed = time.perf_counter() - started
    latencies = sorted(going.latencies)
    return {
        "per_s": len(latencies) / elapsed,
        "elapsed_s": elapsed,
        "p50_ms": 1000 * latencies[len(latencies) // 2],
        "p99_ms": 1000 * latencies[int(len(latencies) * 0.99)],
        "refused": going.refused,
        "example": going.example,
    }


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin))))
