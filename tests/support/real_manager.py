"""The ModemManager of Debian on a bus of its own, with our simulated modems as its devices.

Its test interface takes a modem whose port is a Unix socket, so that neither udev nor a serial
device of the kernel is needed; all above the port is what people run. ``MODEM_MANAGER`` names the
program of another release: 1.20.4 and 1.24.0, those of Debian 12 and 13, were tried.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Never

import pytest
import trio

from patience import HANG_S, POLL_S
from risala.drivers.modem.manager.bus import BusCallError, BusGoneError, ModemBus, open_bus
from risala.drivers.modem.manager.words import MANAGER, ROOT
from risala.lab.modem.simulator import ModemSimulator
from risala.lab.modem.world.config import ModemConfig

PROGRAM: Final = os.environ.get("MODEM_MANAGER", "ModemManager")
LACKS = [name for name in (PROGRAM, "dbus-daemon") if shutil.which(name) is None]
needs_manager = pytest.mark.skipif(
    bool(LACKS), reason=f"{' and '.join(LACKS)} are not here: apt-get install modemmanager dbus"
)
SAID_LINES: Final = 60
"""The last lines of ModemManager's log that stand below a test that failed."""
TEST = ("--test-session", "--test-enable", "--test-no-udev", "--test-no-suspend-resume")


class RealManager:
    """A bus, and ModemManager on it, for the length of a test."""

    def __init__(self, place: Path, nursery: trio.Nursery) -> None:
        self.address = f"unix:path={place}/bus"
        self._place = place
        self._nursery = nursery
        self._bus: trio.Process | None = None
        self._manager: trio.Process | None = None

    async def start_bus(self) -> None:
        command = ["dbus-daemon", "--session", "--nofork", f"--address={self.address}"]
        with (self._place / "bus.log").open("ab") as log:
            self._bus = await self._process(command, log)

    async def start(self) -> None:
        """Start ModemManager; returns when it is on the bus."""
        with (self._place / "manager.log").open("ab") as log:
            self._manager = await self._process([PROGRAM, *TEST, "--debug"], log)
        while True:
            try:
                async with open_bus(self.address) as bus:
                    await bus.call(ROOT, "org.freedesktop.DBus.Peer.Ping")
                return
            except* (BusCallError, BusGoneError):
                assert self._manager.poll() is None, (self._place / "manager.log").read_text()
            await trio.sleep(POLL_S)

    async def _process(self, command: list[str], log: object) -> trio.Process:
        env = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": self.address}
        return await trio.lowlevel.open_process(command, env=env, stdout=log, stderr=log)

    async def stop(self) -> None:
        """Stop ModemManager, as a restart does."""
        await _end(self._manager)

    async def stop_bus(self) -> None:
        await _end(self._bus)

    async def close(self) -> None:
        for process in (self._manager, self._bus):
            await _end(process)

    async def plug(self, name: str = "one", config: ModemConfig | None = None) -> ModemSimulator:
        """A simulated modem, behind a socket, for ModemManager to take."""
        simulator = ModemSimulator(config)
        await self._nursery.start(simulator.run_without_port)
        path = self._place / name
        socket = trio.socket.socket(trio.socket.AF_UNIX)
        await socket.bind(str(path))
        socket.listen(4)
        self._nursery.start_soon(_serve, simulator, trio.SocketListener(socket))
        await self.take(name)
        return simulator

    def last_said(self) -> str:
        """The end of ModemManager's log."""
        log = self._place / "manager.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return "\n".join(lines[-SAID_LINES:])

    async def take(self, name: str = "one") -> None:
        """ModemManager takes the modem, as at a hot-plug."""
        async with open_bus(self.address) as bus:
            await _take(bus, name, str(self._place / name))


async def _serve(simulator: ModemSimulator, listener: trio.SocketListener) -> Never:
    """One client after the other, as a serial port has them: ModemManager closes its port and opens
    it again at once, and must not be met as a second client."""
    async with listener:
        while True:
            await simulator.serve_stream(await listener.accept())


async def _take(bus: ModemBus, name: str, port: str) -> None:
    await bus.call(ROOT, f"{MANAGER}.Test.SetProfile", "ssas", (name, "generic", [port]))


async def _end(process: trio.Process | None) -> None:
    if process is not None and process.poll() is None:
        process.terminate()
        with trio.move_on_after(10):
            await process.wait()
        if process.poll() is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def real_manager(place: Path) -> AsyncIterator[RealManager]:
    """Within this context ModemManager runs, without a modem at first. Below what fails in it
    stands what ModemManager said last."""
    manager = None
    try:
        with trio.fail_after(HANG_S):
            async with trio.open_nursery() as nursery:
                manager = RealManager(place, nursery)
                try:
                    await manager.start_bus()
                    await manager.start()
                    yield manager
                finally:
                    with trio.CancelScope(shield=True):
                        await manager.close()
                nursery.cancel_scope.cancel()
    except Exception as error:
        if manager is not None:
            error.add_note(f"What ModemManager said last:\n{manager.last_said()}")
        raise
