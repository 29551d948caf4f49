"""A GSM modem to try things against: a pseudo-terminal that clients take for a serial port.

In a test or another program, under Trio::

    simulator = ModemSimulator(link=tmp_path / "modem")
    async with trio.open_nursery() as nursery:
        path = await nursery.start(simulator.run)        # str: the link, or /dev/pts/N without one
        …                                                # open it: port = path
        received = await simulator.wait(MessageReceived) # a phone has a whole message
        assert received.text == "Hello"
        simulator.receive("+33612345678", "Yes")         # a phone answers
        nursery.cancel_scope.cancel()

With a ``link`` the path stays the same after the port was gone; without one it changes each time.
Events are passed to ``on_event``, kept in ``events``, and can be waited for. The actions are below
(``receive``, ``set_signal``, ``set_registration``, ``hang``, ``wake``, ``vanish``, ``come_back``,
``restart``, ``configure``, ``perform``); ``modem`` is the modem itself. Its behaviour is a
:class:`ModemConfig` and a :class:`ModemBehaviour`; docs/reference/modem-simulator.md explains all
of it. With one ``seed`` and the same traffic two runs are the same.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import trio

from risala.lab.modem.modem import SimulatedModem
from risala.lab.modem.ports import PortLink, PortLinkError, PtyStream
from risala.lab.modem.quirks import (
    SICK,
    LineRules,
    ModemBehaviour,
    Quirk,
    QuirkKind,
    ReportRules,
    SendRefusal,
    Until,
)
from risala.lab.modem.script.actions import ActionError, Script, ScriptStep, perform
from risala.lab.modem.world.config import ModemConfig, ReferenceForm, ReportStatus
from risala.lab.modem.world.events import (
    CallCame,
    CallEnded,
    CommandAnswered,
    Heard,
    InboundSent,
    MessageReceived,
    Misbehaved,
    ModemEvent,
    ModemStarted,
    PortGone,
    PortOpened,
    ReportSent,
    SignalChanged,
    Submitted,
    Trouble,
    UssdAsked,
    Waiting,
)
from risala.lab.modem.world.phones import Dice
from risala.lab.modem.world.profiles import PROFILES, Profile

__all__ = [
    "PROFILES",
    "SICK",
    "ActionError",
    "CallCame",
    "CallEnded",
    "CommandAnswered",
    "Heard",
    "InboundSent",
    "LineRules",
    "MessageReceived",
    "Misbehaved",
    "ModemBehaviour",
    "ModemConfig",
    "ModemEvent",
    "ModemSimulator",
    "ModemStarted",
    "PortGone",
    "PortLinkError",
    "PortOpened",
    "Profile",
    "Quirk",
    "QuirkKind",
    "ReferenceForm",
    "ReportRules",
    "ReportSent",
    "ReportStatus",
    "ScriptStep",
    "SendRefusal",
    "SignalChanged",
    "Submitted",
    "Trouble",
    "Until",
    "UssdAsked",
    "Waiting",
]

EVENTS_KEPT_MAX: Final = 10_000

T = TypeVar("T", bound=ModemEvent)


def _wall() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)


def unheard(_: ModemEvent) -> None:
    """Events can be read from ``events``, or waited for."""


def whichever(_: ModemEvent) -> bool:
    """Any event of its kind will do."""
    return True


class ModemSimulator:
    """One simulated modem and its port.

    Args:
        link: a symbolic link to make to the port; while the port is gone the link is missing.
        quirks: its faults; None is all of :data:`SICK` for the profile ``sick``, else no faults.
        listen: a host and a TCP port to be opened at, instead of a pseudo-terminal, as ser2net
            does; port 0 takes a free one. One client at a time.
        on_event: called with each event, as it happens. Must not block.
        wall: the network's clock, with its time zone.
    """

    def __init__(
        self,
        config: ModemConfig | None = None,
        *,
        link: Path | None = None,
        listen: tuple[str, int] | None = None,
        seed: int = 1,
        quirks: Sequence[Quirk] | None = None,
        refusals: Sequence[SendRefusal] = (),
        reports: ReportRules | None = None,
        line: LineRules | None = None,
        steps: Sequence[ScriptStep] = (),
        on_event: Callable[[ModemEvent], None] = unheard,
        wall: Callable[[], datetime] = _wall,
    ) -> None:
        self._on_event = on_event
        self.events: deque[ModemEvent] = deque(maxlen=EVENTS_KEPT_MAX)
        """The latest, oldest first."""
        self.path = ""
        """The path at which the modem can be opened; empty while the port is gone."""
        dice: Dice = random.Random(seed)  # noqa: S311 - nothing secret
        self.modem: SimulatedModem
        self._dice = dice
        self._config = config or ModemConfig()
        if quirks is None:
            quirks = tuple(SICK.values()) if self._config.profile.name == "sick" else ()
        self._mood = ModemBehaviour(dice, quirks, refusals, reports, line)
        self._steps = steps
        self._script: Script | None = None
        self._wall = wall
        self._link = PortLink(link) if link is not None else None
        self._listen = listen
        self._changed = trio.Event()
        self._event_came = trio.Event()
        self._client: trio.abc.Stream | None = None

    async def run(self, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; ``task_status`` is started with the path.

        Raises:
            PortLinkError: the link cannot be made.
            OSError: the TCP port cannot be listened on.
        """
        serve = self._serve_pty if self._listen is None else self._serve_tcp
        async with trio.open_nursery() as nursery:
            await nursery.start(self.run_without_port)
            task_status.started(await nursery.start(serve))

    async def run_without_port(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """As :meth:`run`, without a port: clients come by :meth:`serve_stream` alone. Works under a
        mock clock too."""
        self.modem = SimulatedModem(
            self._config,
            dice=self._dice,
            now_s=trio.current_time,  # made here, because Trio's clock exists only within a run
            wall=self._wall,
            tell=self._tell,
            mood=self._mood,
        )
        self._script = Script(self.modem, self._steps)
        task_status.started()
        while True:
            self.modem.advance()
            self._kick()
            changed, due_s = self._changed, self.modem.due_s
            with trio.CancelScope(deadline=float("inf") if due_s is None else due_s):
                await changed.wait()

    async def serve_stream(self, stream: trio.abc.Stream) -> None:
        """Serve one client at a time over any stream, until the port or the client is gone."""
        if self._client is None and self.modem.power.is_present:
            self._client = stream
            self.modem.take_output()  # output without a client
            try:
                await self._converse(stream)
            finally:
                self._client = None
        await trio.aclose_forcefully(stream)

    # -- events ------------------------------------------------------------------------------------

    def _tell(self, event: ModemEvent) -> None:
        self.events.append(event)
        self._event_came.set()
        self._event_came = trio.Event()
        if self._script is not None:
            self._script.hear(event)
        self._on_event(event)

    async def wait(
        self, kind: type[T], which: Callable[[T], bool] = whichever, count: int = 1
    ) -> T:
        """The ``count``-th event of a kind for which ``which`` is true; earlier events count
        too."""
        while True:
            fitting = [event for event in self.events if isinstance(event, kind) and which(event)]
            if len(fitting) >= count:
                await trio.lowlevel.checkpoint()
                return fitting[count - 1]
            await self._event_came.wait()

    # -- actions -----------------------------------------------------------------------------------

    def receive(self, sender: str, text: str, **how: Any) -> None:  # noqa: ANN401 - as send()
        """A phone sends a message to the SIM: see :meth:`.network.SimulatedNetwork.send`.

        Raises:
            PduError: no PDU can hold it.
        """
        self.modem.network.send(sender, text, **how)
        self._kick()

    def set_signal(self, signal: int) -> None:
        """Set the signal: 0 to 31, or 99 for unknown."""
        self.modem.set_signal(signal)
        self._kick()

    def set_registration(self, stat: int) -> None:
        """Set ``<stat>`` of +CREG: 1 home, 2 searching, 3 denied, 5 roaming."""
        self.modem.set_registration(stat)
        self._kick()

    def hang(self, for_s: float | None = None, until: Until = Until.NOTHING) -> None:
        """Receive and output nothing from now on."""
        self.modem.power.hang(for_s, until)
        self._kick()

    def wake(self) -> None:
        self.modem.power.wake()
        self._kick()

    def vanish(self, for_s: float | None = None) -> None:
        """Take the port away, for ``for_s`` seconds or until :meth:`come_back`."""
        self.modem.power.vanish(for_s)
        self._kick()

    def come_back(self) -> None:
        self.modem.power.come_back()
        self._kick()

    def restart(self) -> None:
        """Restart, as after a power cut: every setting is lost."""
        self.modem.power.restart("power cut")
        self._kick()

    def configure(self, **changes: Any) -> None:  # noqa: ANN401 - as dataclasses.replace
        """Change its :class:`ModemConfig`: ``report_after_s=5``."""
        self.modem.configure(**changes)

    def perform(self, line: str) -> None:
        """Do the action of a console line: ``sms +33612345678 Yes``.

        Raises:
            ActionError: it cannot be done.
        """
        perform(self.modem, line)
        self._kick()

    def _kick(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    # -- its port ----------------------------------------------------------------------------------

    async def _serve_pty(
        self, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED
    ) -> None:
        while True:
            await self._until(lambda: self.modem.power.is_present)
            async with self._pty() as stream:
                task_status.started(self.path)
                task_status = trio.TASK_STATUS_IGNORED
                await self._converse(stream)

    @asynccontextmanager
    async def _pty(self) -> AsyncIterator[PtyStream]:
        stream = PtyStream()
        try:
            if self._link is not None:
                self._link.make(stream.path)
            self.path = str(self._link.path) if self._link else stream.path
            self._tell(PortOpened(stream.path, str(self._link.path) if self._link else None))
            yield stream
        finally:
            self.path = ""
            if self._link is not None:
                self._link.remove()
            stream.close()

    async def _serve_tcp(
        self, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED
    ) -> None:
        assert self._listen is not None
        host, port = self._listen
        listeners = await trio.open_tcp_listeners(port, host=host)
        port = listeners[0].socket.getsockname()[1]
        self.path = f"socket://{host}:{port}"
        self._tell(PortOpened(self.path))
        task_status.started(self.path)
        await trio.serve_listeners(self.serve_stream, listeners)

    async def _converse(self, stream: trio.abc.Stream) -> None:
        """Serve a client until the port or the client is gone."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hear, stream, nursery.cancel_scope)
            nursery.start_soon(self._say, stream, nursery.cancel_scope)
            await self._until(lambda: not self.modem.power.is_present)
            nursery.cancel_scope.cancel()

    async def _hear(self, stream: trio.abc.Stream, scope: trio.CancelScope) -> None:
        try:
            while octets := await stream.receive_some(4096):
                self.modem.receive(bytes(octets))
                self._kick()
        except trio.BrokenResourceError:
            pass
        scope.cancel()

    async def _say(self, stream: trio.abc.Stream, scope: trio.CancelScope) -> None:
        try:
            while True:
                changed = self._changed
                if octets := self.modem.take_output():
                    await stream.send_all(octets)
                else:
                    await changed.wait()
        except trio.BrokenResourceError:
            scope.cancel()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()
