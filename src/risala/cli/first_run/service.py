"""The service that the first run ends with: the one that runs, systemd's, or a child of ours."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import trio

from risala.cli.reach.client import NotListening, RemoteGateway, connect
from risala.cli.reach.refused import CommandRefused

SYSTEM_FILE: Final = Path("/etc/risala/risala.toml")
"""The settings of the service that systemd runs."""
SYSTEM_DATA: Final = Path("/var/lib/risala")
"""The data of the service that systemd runs, as its unit says."""
_BOOTED: Final = Path("/run/systemd/system")
"""Is there where systemd runs the machine (sd_booted(3))."""
_START_S: Final = 60.0
_AGAIN_S: Final = 0.1
_STOP_S: Final = 45.0
"""As ``TimeoutStopSec`` of the unit: longer than the service's own patience."""
_LINES_KEPT: Final = 200
_LINES_TOLD: Final = 2
"""The last ones: why it ended."""
_RUNNING: Final = "Risala is running at "


def is_of_systemd(path: Path) -> bool:
    """Whether systemd runs the service of these settings, and we may tell it to."""
    return path == SYSTEM_FILE and os.geteuid() == 0 and _BOOTED.is_dir()


def is_ours(data: Path) -> bool:
    """Whether a data directory is this user's own, or not there yet."""
    try:
        return data.stat().st_uid == os.geteuid()
    except FileNotFoundError:
        return True


async def by_systemd() -> None:
    """Have systemd start the service, or start it again.

    Raises:
        CommandRefused: systemd could not.
    """
    for command in (("enable", "risala"), ("restart", "risala")):
        done = await trio.run_process(
            ["systemctl", *command], capture_stdout=True, capture_stderr=True, check=False
        )
        if done.returncode:
            reason = done.stderr.decode(errors="replace").strip()
            raise CommandRefused(
                f"systemd does not start the service. {reason}"
                " `journalctl -u risala -n 20` says why."
            )


class ChildService:
    """``risala serve`` as a child of this process.

    Args:
        settings: the settings' file.
        data: its data directory.
    """

    def __init__(self, settings: Path, data: Path) -> None:
        self._command = [*_risala(), "serve", "--config", str(settings), "--data", str(data)]
        self._lines: deque[str] = deque(maxlen=_LINES_KEPT)
        self._shows = False
        self._ready = trio.Event()
        self._ended = trio.Event()
        self.url = ""

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run it until it ends, and stop it when this task is cancelled.

        ``task_status`` is started once the service answers.

        Raises:
            CommandRefused: it ended before.
        """
        process = await trio.lowlevel.open_process(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._read, process.stdout)
            nursery.start_soon(self._read, process.stderr)
            nursery.start_soon(self._watch, process)
            try:
                with trio.move_on_after(_START_S):
                    await self._ready.wait()
                if self.url:
                    task_status.started()
                    await self._ended.wait()
            finally:
                with trio.CancelScope(shield=True):
                    await _stop(process)
            nursery.cancel_scope.cancel()
        if not self.url:
            reason = " ".join([*self._lines][-_LINES_TOLD:])
            raise CommandRefused(f"The service does not start. {reason}")

    async def wait(self) -> None:
        """Show what the service prints, until it ends."""
        for line in self._lines:
            print(line, file=sys.stderr)
        self._shows = True
        await self._ended.wait()

    async def _watch(self, process: trio.Process) -> None:
        await process.wait()
        self._ended.set()
        self._ready.set()

    async def _read(self, stream: trio.abc.ReceiveStream) -> None:
        begun = b""
        async for chunk in stream:
            *whole, begun = (begun + chunk).split(b"\n")
            for line in (each.decode(errors="replace") for each in whole):
                self._hear(line)

    def _hear(self, line: str) -> None:
        if line.startswith(_RUNNING):
            self.url = line.removeprefix(_RUNNING).strip()
            self._ready.set()
        elif self._shows:
            print(line, file=sys.stderr)
        else:
            self._lines.append(line)


async def _stop(process: trio.Process) -> None:
    if process.poll() is None:
        process.terminate()
        with trio.move_on_after(_STOP_S):
            await process.wait()
    if process.poll() is None:
        process.kill()
    await process.wait()


def _risala() -> list[str]:
    """The command of this Risala: the module of this Python, or the one file that has all in it."""
    if zipfile.is_zipfile(sys.argv[0]):
        return [sys.executable, sys.argv[0]]
    return [sys.executable, "-P", "-m", "risala"]


async def is_running(data: Path) -> bool:
    """Whether a service answers on a data directory."""
    try:
        async with connect(data):
            return True
    except (NotListening, OSError):
        return False


@asynccontextmanager
async def reached(data: Path) -> AsyncIterator[RemoteGateway]:
    """The service that starts or runs on a data directory.

    Raises:
        CommandRefused: none answers in time.
    """
    until = trio.current_time() + _START_S
    while True:
        try:
            async with connect(data) as gateway:
                if await gateway.upgrading() is None:
                    yield gateway
                    return
        except NotListening:
            pass
        if trio.current_time() > until:
            raise CommandRefused(
                "The service does not answer. `journalctl -u risala -n 20` says why."
            )
        await trio.sleep(_AGAIN_S)
