"""A guarded server as a process: what it costs when 5,000 are idle, and how it stops."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from patience import HANG_S, until

HERE = Path(__file__).parent
PROBE_FILE = HERE / "guard_probe.py"
BIG = b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n"
SLOW = b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"


@contextmanager
def subprocess_serving(**http):
    command = [sys.executable, str(PROBE_FILE), json.dumps(http)]
    environ = os.environ | {"PYTHONPATH": str(HERE.parents[1] / "support")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as process:
        try:
            assert process.stdout is not None
            yield process, ("127.0.0.1", int(process.stdout.readline()))
        finally:
            process.kill()


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def resident_kib(process):
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def ask(address):
    with socket.create_connection(address, timeout=HANG_S) as client:
        client.sendall(b"GET /ok HTTP/1.0\r\n\r\n")
        return b"".join(iter(partial(client.recv, 65536), b""))


@pytest.mark.slow
def test_a_stop_ends_in_time_whoever_is_there():
    with subprocess_serving(graceful_stop_s=1) as (process, address), ExitStack() as clients:
        for request in (BIG, SLOW, b"", b"GET"):
            for _ in range(5):
                client = clients.enter_context(socket.create_connection(address))
                client.sendall(request)
        assert ask(address).endswith(b"}")
        process.send_signal(signal.SIGTERM)
        # Neither the slow handler nor those who read nothing would ever end.
        assert process.wait(HANG_S) == 0


@pytest.mark.slow
@pytest.mark.long
def test_5000_idle_connections_cost_only_their_memory(record_property):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 6000:
        pytest.skip(f"WITHOUT the 5,000 idle connections: only {hard} open files are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 6000), hard))
    with subprocess_serving(keep_alive_s=600) as (process, address), ExitStack() as clients:
        ask(address)
        files, kib = descriptors(process), resident_kib(process)
        for _ in range(5000):
            clients.enter_context(socket.create_connection(address))
        until(lambda: descriptors(process) >= files + 5000, "all are accepted")
        each = (resident_kib(process) - kib) / 5000
        record_property("kib_for_each_idle_connection", each)
        assert each < 32
        assert ask(address).endswith(b"}")
        clients.close()
        until(lambda: descriptors(process) <= files, "what they held is given back")
        assert ask(address).endswith(b"}")
