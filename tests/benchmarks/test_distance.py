"""The way that is as long as to another machine: what comes out of it, and when."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time

import pytest
from benchmarks.trees import HERE

from patience import HANG_S

ROUND_TRIP_MS = 60


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _echo(server):
    near, _ = server.accept()
    with near:
        while chunk := near.recv(65_536):
            near.sendall(chunk)


@pytest.fixture
def far():
    """A connection through the way to a server that answers with what it hears."""
    port = _free_port()
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_echo, args=(server,), daemon=True).start()
        command = [sys.executable, "-m", "benchmarks.distance"]
        command += [str(port), str(server.getsockname()[1]), str(ROUND_TRIP_MS)]
        process = subprocess.Popen(command, env=HERE.environment())
        try:
            with _connected(port, process) as connection:
                yield connection
        finally:
            process.kill()
            process.wait()


def _connected(port, process):
    while process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=HANG_S)
        except ConnectionRefusedError:
            time.sleep(0.02)
    raise AssertionError("it has ended")


def test_a_round_trip_takes_no_less_than_was_ordered(far):
    far.sendall(b"first")  # the connection behind is made meanwhile
    assert far.recv(100) == b"first"
    began = time.monotonic()
    far.sendall(b"x")
    assert far.recv(100) == b"x"
    assert time.monotonic() - began >= ROUND_TRIP_MS / 1000


def test_all_arrives_in_order_and_the_end_does_too(far):
    sent = b"".join(f"{number:07}".encode() for number in range(50_000))
    threading.Thread(target=lambda: (far.sendall(sent), far.shutdown(socket.SHUT_WR))).start()
    heard = b""
    while chunk := far.recv(65_536):
        heard += chunk
    assert heard == sent
