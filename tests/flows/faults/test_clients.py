"""Clients that cost more than they bring: slow, deaf, or many thousand at once."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from contextlib import ExitStack, closing

import pytest

from patience import HANG_S

pytestmark = [pytest.mark.slow, pytest.mark.long]

HEAD = b"POST /api/sms HTTP/1.1\r\nHost: x\r\n"
HOLDER = """
import resource, socket, sys
count, address = int(sys.argv[1]), (sys.argv[2], int(sys.argv[3]))
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
held = [socket.create_connection(address) for _ in range(count)]
print(len(held), flush=True)
sys.stdin.read()
"""
IDLE = 10_000 if os.environ.get("RISALA_FAULTS") else 500


def test_clients_drip_and_clients_read_nothing(stand):
    """What becomes of them is tried at tests/http/server; here: it costs nobody else anything."""
    with stand.trial("hostile_clients") as trial, ExitStack() as stack:
        for _ in range(100):
            slow = stack.enter_context(closing(socket.create_connection(stand.address, HANG_S)))
            slow.sendall(HEAD)
            deaf = stack.enter_context(closing(socket.create_connection(stand.address, HANG_S)))
            deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        for _ in range(20):
            trial.send()
        trial.wait_whole()


def test_thousands_of_idle_connections(stand):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    count = min(IDLE, hard - 1000)
    with stand.trial("idle_connections") as trial:
        command = (sys.executable, "-c", HOLDER, str(count), *map(str, stand.address))
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert int(holder.stdout.readline()) == count
            trial.injected += count
            for _ in range(20):
                trial.send()
            holder.stdin.close()
        trial.wait_whole()
