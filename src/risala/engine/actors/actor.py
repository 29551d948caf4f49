"""Actors: each owns its state and takes one message at a time.

A mailbox holds requests and wake-ups only; it may be lost at any instant, because what must
survive is a row in the journal. Asks go downhill (gateway, then limiter, billing, sessions and
scheduler, then journal); uphill and sideways only ``tell_nowait``.

How a message is handled::

    receive returns a value      the asker gets it
    receive returns Later(...)   the actor takes its next message meanwhile; the asker gets what
                                 the coroutine comes to
    an EngineError               travels to the asker; the actor lives on
    any other exception: a bug   the asker gets ActorDown; the supervisor starts a new actor

Errors beyond :mod:`risala.engine.model.errors`::

    Unavailable
    ├── ActorDown        the actor crashed over this message; what it did is uncertain
    └── Overloaded
        └── MailboxFull  ``tell_nowait`` found no room: drop the hint, the row stays
    AskCycle             a bug: actors that ask each other in a circle would wait for ever
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Generic, Protocol, TypeVar

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.model.errors import Draining, EngineError, Overloaded, Unavailable

M = TypeVar("M")
M_contra = TypeVar("M_contra", contravariant=True)
"""The type of an actor's messages: usually a union of frozen dataclasses."""

# The names of the actors of which each waits for the next, and the last for the running code. Used
# only in this package, to notice a circle.
WAITING: ContextVar[tuple[str, ...]] = ContextVar("risala_waiting_actors", default=())

_log = structlog.get_logger()


class ActorDown(Unavailable):
    def __init__(self, name: str) -> None:
        super().__init__("The service failed to handle this request. Send again in a moment.")
        self.name = name


class MailboxFull(Overloaded):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class AskCycle(Exception):
    """Actors ask each other in a circle, a bug; ``str()`` shows it: ``a -> b -> a``."""


class Later:
    """What ``receive`` returns if the answer takes time: a coroutine function and arguments.

    Other messages may change the actor's state while the coroutine runs.
    """

    __slots__ = ("args", "async_fn")

    def __init__(self, async_fn: Callable[..., Awaitable[object]], *args: object) -> None:
        self.async_fn = async_fn
        self.args = args


class Actor(Generic[M]):
    """Base of all actors; built by a factory, and again after each crash."""

    async def started(self) -> None:
        """Load state, before the first message. A failure here is a crash."""

    async def receive(self, message: M) -> object:
        """Handle one message; return the answer or a :class:`Later`."""
        raise NotImplementedError

    async def stopping(self) -> None:
        """Called after the last message of an ordered stop, and not after a crash."""


class Decider(Actor[M]):
    """An actor that never waits: while it is idle, an ask is decided without a task switch.

    The four that own money, limits, sessions and the queue are of this kind. Slow work (a commit)
    is a :class:`Later`, or is done by the asker between two asks.
    """

    def decide(self, message: M) -> object:
        """Handle one message; return the answer or a :class:`Later`."""
        raise NotImplementedError

    async def receive(self, message: M) -> object:
        return self.decide(message)


@dataclass(frozen=True, slots=True)
class ActorStatistics:
    name: str
    mailbox_used: int
    mailbox_peak: int
    mailbox_max: int
    handled: int
    """Messages that were taken, whatever the result."""
    restarts: int


def log_refused_tell(message: object, error: EngineError) -> None:
    """Log a refused ``tell``, since its sender waits for no answer. A stop is not logged, and the
    supervisor logs a crash."""
    if not isinstance(error, Draining | ActorDown):
        _log.warning("told_message_refused", message=type(message).__name__, error=error)


class Envelope(Generic[M]):
    """A message on its way, and the slot for its reply."""

    __slots__ = ("_answered", "_error", "_is_told", "_value", "chain", "message")

    def __init__(self, message: M, chain: tuple[str, ...], *, is_told: bool) -> None:
        self.message = message
        self.chain = chain
        self._is_told = is_told
        self._answered = trio.Event()
        self._value: object = None
        self._error: EngineError | None = None

    def answer(self, value: object) -> None:
        self._value = value
        self._answered.set()

    def refuse(self, error: EngineError) -> None:
        if self._is_told:
            log_refused_tell(self.message, error)
        self._error = error
        self._answered.set()

    async def reply(self) -> object:
        await self._answered.wait()
        if self._error is not None:
            raise self._error
        return self._value


class DirectlyAsked(Protocol[M_contra]):
    """A living decider, for its mailbox."""

    @property
    def idle(self) -> bool: ...

    def decide_at_once(
        self, message: M_contra, chain: tuple[str, ...], *, is_told: bool = False
    ) -> object: ...


class Mailbox(Generic[M]):
    """The bounded queue of an actor; survives the actors that crash behind it."""

    def __init__(self, name: str, mailbox_max: int) -> None:
        self.name = name
        self.handled = 0
        self.restarts = 0
        self.outstanding = 0
        """Messages that came and are not finished, including those in the queue."""
        self.decider: DirectlyAsked[M] | None = None
        """The living actor, if it is a decider; else None."""
        self._send, self.letters = trio.open_memory_channel[Envelope[M]](mailbox_max)

    async def put(self, envelope: Envelope[M]) -> None:
        self.outstanding += 1
        try:
            await self._send.send(envelope)
        except BaseException as error:
            self.outstanding -= 1
            if isinstance(error, trio.ClosedResourceError | trio.BrokenResourceError):
                raise Draining from None
            raise

    def put_nowait(self, envelope: Envelope[M]) -> None:
        try:
            self._send.send_nowait(envelope)
        except trio.WouldBlock:
            raise MailboxFull(self.name) from None
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            raise Draining from None
        self.outstanding += 1

    def shut(self) -> None:
        """Take no further messages; those in it can still be read."""
        self.decider = None
        self._send.close()

    def discard(self) -> None:
        """Take no further messages, and refuse those in it."""
        self.shut()
        while True:
            try:
                self.letters.receive_nowait().refuse(Draining())
            except (trio.WouldBlock, trio.EndOfChannel, trio.ClosedResourceError):
                break
        self.letters.close()

    def statistics(self) -> ActorStatistics:
        channel = self.letters.statistics()
        return ActorStatistics(
            name=self.name,
            mailbox_used=channel.current_buffer_used,
            mailbox_peak=channel.peak_buffer_used,
            mailbox_max=int(channel.max_buffer_size),
            handled=self.handled,
            restarts=self.restarts,
        )


class Ref(Generic[M]):
    """The only handle on an actor; stays valid when the actor is replaced."""

    __slots__ = ("_mailbox",)

    def __init__(self, mailbox: Mailbox[M]) -> None:
        self._mailbox = mailbox

    def __repr__(self) -> str:
        return f"<Ref {self.name}>"

    @property
    def name(self) -> str:
        return self._mailbox.name

    @property
    def decides_at_once(self) -> bool:
        """Whether an ask now has no checkpoint: the actor is an idle :class:`Decider`."""
        decider = self._mailbox.decider
        return decider is not None and decider.idle

    async def tell(self, message: M) -> None:
        """Put a message into the mailbox, waiting for room; only downhill.

        Raises:
            Draining: the actor stopped or is stopping.
        """
        await self._mailbox.put(Envelope(message, (), is_told=True))

    def tell_nowait(self, message: M) -> None:
        """Put a message into the mailbox at once; works inside a cancelled scope too.

        An idle :class:`Decider` handles it before this returns.

        Raises:
            MailboxFull: no room.
            Draining: the actor stopped or is stopping.
        """
        decider = self._mailbox.decider
        if decider is None or not decider.idle:
            self._mailbox.put_nowait(Envelope(message, (), is_told=True))
            return
        try:
            decider.decide_at_once(message, (), is_told=True)
        except EngineError as refusal:
            log_refused_tell(message, refusal)

    async def ask(self, message: M) -> Any:  # noqa: ANN401 -- the message decides what it answers
        """Send a message and wait for its answer; use ``trio.fail_after`` for a deadline.

        If cancelled while waiting, the message is handled nevertheless and its answer dropped. An
        idle :class:`Decider` answers at once, without a checkpoint.

        Raises:
            EngineError: the actor's own refusal.
            ActorDown: the actor crashed over this message.
            Draining: the actor stopped or is stopping.
            AskCycle: the answer would wait for the asker.
        """
        if self.decides_at_once:
            answer = self.ask_at_once(message)
            return await answer.reply() if isinstance(answer, Envelope) else answer
        waiting = self._waiting()
        envelope = Envelope(message, waiting, is_told=False)
        await self._mailbox.put(envelope)
        return await envelope.reply()

    def ask_at_once(self, message: M) -> Any:  # noqa: ANN401 -- as ask
        """As :meth:`ask`, without a coroutine: while :attr:`decides_at_once`.

        If the answer takes time it is an :class:`Envelope`, whose reply the caller waits for.

        Raises:
            As :meth:`ask` does.
        """
        decider = self._mailbox.decider
        assert decider is not None
        return decider.decide_at_once(message, self._waiting())

    def _waiting(self) -> tuple[str, ...]:
        """The actors that wait for this answer.

        Raises:
            AskCycle: this one is among them.
        """
        waiting = WAITING.get()
        if waiting and self.name in waiting:
            circle = waiting[waiting.index(self.name) :]
            raise AskCycle(" -> ".join((*circle, self.name)))
        return waiting

    def statistics(self) -> ActorStatistics:
        return self._mailbox.statistics()
