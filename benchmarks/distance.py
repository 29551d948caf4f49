"""A way to a port here, as far as to another machine: ``python -m benchmarks.distance PORT TO MS``.

``MS`` is what a round trip takes longer, in milliseconds. Each direction takes half of it, however
much is under way. Threads, because their sleep is exact to some hundredths of a millisecond, and a
loop's waits last whole ones.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import closing, suppress
from queue import Queue
from typing import TypeAlias

_UNDER_WAY_MAX = 10_000
"""Chunks in one direction; then the sender waits."""

_Way: TypeAlias = "Queue[tuple[float, bytes]]"


def _leave(source: socket.socket, way: _Way, span_s: float) -> None:
    chunk = b"begin"
    while chunk:  # an empty one tells the other side of the end
        with suppress(OSError):
            chunk = b""
            chunk = source.recv(65_536)
        way.put((time.monotonic() + span_s, chunk))


def _arrive(way: _Way, target: socket.socket) -> None:
    with suppress(OSError):  # it has gone
        while True:
            due_s, chunk = way.get()
            time.sleep(max(0.0, due_s - time.monotonic()))
            if not chunk:
                return target.shutdown(socket.SHUT_WR)
            target.sendall(chunk)


def _connection(near: socket.socket, to: int, span_s: float) -> None:
    far = socket.create_connection(("127.0.0.1", to))
    with closing(near), closing(far):
        threads = []
        for source, target in ((near, far), (far, near)):
            target.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            way: _Way = Queue(_UNDER_WAY_MAX)
            threads.append(threading.Thread(target=_leave, args=(source, way, span_s)))
            threads.append(threading.Thread(target=_arrive, args=(way, target)))
        for each in threads:
            each.daemon = True  # none outlives the process
            each.start()
        for each in threads:
            each.join()


def _main(port: int, to: int, round_trip_ms: float) -> None:
    span_s = round_trip_ms / 2 / 1000
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            near, _ = server.accept()
            threading.Thread(target=_connection, args=(near, to, span_s), daemon=True).start()


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
