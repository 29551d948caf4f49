"""One modem on one stream: commands in turn, each with a deadline, and unsolicited lines."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import trio

from risala.drivers.modem.at.engine import (
    ESCAPE,
    Answer,
    AtEngine,
    Command,
    Event,
    Late,
    LocalProtocolError,
    Noise,
    Prompt,
    Row,
    Urc,
)
from risala.drivers.modem.at.modes import UnaskedModeError, mode_changed_by
from risala.drivers.modem.at.wiretap import (
    answer_text,
    body_text,
    command_text,
    line_text,
    urc_text,
)

ANSWER_S: Final = 10.0
"""Seconds for the answer to a command for which the modem need not ask the network."""
_READ_OCTETS: Final = 4096
_QUIET_S: Final = 0.3
"""Seconds after ESC within which the modem sends the rest of the ended command's output."""
_SYNC_S: Final = 3.0
_SILENCE_S: Final = 2.0
"""Seconds of silence after which answers to given-up commands will no longer come."""

HUNG_UP: Final = "the connection to the modem was lost (unplugged or restarting)"


class LinkError(Exception):
    """A command got no answer.

    ``str()`` is a clause for people (“the modem gave no answer within 10 s”), ``raw`` is the same
    in the words of the protocol; ``rows`` are the rows received so far.
    """

    def __init__(self, text: str, rows: tuple[Row, ...] = (), *, raw: str = "") -> None:
        super().__init__(text)
        self.rows = rows
        self.raw = raw or text


class NoPromptError(LinkError):
    """The modem did not ask for the body, so that nothing of it left."""


class NoAnswerError(LinkError):
    """The modem did not answer in time."""


class PortLostError(LinkError):
    """The line was hung up: the modem was unplugged or restarts."""


class StoppedError(LinkError):
    """The service stops, and so do we ask nothing more."""


def unheard(_: Urc | Late) -> None:
    """For callers without use for unsolicited lines."""


def unseen() -> None:
    """For callers that need not know whether the PDU has left."""


def unwatched(*_: object) -> None:
    """For a link without a traffic view."""


class AtLink:
    """Commands and answers over one open port. Run :meth:`run` in a nursery; it ends when the line
    is hung up.

    Args:
        on_urc: called with each unsolicited result code.
        on_late: called with each line of a given-up command.
        wire: called with the traffic of the line: see
            :meth:`risala.plugins.contract.DriverContext.traffic`.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        *,
        on_urc: Callable[[Urc], None] = unheard,
        on_late: Callable[[Late], None] = unheard,
        wire: Callable[..., None] = unwatched,
    ) -> None:
        self._wire = wire
        self.engine = AtEngine()
        self.heard_at_s = -math.inf
        """When the last octet came, on Trio's clock."""
        self.noise_octets = 0
        self._stream = stream
        self._on_urc = on_urc
        self._on_late = on_late
        self._turn = trio.Lock()
        self._events: deque[Answer | Prompt] = deque()
        self._arrived = trio.Event()
        self._lost = trio.Event()

    async def run(self) -> None:
        """Read until the line is hung up."""
        try:
            while True:
                try:
                    octets = await self._stream.receive_some(_READ_OCTETS)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    octets = b""
                if not octets:
                    return
                self.heard_at_s = trio.current_time()
                for event in self.engine.receive(bytes(octets)):
                    self._handle(event)
        finally:
            self._lost.set()
            self._arrived.set()

    async def wait_lost(self) -> None:
        await self._lost.wait()

    @property
    def lost(self) -> bool:
        return self._lost.is_set()

    def _handle(self, event: Event) -> None:
        match event:
            case Answer() | Prompt():
                if isinstance(event, Answer):
                    self._wire(False, answer_text, event)
                self._events.append(event)
                self._arrived.set()
            case Urc():
                self._wire(False, urc_text, event)
                self._on_urc(event)
            case Late():
                self._wire(False, line_text, event.text)
                self._on_late(event)
            case Noise(octets):
                self.noise_octets += octets

    # -- commands ------------------------------------------------------------------------------

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Within this context no other task's command comes between; turns may be nested."""
        if self._turn.statistics().owner is trio.lowlevel.current_task():
            yield
            return
        async with self._turn:
            yield

    async def ask(
        self, text: str, timeout_s: float = ANSWER_S, *, by_operator: bool = False
    ) -> Answer:
        """Ask, and wait for the answer.

        Args:
            by_operator: the operator has asked for this command.

        Raises:
            NoAnswerError: there was no answer in time.
            PortLostError: the line was hung up.
            UnaskedModeError: it changes the modem's mode, and the operator has not asked for it.
        """
        async with self.turn():
            with self._flight(Command(text, by_operator=by_operator)) as octets:
                with trio.move_on_after(timeout_s):
                    await self._write(octets)
                    event = await self._next_event()
                    assert isinstance(event, Answer)
                    return event
                raise self._no_answer(text, timeout_s)

    async def send_message(
        self,
        hexadecimal: str,
        tpdu_octets: int,
        *,
        prompt_s: float,
        answer_s: float,
        on_leave: Callable[[], None] = unseen,
    ) -> Answer:
        """``+CMGS`` in PDU mode (27.005 §4.3): the command, the prompt, the PDU, the answer.

        Args:
            hexadecimal: service centre and TPDU, as ``to_hex`` writes them.
            tpdu_octets: the TPDU's length alone, for the command.
            prompt_s: how long the prompt may take.
            answer_s: how long the answer may take after the PDU.
            on_leave: called when the PDU is about to leave; from then on it may have been sent.

        Raises:
            NoPromptError: the modem did not ask for the PDU; nothing was sent.
            NoAnswerError: no answer came in time.
            PortLostError: the line was hung up.
        """
        command = Command(f"AT+CMGS={tpdu_octets}", prompts=True)
        async with self.turn():
            with self._flight(command) as octets:
                event: Answer | Prompt | None = None
                with trio.move_on_after(prompt_s):
                    await self._write(octets)
                    event = await self._next_event()
                if event is None:
                    raise NoPromptError(
                        f"the modem did not ask for the text within {prompt_s:g} s",
                        raw=f"+CMGS: no prompt within {prompt_s:g} s",
                    )
                if isinstance(event, Answer):
                    if event.result.ok:
                        raise NoPromptError(
                            "the modem did not ask for the text", raw="+CMGS: OK without a prompt"
                        )
                    return event
                on_leave()
                self._wire(True, body_text, hexadecimal)
                with trio.move_on_after(answer_s):
                    await self._write(self.engine.body(hexadecimal))
                    answer = await self._next_event()
                    assert isinstance(answer, Answer)
                    return answer
                raise self._no_answer("AT+CMGS", answer_s)

    def _no_answer(self, text: str, timeout_s: float) -> NoAnswerError:
        within = f"no answer within {timeout_s:g} s"
        name = Command(text).name or text
        return NoAnswerError(
            f"the modem gave {within}", self.engine.give_up(), raw=f"{name}: {within}"
        )

    @contextmanager
    def _flight(self, command: Command) -> Iterator[bytes]:
        """The octets to write for a command, which is in flight within this context. If the wait
        for its answer ends for any reason, even cancellation, the command is given up."""
        if self.lost:
            raise PortLostError(HUNG_UP)
        if not command.by_operator:
            _refuse_mode(command.text)
        self._events.clear()
        try:
            octets = self.engine.start(command)
        except LocalProtocolError as fault:
            raise NoAnswerError(str(fault)) from fault
        self._wire(True, command_text, command.text)
        try:
            yield octets
        finally:
            self.engine.give_up()

    async def _next_event(self) -> Answer | Prompt:
        while not self._events:
            if self.lost:
                raise PortLostError(HUNG_UP, self.engine.give_up())
            self._arrived = trio.Event()
            await self._arrived.wait()
        return self._events.popleft()

    async def _write(self, octets: bytes) -> None:
        try:
            await self._stream.send_all(octets)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise PortLostError(HUNG_UP) from error

    # -- without an answer -----------------------------------------------------------------------

    async def resync(self) -> bool:
        """Synchronise with the modem again; True if it answers.

        Leaves any state of the modem by ESC, and asks until an answer surely belongs to its
        question. Never uses Ctrl-Z, which would send a text that the modem still holds.

        Raises:
            PortLostError: the line was hung up.
        """
        async with self.turn():
            await self.poke(ESCAPE)
            await trio.sleep(_QUIET_S)
            await self.poke(b"\r")
            await trio.sleep(_QUIET_S)
            for _ in range(2):
                if await self._answers(self.engine.sync_command().text):
                    return True
            await self._silence()
            self.engine.forget()
            return await self._answers("AT") or await self._answers("AT")

    async def _answers(self, text: str) -> bool:
        try:
            await self.ask(text, _SYNC_S)
        except NoAnswerError:
            return False
        return True

    async def _silence(self) -> None:
        """Wait for a period of silence; not for ever, since some modems never fall silent."""
        for _ in range(5):
            heard_at_s = self.heard_at_s
            await trio.sleep(_SILENCE_S)
            if self.heard_at_s == heard_at_s:
                return

    async def poke(self, octets: bytes) -> None:
        """Write octets to a modem that does not answer; no answer is waited for."""
        if self.lost:
            raise PortLostError(HUNG_UP)
        _refuse_mode(octets.decode("latin-1"))
        async with self.turn():
            with trio.move_on_after(_SYNC_S):
                await self._write(octets)


def _refuse_mode(text: str) -> None:
    """No code of ours may change a modem's mode: see :mod:`risala.drivers.modem.at.modes`.

    Raises:
        UnaskedModeError: this command line would.
    """
    name = mode_changed_by(text)
    if name is not None:
        raise UnaskedModeError(f"AT{name} is the operator's to send")
