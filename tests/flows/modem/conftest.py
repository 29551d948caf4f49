"""A service with modems: each on a real pseudo-terminal, with a hand on the wire.

The simulated modems live in a thread of the test's process, so that they outlive a service that is
killed. Between a modem and its port is a :class:`Wire`, which can spoil one send at a point of its
dialogue that is told to the octet.
"""

from __future__ import annotations

import fcntl
import os
import re
import termios
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trio
from trio.testing import memory_stream_pair

from patience import HANG_S
from risala.lab.modem.ports import PortLink, PtyStream
from risala.lab.modem.simulator import (
    MessageReceived,
    ModemConfig,
    ModemEvent,
    ModemSimulator,
    Until,
    unheard,
)

EMPTY_LOOKS = 25
"""At a terminal that seems to be read empty, a hundredth of a second apart."""
NOISE = b"\r\n\xff\xfe\x80\x13^@#~\x00\xf8garb\r\nage> \r\n"
GONE_S = 0.3
_CMGS = re.compile(rb"\+CMGS: ?[0-9]+\r\n")

T = TypeVar("T", bound=ModemEvent)
R = TypeVar("R")


class Point(StrEnum):
    """Where a send is spoilt."""

    PROMPT = "before the prompt"
    """The modem waits for the body; nobody has been told."""
    BODY = "after the prompt"
    """Half of the body has arrived, and no Ctrl-Z."""
    ANSWER = "after Ctrl-Z, before +CMGS"
    """The network has the message."""
    OK = "after +CMGS, before OK"


class Spoil(StrEnum):
    STALL = "stall"
    """Nothing comes through any more, until :meth:`Wire.resume`."""
    HANG = "hang"
    """The modem says and hears nothing, until an ESC is typed."""
    VANISH = "vanish"
    """The modem is unplugged for a moment."""
    GARBAGE = "garbage"
    """Noise comes in the place of what should have come."""


class Wire:
    """Passes octets between a service's port and its modem, until a send is to be spoilt."""

    def __init__(self, simulator: ModemSimulator, link: Path) -> None:
        self._simulator = simulator
        self._link = PortLink(link)
        self.port = str(link)
        self.reached = threading.Event()
        """The point was reached, and it was spoilt."""
        self._point: Point | None = None
        self._spoil = Spoil.STALL
        self._is_shut = False
        self._plugged_in: trio.Event | None = None
        self._scope = trio.CancelScope()
        self._heard = b""
        self._said = b""

    # -- what tests do to it (in the station's thread) ------------------------------------------

    def arm(self, point: Point, spoil: Spoil) -> None:
        """Spoil the next send there, once."""
        self._point, self._spoil = point, spoil
        self._heard = self._said = b""
        self.reached.clear()

    def resume(self) -> None:
        self._is_shut = False

    def unplug(self) -> None:
        """Until :meth:`plug_in`."""
        self._plugged_in = trio.Event()
        self._scope.cancel()

    def plug_in(self) -> None:
        self._plugged_in.set()

    # -- what it does ---------------------------------------------------------------------------

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        while True:
            stream = PtyStream()
            self._link.make(stream.path)
            task_status.started()
            task_status = trio.TASK_STATUS_IGNORED
            self._is_shut = False
            try:
                with trio.CancelScope() as self._scope:
                    await self._pass_on(stream)
            finally:
                self._link.remove()
                stream.close()
            self._simulator.vanish()
            if self._plugged_in is None:
                await trio.sleep(GONE_S)
            else:
                await self._plugged_in.wait()
                self._plugged_in = None
            self._simulator.come_back()

    async def _pass_on(self, port: trio.abc.Stream) -> None:
        ours, theirs = memory_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._simulator.serve_stream, theirs)
            nursery.start_soon(self._up, port, ours)
            nursery.start_soon(self._down, ours, port)

    async def _up(self, port: trio.abc.Stream, modem: trio.abc.Stream) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while octets := bytes(await port.receive_some()):
                if self._is_shut:
                    continue
                if self._point is Point.BODY and b">" in self._said:
                    await modem.send_all(octets[: len(octets) // 2])
                    await self._spoil_now(port)
                    continue
                self._heard += octets if self._point else b""
                await modem.send_all(octets)

    async def _down(self, modem: trio.abc.Stream, port: trio.abc.Stream) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while octets := bytes(await modem.receive_some()):
                if self._is_shut:
                    continue
                if self._point and b"AT+CMGS=" in self._heard:
                    octets = await self._watch(octets, port)
                await port.send_all(octets)

    async def _watch(self, octets: bytes, port: trio.abc.Stream) -> bytes:
        """What may go on of what the modem says in a send."""
        self._said += octets
        match self._point:
            case Point.PROMPT if b">" in octets:
                await self._spoil_now(port)
                return b""
            case Point.ANSWER | Point.OK if b"\x1a" in self._heard:
                found = _CMGS.search(self._said)
                if found is None:
                    return octets
                told = self._said[: found.end()][-len(octets) :]
                if self._point is Point.OK:
                    await port.send_all(told)
                    await self._until_read()
                await self._spoil_now(port)
                return b""
        return octets

    async def _until_read(self) -> None:
        """Until the service has taken it: what lies in a terminal is gone with it.

        The kernel brings octets from one end to the other in its own time, and tells nobody when:
        only an end that stays empty for a while has been read empty.
        """
        fd = os.open(self.port, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            empty = 0
            while empty < EMPTY_LOOKS:
                await trio.sleep(0.01)
                unread = any(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))
                empty = 0 if unread else empty + 1
        finally:
            os.close(fd)

    async def _spoil_now(self, port: trio.abc.Stream) -> None:
        self._point = None
        match self._spoil:
            case Spoil.STALL:
                self._is_shut = True
            case Spoil.HANG:
                self._simulator.hang(until=Until.ESCAPE)
            case Spoil.VANISH:
                self._scope.cancel()
            case Spoil.GARBAGE:
                await port.send_all(NOISE)
        self.reached.set()


class Line:
    """One modem with its wire, as tests see it: from another thread."""

    def __init__(self, station: Station, name: str, path: Path, simulator: ModemSimulator) -> None:
        self.name = name
        self._station = station
        self.simulator = simulator
        self.wire = Wire(self.simulator, path / name)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(self.simulator.run_without_port)
            await nursery.start(self.wire.run)
            task_status.started()

    def do(self, action: Callable[[], R]) -> R:
        """Run it in the station's thread."""
        return self._station.do(action)

    def receive(self, sender: str, text: str, **how: Any) -> None:
        self.do(lambda: self.simulator.receive(sender, text, **how))

    def configure(self, **changes: Any) -> None:
        self.do(lambda: self.simulator.configure(**changes))

    def arm(self, point: Point, spoil: Spoil) -> None:
        self.do(lambda: self.wire.arm(point, spoil))

    def wait_reached(self) -> None:
        assert self.wire.reached.wait(HANG_S), f"{self.name} did not come to its point"

    def events(self, kind: type[T]) -> list[T]:
        found = self.do(lambda: list(self.simulator.events))
        return [event for event in found if isinstance(event, kind)]

    def texts(self) -> Counter[str]:
        """How often each text reached a phone."""
        return Counter(event.text for event in self.events(MessageReceived))

    def stored(self) -> int:
        """Messages that lie in the modem."""
        storages = self.do(lambda: dict(self.simulator.modem.stores))
        return sum(each.used for each in storages.values())


class Station:
    """A thread with modems in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ready = threading.Event()
        self._token: trio.lowlevel.TrioToken
        self._nursery: trio.Nursery
        self._thread = threading.Thread(target=trio.run, args=(self._main,))
        self._thread.start()
        assert self._ready.wait(HANG_S)

    async def _main(self) -> None:
        async with trio.open_nursery() as self._nursery:
            self._token = trio.lowlevel.current_trio_token()
            self._ready.set()
            await trio.sleep_forever()

    def do(self, action: Callable[[], R]) -> R:
        return trio.from_thread.run_sync(action, trio_token=self._token)

    def modem(
        self, name: str, *, on_event: Callable[[ModemEvent], None] = unheard, **config: Any
    ) -> Line:
        """One whose port is there; its network answers quickly unless told otherwise."""
        options = ModemConfig(**{"report_after_s": 0.1, **config})
        line = Line(self, name, self._path, ModemSimulator(options, on_event=on_event))
        trio.from_thread.run(self._nursery.start, line.run, trio_token=self._token)
        return line

    def close(self) -> None:
        self.do(self._nursery.cancel_scope.cancel)
        self._thread.join(HANG_S)
        assert not self._thread.is_alive()


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Station]:
    station = Station(tmp_path)
    try:
        yield station
    finally:
        station.close()


def table(line: Line, carrier: Mapping[str, str], modem: Mapping[str, Any]) -> str:
    settings: dict[str, Any] = {
        "port": line.wire.port,
        "prompt_timeout_s": 0.5,
        "send_timeout_s": 5,
        "check_every_s": 1,
        "reopen_first_s": 0.1,
        "reopen_max_s": 0.5,
        **modem,
    }
    rows = [
        "[[carriers]]",
        f'name = "{line.name}"\ndriver = "modem"\nrate_per_s = 100',
        *(f"{key} = {value}" for key, value in carrier.items()),
        "[carriers.modem]",
        *(
            f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
            for key, value in settings.items()
        ),
    ]
    return "\n".join(rows)


@pytest.fixture
def running(premises: Any, tmp_path: Path, until: Callable[..., Any]) -> Callable[..., Any]:
    """``running(lines, carriers={name: {key: toml}}, more="")``: a service whose modems are up."""

    def start(
        *lines: Line,
        carriers: Mapping[str, Mapping[str, str]] | None = None,
        more: str = "",
        **modem: Any,
    ) -> Any:
        tables = [table(line, (carriers or {}).get(line.name, {}), modem) for line in lines]
        config = tmp_path / "modems.toml"
        config.write_text("\n".join([more, *tables]), encoding="utf-8")
        service = premises.service("--config", str(config))
        service.start()
        until(lambda: up(service) == {line.name for line in lines}, "every modem is up")
        return service

    return start


def up(service: Any) -> set[str]:
    """The carriers that are up."""
    found = service.perform("carriers")["carriers"]
    return {each["name"] for each in found if each["state"] == "up"}


@pytest.fixture(name="up")
def up_fixture() -> Callable[[Any], set[str]]:
    return up


@pytest.fixture
def points() -> type[Point]:
    return Point


@pytest.fixture
def spoils() -> type[Spoil]:
    return Spoil
