"""Processes of `risala` that are forked from one that has imported it already.

A service takes two seconds of processor time to start, most of them for its imports, and the tests
start hundreds. A process that is forked is a process of its own like any other: it has its own
session, can be killed, and runs the same command line. ``RISALA_TESTS_EXEC=1`` starts each of them
whole instead.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from forked_processes.kept_templates import FOLDER
from patience import HANG_S, POLL_S

_SERVER: Final = Path(__file__).with_name("server.py")
REQUEST_BYTES_MAX: Final = 1 << 16
"""A command line with its whole environment."""


class ForkedProcess:
    """As much of :class:`subprocess.Popen` as tests use."""

    def __init__(self, server: ForkServer, pid: int, streams: Mapping[str, Any]) -> None:
        self._server = server
        self._ended = threading.Event()
        self.pid = pid
        self.returncode: int | None = None
        self.stdin = streams["stdin"]
        self.stdout = streams["stdout"]
        self.stderr = streams["stderr"]

    def end(self, status: int) -> None:
        self.returncode = os.waitstatus_to_exitcode(status)
        self._ended.set()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            assert timeout is not None
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """The process that has imported `risala`, as its clients see it."""

    def __init__(self) -> None:
        self._socket = _connected()
        self._lock = threading.Lock()
        self._answers = threading.Condition()
        self._pids: list[int] = []
        self._running: dict[int, ForkedProcess] = {}
        self._early: dict[int, int] = {}
        threading.Thread(target=self._listen, daemon=True).start()
        atexit.register(self.close)

    def close(self) -> None:
        """It ends as nobody can ask it any more."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def start(
        self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], *, typed: bool
    ) -> ForkedProcess:
        """Fork ``python -m risala`` with these arguments."""
        out, err = os.pipe(), os.pipe()
        into = os.pipe() if typed else None
        null = None if into else os.open(os.devnull, os.O_RDONLY)
        theirs = [into[0] if into else null, out[1], err[1]]
        streams = {
            "stdin": None if into is None else os.fdopen(into[1], "w"),
            "stdout": os.fdopen(out[0]),
            "stderr": os.fdopen(err[0]),
        }
        return self.start_on(theirs, argv, cwd, environ, streams)

    def start_on(
        self,
        theirs: Sequence[int],
        argv: Sequence[str],
        cwd: Path,
        environ: Mapping[str, str],
        streams: Mapping[str, Any],
    ) -> ForkedProcess:
        """Fork it on descriptors of its own, which are closed here; ``streams`` are their ends."""
        told = {"argv": [*argv], "cwd": str(cwd), "environ": dict(environ)}
        with self._lock:
            try:
                socket.send_fds(self._socket, [json.dumps(told).encode()], theirs)
            finally:
                for each in theirs:
                    os.close(each)
            with self._answers:
                assert self._answers.wait_for(lambda: bool(self._pids), 120), "no process was made"
                pid = self._pids.pop()
                process = ForkedProcess(self, pid, streams)
                if pid in self._early:
                    process.end(self._early.pop(pid))
                else:
                    self._running[pid] = process
        return process

    def _listen(self) -> None:
        while message := self._socket.recv(64):
            word, pid, status = message.split()
            with self._answers:
                if word == b"began":
                    self._pids.append(int(pid))
                elif (ended := self._running.pop(int(pid), None)) is not None:
                    ended.end(int(status))
                else:
                    self._early[int(pid)] = int(status)
                self._answers.notify_all()


def _connected() -> socket.socket:
    """To the process that imports for the whole run, which the first one that needs it starts."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        folder = tempfile.mkdtemp(prefix="risala-forks-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    place = Path(folder, "forks")
    with open(f"{place}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ours = _connected_at(place)
        if ours is None:  # nobody needed it, or nobody any more
            place.unlink(missing_ok=True)
            _start_at(place)
            ours = _connected_at(place)
        assert ours is not None, "no process of `risala` can be forked"
        return ours


def _start_at(place: Path) -> None:
    environ = {n: v for n, v in os.environ.items() if not n.startswith("RISALA_")}
    global _importing
    _importing = subprocess.Popen(
        [sys.executable, str(_SERVER), str(place)],
        env=environ | {"PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    until_s = time.monotonic() + HANG_S
    while not place.exists() and _importing.poll() is None and time.monotonic() < until_s:
        time.sleep(POLL_S)


def _connected_at(place: Path) -> socket.socket | None:
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with suppress(OSError):
        ours.connect(str(place))
        if ours.recv(64) == b"here":
            return ours
    ours.close()
    return None


_importing: subprocess.Popen[bytes] | None = None
"""Where this process started it: nobody waits for it, as it ends after this one."""
_server: ForkServer | None = None
_starting = threading.Lock()


def is_risala(command: Sequence[object]) -> bool:
    """Whether a command is one that may be forked."""
    return [*map(str, command[:3])] == [sys.executable, "-m", "risala"] and not os.environ.get(
        "RISALA_TESTS_EXEC"
    )


def server() -> ForkServer:
    """The one of this process of tests."""
    global _server
    with _starting:
        _server = _server or ForkServer()
    return _server


def start(
    command: Sequence[object], cwd: Path, environ: Mapping[str, str], *, typed: bool
) -> ForkedProcess:
    """Fork a command for which :func:`is_risala` is true."""
    return server().start([*map(str, command[3:])], cwd, environ, typed=typed)
