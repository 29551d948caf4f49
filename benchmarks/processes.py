"""The processes that are measured: started, waited for, looked at, stopped."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from benchmarks.trees import HERE, Tree

START_S = 60.0
"""A file of ten million messages opens within it, on a machine that does other things too."""
_STOP_S = 30.0
_ANSWER_S = 60.0
"""One command of the command line, on a machine that does other things too."""
_LOAD_S = 900.0
"""A load, the longest of which queues a million messages: what takes longer hangs."""
_PORTS = (20_000, 32_000)
"""Below what Linux gives to connections, which begins at 32768, and above what services have."""
_PORT_TRIES = 100


class Absent(Exception):
    """``str()`` says what is missing, and how to get it."""


def free_port() -> int:
    """A port for a program that listens there later.

    It is none of those that the kernel gives away by itself: a connection of another process could
    have it by then, as long as it lasts.
    """
    for _ in range(_PORT_TRIES):
        port = random.randint(*_PORTS)
        with socket.socket() as sock, suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port
    raise OSError(f"no port was free in {_PORT_TRIES} tries from {_PORTS[0]} to {_PORTS[1]}")


def wait_port(port: int) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        with socket.socket() as sock:
            sock.settimeout(1)
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"nothing listens on port {port}")


def wait_ready(port: int) -> None:
    """Until a service says that it is ready: it listens before."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        with suppress(OSError):
            if get_once(port, "/readyz") == 200:
                return
        time.sleep(0.02)
    raise TimeoutError(f"the service on port {port} is not ready")


def wait_accepts(port: int, path: str, body: str, headers: Mapping[str, str]) -> None:
    """Until a service answers 200 to this request."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        with suppress(OSError, http.client.HTTPException):
            if ask_once(port, "POST", path, body, headers) == 200:
                return
        time.sleep(0.05)
    raise TimeoutError(f"the service on port {port} accepts nothing")


def get_once(port: int, path: str) -> int:
    """The status of one request."""
    return ask_once(port, "GET", path)


def ask_once(
    port: int,
    method: str,
    path: str,
    body: str | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """The status of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        response.read()
        return response.status


@contextmanager
def program(
    *command: str,
    port: int,
    environment: dict[str, str] | None = None,
    output: IO[str] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """A program that listens on ``port``, until the block ends.

    Args:
        output: gets all that it prints; None: only its errors are shown.
    """
    told: dict[str, Any] = {"stdout": subprocess.DEVNULL}
    if output is not None:
        told = {"stdout": output, "stderr": output}
    running = subprocess.Popen(command, text=True, env=environment, **told)
    try:
        wait_port(port)
        yield running
    finally:
        stop(running)


def stop(running: subprocess.Popen[str]) -> None:
    """Ask it to end, then make it; it may have ended already."""
    if running.poll() is None:
        running.send_signal(signal.SIGTERM)
    try:
        running.communicate(timeout=_STOP_S)
    except subprocess.TimeoutExpired:
        running.kill()
        running.communicate()


@contextmanager
def process(
    *arguments: str,
    port: int,
    tree: Tree = HERE,
    output: IO[str] | None = None,
    **environment: str,
) -> Iterator[subprocess.Popen[str]]:
    """``python`` with these arguments, finding that tree's packages; ``output`` as above."""
    surroundings = tree.environment(**environment)
    command = (tree.python, *arguments)
    with program(*command, port=port, environment=surroundings, output=output) as running:
        yield running


def risala(data: Path, *arguments: str, tree: Tree = HERE) -> dict:
    """One command of the command line, its answer."""
    done = subprocess.run(
        [tree.python, "-m", "risala", *arguments, "--data", str(data), "--json"],
        check=True,
        capture_output=True,
        text=True,
        env=tree.environment(),
        timeout=_ANSWER_S,
    )
    answer: dict = json.loads(done.stdout)
    return answer


def module(name: str, *arguments: str, tree: Tree = HERE, job: object = None) -> dict:
    """What a module of this package prints as JSON, run against that tree's packages."""
    done = subprocess.run(
        [tree.python, "-m", name, *arguments],
        input=json.dumps(job),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=tree.environment(),
        timeout=_LOAD_S,
    )
    answer: dict = json.loads(done.stdout)
    return answer


def imports(name: str, tree: Tree) -> bool:
    """Whether a module of this package finds what it needs in that tree."""
    command = [tree.python, "-c", f"import {name}"]
    done = subprocess.run(command, env=tree.environment(), stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def load(**job: object) -> dict:
    """A load of HTTP requests, as :mod:`benchmarks.load` tells; raises where any was refused."""
    answer = module("benchmarks.load", job=job)
    if answer["refused"]:
        raise SystemExit(f"{answer['refused']} requests were refused: {answer['example']}")
    return answer


def post_once(
    port: int, path: str, headers: dict[str, str], body: object, *, status: int = 200
) -> dict:
    """One request, its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        sent = {"content-type": "application/json", **headers}
        connection.request("POST", path, json.dumps(body), sent)
        response = connection.getresponse()
        told = response.read()
    if response.status != status:
        raise SystemExit(f"{path}: {response.status} {told[:300]!r}")
    answer: dict = json.loads(told)
    return answer


def rss_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found.group(1)) / 1024 if found else 0.0


def peak_mib(pid: int) -> float:
    """The most memory that a process has had so far."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found.group(1)) / 1024 if found else 0.0


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_bytes(pid: int) -> int:
    """What a process has read from files so far, from the kernel's cache or not."""
    io = Path(f"/proc/{pid}/io").read_text(encoding="ascii")
    found = re.search(r"rchar: (\d+)", io)
    return int(found.group(1)) if found else 0
