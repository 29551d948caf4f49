"""An SMSC that costs next to nothing, so that it is never what is measured.

``python -m benchmarks.carrier PORT STATS_PORT [SECRET_PREFIX]``. It takes every bind and every
``submit_sm``, brings a receipt for each, at most 100 of them unanswered on one connection, and
looks at nothing else. Whoever connects to the second port gets its counts as JSON: ``submits``,
``receipts`` that were acknowledged, when the first and the last of them came (``CLOCK_MONOTONIC``,
the same in all processes), and when each destination that begins with the prefix was seen.

It shares no code with Risala: it must be the same beside every tree, and beside other gateways.
"""

from __future__ import annotations

import json
import selectors
import socket
import struct
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass, field

_HEADER = struct.Struct(">IIII")
_RECEIPTS_MAX = 100
"""Unanswered on one connection: the windows of the gateways that are measured."""
_BINDS = (1, 2, 9)
_SUBMIT, _DELIVER_RESP, _ENQUIRE, _UNBIND = 4, 0x80000005, 0x15, 6
_ANSWER = 0x80000000


@dataclass(slots=True)
class Counts:
    submits: int = 0
    receipts: int = 0
    first: float = 0.0
    last_submit: float = 0.0
    last_receipt: float = 0.0
    watched: dict[str, float] = field(default_factory=dict)


def destination_of(body: bytes) -> bytes:
    """The ``destination_addr`` of a ``submit_sm``'s body (SMPP 3.4, 4.4.1)."""
    source = body.index(b"\0") + 3
    target = body.index(b"\0", source) + 3
    return body[target : body.index(b"\0", target)]


def receipt(carrier_id: bytes, recipient: bytes, sequence: int) -> bytes:
    """A ``deliver_sm`` with the usual text of a receipt (SMPP 3.4, appendix B), from the number to
    which the message went."""
    text = (
        b"id:%s sub:001 dlvrd:001 submit date:2611212200 done date:2611212200"
        b" stat:DELIVRD err:000 text:A message of an or" % carrier_id
    )
    body = b"\0\1\1" + recipient + b"\0\5\0BENCH\0" + b"\4\0\0\0\0\0\0\0\0"
    body += bytes([len(text)]) + text
    return _HEADER.pack(16 + len(body), 5, 0, sequence) + body


class Peer:
    """One connection of a gateway."""

    def __init__(self, sock: socket.socket, counts: Counts, prefix: bytes, run: int) -> None:
        self._sock = sock
        self._counts = counts
        self._prefix = prefix
        self._run = run
        self._received = bytearray()
        self._due: deque[tuple[bytes, bytes]] = deque()
        self._open = 0
        self._sequence = 1
        self._out = bytearray()

    @property
    def wants_to_write(self) -> bool:
        return bool(self._out)

    def read(self) -> bool:
        """False when the gateway has gone."""
        try:
            chunk = self._sock.recv(1 << 18)
        except ConnectionResetError:
            return False
        if not chunk:
            return False
        self._received += chunk
        self._take()
        self._bring()
        self.write()
        return True

    def write(self) -> None:
        if self._out:
            try:
                sent = self._sock.send(self._out)
            except BlockingIOError:
                return
            except (BrokenPipeError, ConnectionResetError):
                sent = len(self._out)
            del self._out[:sent]

    def _take(self) -> None:
        received, at = self._received, 0
        while len(received) - at >= 16:
            length, command, _status, sequence = _HEADER.unpack_from(received, at)
            if len(received) - at < length:
                break
            if command == _SUBMIT:
                self._submit(bytes(received[at + 16 : at + length]), sequence)
            elif command == _DELIVER_RESP:
                self._counts.receipts += 1
                self._counts.last_receipt = time.monotonic()
                self._open -= 1
            elif command in _BINDS:
                self._out += _HEADER.pack(20, command | _ANSWER, 0, sequence) + b"SIM\0"
            elif command in (_ENQUIRE, _UNBIND):
                self._out += _HEADER.pack(16, command | _ANSWER, 0, sequence)
            at += length
        del received[:at]

    def _submit(self, body: bytes, sequence: int) -> None:
        counts, now = self._counts, time.monotonic()
        counts.submits += 1
        counts.first = counts.first or now
        counts.last_submit = now
        carrier_id = b"%x" % (counts.submits + (self._run << 28))
        size = 17 + len(carrier_id)
        self._out += _HEADER.pack(size, _SUBMIT | _ANSWER, 0, sequence) + carrier_id + b"\0"
        recipient = destination_of(body)
        self._due.append((carrier_id, recipient))
        if self._prefix and recipient.startswith(self._prefix):
            counts.watched.setdefault(recipient.decode(), now)

    def _bring(self) -> None:
        while self._due and self._open < _RECEIPTS_MAX:
            self._sequence += 1
            self._open += 1
            self._out += receipt(*self._due.popleft(), self._sequence)


def serve(port: int, stats_port: int, prefix: bytes) -> None:
    counts, run = Counts(), int(time.time())
    watch = selectors.DefaultSelector()
    for number in (port, stats_port):
        listener = socket.create_server(("127.0.0.1", number))
        watch.register(listener, selectors.EVENT_READ, number)
    while True:
        for key, events in watch.select():
            if key.data == stats_port:
                with key.fileobj.accept()[0] as asker:  # type: ignore[union-attr]
                    asker.sendall(json.dumps(asdict(counts)).encode())
            elif key.data == port:
                sock = key.fileobj.accept()[0]  # type: ignore[union-attr]
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                peer = Peer(sock, counts, prefix, run)
                watch.register(sock, selectors.EVENT_READ, peer)
            elif not _serve(key.data, events):
                watch.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
            else:
                wanted = selectors.EVENT_READ
                if key.data.wants_to_write:
                    wanted |= selectors.EVENT_WRITE
                if wanted != key.events:
                    watch.modify(key.fileobj, wanted, key.data)


def _serve(peer: Peer, events: int) -> bool:
    if events & selectors.EVENT_WRITE:
        peer.write()
    return not events & selectors.EVENT_READ or peer.read()


def counts_of(stats_port: int) -> Counts:
    """What the carrier on this machine has counted so far."""
    with socket.create_connection(("127.0.0.1", stats_port)) as sock:
        told = b"".join(iter(lambda: sock.recv(1 << 16), b""))
    return Counts(**json.loads(told))


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), "".join(sys.argv[3:4]).encode())
