"""The processes that are measured: started, waited for, looked at, stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_S = 30.0


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def _wait_port(port: int) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        with socket.socket() as sock:
            sock.settimeout(1)
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")


@contextmanager
def process(*arguments: str, port: int) -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=None, text=True
    )
    try:
        _wait_port(port)
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        try:
            running.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()


def risala(data: Path, *arguments: str) -> dict:
    """One command of the command line, its answer."""
    done = subprocess.run(
        [sys.executable, "-m", "risala", *arguments, "--data", str(data), "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    answer: dict = json.loads(done.stdout)
    return answer


def load(**job: object) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        input=json.dumps(job),
        check=True,
        capture_output=True,
        text=True,
    )
    answer: dict = json.loads(done.stdout)
    return answer


def rss_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found.group(1)) / 1024 if found else 0.0


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
