"""A modem under examination: its port, the way to ask it, and its unsolicited lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import trio

from risala.drivers.modem.at.engine import Answer, Urc
from risala.drivers.modem.doctor.findings import Findings
from risala.drivers.modem.port import serial
from risala.drivers.modem.port.host import Host
from risala.drivers.modem.ready.pin import PinMemory
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.talk.asking import Asker
from risala.drivers.modem.talk.link import ANSWER_S, AtLink

OpenPort = Callable[[str, int], Awaitable[trio.abc.Stream]]

_HEARD_MAX: Final = 4096
_CLOSE_S: Final = 8.0
_URCS_MAX: Final = 20


class Tap(trio.abc.Stream):
    """Passes everything on and remembers the latest octets that came."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self.heard = b""

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        octets = bytes(await self._stream.receive_some(max_bytes))
        self.heard = (self.heard + octets)[-_HEARD_MAX:]
        return octets

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


class _NotingAsker(Asker):
    """Asks, and notes which commands the modem does not answer."""

    def __init__(self, link: AtLink) -> None:
        super().__init__(link)
        self.silent_to: dict[str, None] = {}

    async def try_(
        self, text: str, timeout_s: float = ANSWER_S, *, by_operator: bool = False
    ) -> Answer | None:
        answer = await super().try_(text, timeout_s, by_operator=by_operator)
        if answer is None:
            self.silent_to[text.partition("=")[0]] = None
        return answer


class Bench:
    """The checks' shared state of one modem. ``link``, ``asker`` and ``tap`` are set once the port
    is open (:meth:`open`)."""

    link: AtLink
    asker: _NotingAsker
    tap: Tap

    def __init__(
        self,
        settings: ModemSettings,
        *,
        memory: PinMemory,
        types_anyway: bool,
        host: Host,
        open_port: OpenPort = serial.open_port,
        is_there: Callable[[str], bool] = serial.is_there,
    ) -> None:
        self.settings = settings
        self.port = settings.port
        self.memory = memory
        self.types_anyway = types_anyway
        """Type the PIN even after a wrong one, or if the modem does not report the remaining
        tries."""
        self.host = host
        self.is_there = is_there
        self.findings = Findings(settings.port)
        self.sim_word = ""
        self._open_port = open_port
        self._urcs: Counter[str] = Counter()
        self._is_open = False
        self._nursery: trio.Nursery

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Within this context the port is read from when :meth:`open` opens it; closed at the
        end."""
        async with trio.open_nursery() as self._nursery:
            try:
                yield
            finally:
                if self._is_open:
                    with trio.move_on_after(_CLOSE_S, shield=True):
                        await self.tap.aclose()
                self._nursery.cancel_scope.cancel()
        self._note_habits()

    async def open(self) -> None:
        """Open the port.

        Raises:
            PortError: it cannot be opened.
        """
        self.tap = Tap(await self._open_port(self.port, self.settings.baud))
        self.link = AtLink(self.tap, on_urc=self._on_urc)
        self.asker = _NotingAsker(self.link)
        self._is_open = True
        self._nursery.start_soon(self.link.run)

    def _on_urc(self, urc: Urc) -> None:
        # +GCAP is the last line of the answer to ATI on many modems: it is not unsolicited, but
        # looks like it, because ATI's rows have no name to recognise them by.
        if urc.name == "+GCAP":
            return
        if urc.name in self._urcs or len(self._urcs) < _URCS_MAX:
            self._urcs[urc.name] += 1

    def note(self, quirk: str) -> None:
        if quirk not in self.findings.quirks:
            self.findings.quirks.append(quirk)

    def _note_habits(self) -> None:
        """Note the modem's habits that its link noticed during the checks."""
        if not self._is_open:
            return
        for command in self.asker.silent_to:
            self.note(f"silent to {command}")
        if self._urcs:
            self.note(f"talks unasked: {', '.join(sorted(self._urcs))}")
        if self.link.noise_octets:
            self.note(f"noise: {self.link.noise_octets} octets that make no sense")
