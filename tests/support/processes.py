"""Real processes whose output is waited for, line by line."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from forked_processes import ForkedProcess, is_risala
from forked_processes import start as start_forked
from patience import HANG_S


def environment() -> dict[str, str]:
    """Ours without what would change the settings, or the output's shape."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RISALA_")}
    return kept | {"PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", "COLUMNS": "80"}


def run(command: Sequence[object], cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. ``more`` goes into its environment."""
    if is_forked(command, more):
        forked = start_forked(command, cwd, environment() | more, typed=False)
        told: dict[str, str] = {}
        readers = [
            threading.Thread(target=_read_all, args=(stream, name, told))
            for name, stream in (("stdout", forked.stdout), ("stderr", forked.stderr))
        ]
        for reader in readers:
            reader.start()
        try:
            status = forked.wait(HANG_S)
        except subprocess.TimeoutExpired:
            os.killpg(forked.pid, signal.SIGKILL)
            raise
        finally:
            for reader in readers:
                reader.join(HANG_S)
        return subprocess.CompletedProcess([*map(str, command)], status, **told)
    return subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=environment() | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )


def is_forked(command: Sequence[object], more: Mapping[str, str]) -> bool:
    """What a loader or the interpreter reads at its start cannot be given to a fork, but where
    modules are; what is said of it as ever is there already."""
    ours = environment()
    odd = {name for name, value in more.items() if ours.get(name) != value} - {"PYTHONPATH"}
    return is_risala(command) and not any(n.startswith(("LD_", "PYTHON")) for n in odd)


def _read_all(stream: IO[str], name: str, told: dict[str, str]) -> None:
    with stream:
        told[name] = stream.read()


class Process:
    """A child whose output is read, line by line, as it comes."""

    def __init__(
        self, command: Sequence[str], cwd: Path, *, typed: bool = False, **more: str
    ) -> None:
        """``typed``: something will be written to it. ``more`` goes into its environment."""
        environ = environment() | more
        self.popen: subprocess.Popen[str] | ForkedProcess
        if is_forked(command, more):
            self.popen = start_forked(command, cwd, environ, typed=typed)
        else:
            self.popen = subprocess.Popen(
                command,
                cwd=cwd,
                env=environ,
                stdin=subprocess.PIPE if typed else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                text=True,
                # Whoever runs the tests in the background has Ctrl-C ignored; a child inherits
                # that.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._changed = threading.Condition()
        self._streams_open = 2
        self._readers = [
            threading.Thread(target=self._read, args=(self.popen.stdout, self.lines)),
            threading.Thread(target=self._read, args=(self.popen.stderr, self.errors)),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Any, into: list[str]) -> None:
        with stream:
            for line in stream:
                with self._changed:
                    into.append(line.rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self._streams_open -= 1
            self._changed.notify_all()

    def wait_line(self, accept: Callable[[str], bool]) -> str:
        """The first line on stdout that is accepted, past ones included."""
        return self._wait(self.lines, accept)

    def wait_error(self, accept: Callable[[str], bool]) -> str:
        """The same on stderr."""
        return self._wait(self.errors, accept)

    def _wait(self, lines: list[str], accept: Callable[[str], bool]) -> str:
        def found() -> str | None:
            return next((line for line in lines if accept(line)), None)

        with self._changed:
            self._changed.wait_for(lambda: found() is not None or not self._streams_open, HANG_S)
            line = found()
        assert line is not None, f"stdout: {self.lines}\nstderr: {self.errors}"
        return line

    def wait_exit(self) -> int:
        """Its exit status; all of its output has been read then."""
        status = self.popen.wait(HANG_S)
        for reader in self._readers:
            reader.join(HANG_S)
        return status

    def signal(self, number: int) -> None:
        self.popen.send_signal(number)

    def interrupt(self) -> None:
        """Ctrl-C: it reaches the whole group, as in a terminal."""
        os.killpg(self.popen.pid, signal.SIGINT)
        self.wait_exit()

    def end(self) -> None:
        """Leave nothing of it behind."""
        if self.popen.stdin is not None:
            with suppress(BrokenPipeError):  # what was written to it as it died is of no use
                self.popen.stdin.close()
        if self.popen.poll() is None:
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.wait_exit()
