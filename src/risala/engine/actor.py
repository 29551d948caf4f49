"""Actors: each owns its state and takes one message at a time.

A mailbox holds requests and wake-ups only; it may be lost at any instant, because what must
survive is a row in the journal. Asks go downhill (gateway, then limiter, billing, sessions and
scheduler, then journal); uphill and sideways only ``tell_nowait``.

What comes of a message::

    receive returns a value      the asker gets it
    receive returns Later(...)   the actor takes its next message meanwhile; the asker gets what
                                 the coroutine comes to
    an EngineError               travels to the asker; the actor lives on
    any other exception: a bug   the asker gets ActorDown; the supervisor starts a new actor

Errors beyond :mod:`risala.engine.errors`::

    Unavailable
    ├── ActorDown        the actor crashed over this message; what it did is uncertain
    └── Overloaded
        └── MailboxFull  ``tell_nowait`` found no room: drop the hint, the row stays
    AskCycle             a bug: actors that ask each other in a circle would wait for ever
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import structlog
import trio

from risala.engine.errors import Draining, EngineError, Overloaded, Unavailable

M = TypeVar("M")
"""What an actor's messages are: usually a union of frozen dataclasses."""

# After a crash, coroutines handed over by ``Later`` may still finish, this long: their units are
# in the journal's hands already, and the next actor must not load its state before they commit.
LATER_GRACE_S: Final = 5.0

# The actors that wait, each for the next, until the running code is done.
_WAITING: ContextVar[tuple[str, ...]] = ContextVar("risala_waiting_actors", default=())

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
    """``str()`` is the circle: ``a -> b -> a``."""


class Later:
    """What ``receive`` returns when the answer takes time: a coroutine function and arguments.

    The coroutine must not touch the actor's state without expecting that other messages changed
    it in between.
    """

    __slots__ = ("args", "async_fn")

    def __init__(self, async_fn: Callable[..., Awaitable[object]], *args: object) -> None:
        self.async_fn = async_fn
        self.args = args


class Actor(Generic[M]):
    """Base of all actors; built by a factory, anew after each crash."""

    async def started(self) -> None:
        """Load state, before the first message. A failure here is a crash."""

    async def receive(self, message: M) -> object:
        """Handle one message; return the answer or a :class:`Later`."""
        raise NotImplementedError

    async def stopping(self) -> None:
        """Take leave after the last message of an ordered stop; not called after a crash."""


@dataclass(frozen=True, slots=True)
class ActorStatistics:
    name: str
    mailbox_used: int
    mailbox_peak: int
    mailbox_max: int
    handled: int
    """Messages that were taken, whatever came of them."""
    restarts: int


class Envelope(Generic[M]):
    """A message on its way, and the slot for its reply."""

    __slots__ = ("_answered", "_error", "_told", "_value", "chain", "message")

    def __init__(self, message: M, chain: tuple[str, ...], *, told: bool) -> None:
        self.message = message
        self.chain = chain
        self._told = told
        self._answered = trio.Event()
        self._value: object = None
        self._error: EngineError | None = None

    def answer(self, value: object) -> None:
        self._value = value
        self._answered.set()

    def refuse(self, error: EngineError) -> None:
        # Nobody waits, so that only the log can tell; hints may get lost, crashes are logged.
        if self._told and not isinstance(error, Draining | ActorDown):
            _log.warning("told_message_refused", message=type(self.message).__name__, error=error)
        self._error = error
        self._answered.set()

    async def reply(self) -> object:
        await self._answered.wait()
        if self._error is not None:
            raise self._error
        return self._value


class Mailbox(Generic[M]):
    """The bounded queue before an actor; outlives the actors that crash behind it."""

    def __init__(self, name: str, mailbox_max: int) -> None:
        self.name = name
        self.handled = 0
        self.restarts = 0
        self._send, self.letters = trio.open_memory_channel[Envelope[M]](mailbox_max)

    async def put(self, envelope: Envelope[M]) -> None:
        try:
            await self._send.send(envelope)
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            raise Draining from None

    def put_nowait(self, envelope: Envelope[M]) -> None:
        try:
            self._send.send_nowait(envelope)
        except trio.WouldBlock:
            raise MailboxFull(self.name) from None
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            raise Draining from None

    def shut(self) -> None:
        """Take no more; what is in it can still be read."""
        self._send.close()

    def discard(self) -> None:
        """Shut it and refuse what is in it."""
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
    """The only handle on an actor; stays good when the actor behind it is replaced."""

    __slots__ = ("_mailbox",)

    def __init__(self, mailbox: Mailbox[M]) -> None:
        self._mailbox = mailbox

    def __repr__(self) -> str:
        return f"<Ref {self.name}>"

    @property
    def name(self) -> str:
        return self._mailbox.name

    async def tell(self, message: M) -> None:
        """Put a message into the mailbox, waiting for room; only downhill.

        Raises:
            Draining: the actor stopped or is stopping.
        """
        await self._mailbox.put(Envelope(message, (), told=True))

    def tell_nowait(self, message: M) -> None:
        """Put a message into the mailbox at once; works inside a cancelled scope too.

        Raises:
            MailboxFull: no room.
            Draining: the actor stopped or is stopping.
        """
        self._mailbox.put_nowait(Envelope(message, (), told=True))

    async def ask(self, message: M) -> Any:  # noqa: ANN401 -- the message decides what it answers
        """Send a message and wait for its answer; bring ``trio.fail_after`` for a deadline.

        Cancelled while waiting: the message is handled all the same and its answer dropped.

        Raises:
            EngineError: the actor's own refusal.
            ActorDown: the actor crashed over this message.
            Draining: the actor stopped or is stopping.
            AskCycle: the answer would wait for the asker.
        """
        waiting = _WAITING.get()
        if self.name in waiting:
            circle = waiting[waiting.index(self.name) :]
            raise AskCycle(" -> ".join((*circle, self.name)))
        envelope = Envelope(message, waiting, told=False)
        await self._mailbox.put(envelope)
        return await envelope.reply()

    def statistics(self) -> ActorStatistics:
        return self._mailbox.statistics()


class Incarnation(Generic[M]):
    """The life of one actor object, from ``started`` to its crash or its ordered end."""

    def __init__(self, actor: Actor[M], mailbox: Mailbox[M], later_max: int) -> None:
        self._actor = actor
        self._mailbox = mailbox
        self._later_slots = trio.Semaphore(later_max, max_value=later_max)
        self._taking = trio.CancelScope()
        self._faults: list[Exception] = []

    async def live(self, on_started: Callable[[], None]) -> None:
        """Take messages until the mailbox is shut and empty; raises the bug that ended it."""
        _WAITING.set((self._mailbox.name,))
        await self._actor.started()
        on_started()
        async with trio.open_nursery() as laters:
            try:
                with self._taking:
                    async for envelope in self._mailbox.letters:
                        await self._handle(envelope, laters)
            except Exception as fault:  # noqa: BLE001 -- raised below, after the laters
                self._faults.append(fault)
            if self._faults:
                laters.cancel_scope.deadline = trio.current_time() + LATER_GRACE_S
        if len(self._faults) > 1:
            raise ExceptionGroup("several bugs at once", self._faults)
        if self._faults:
            raise self._faults[0]
        await self._actor.stopping()

    async def _handle(self, envelope: Envelope[M], laters: trio.Nursery) -> None:
        self._mailbox.handled += 1
        name = self._mailbox.name
        outside = _WAITING.set((*envelope.chain, name))
        try:
            answer = await self._actor.receive(envelope.message)
            if isinstance(answer, Later):
                await self._later_slots.acquire()
        except EngineError as refusal:
            envelope.refuse(refusal)
        except BaseException:
            envelope.refuse(ActorDown(name))
            raise
        else:
            if isinstance(answer, Later):
                laters.start_soon(self._run_later, answer, envelope, name=f"{name} later")
            else:
                envelope.answer(answer)
        finally:
            _WAITING.reset(outside)

    async def _run_later(self, later: Later, envelope: Envelope[M]) -> None:
        # It inherits the chain with this actor in it: while all its slots are taken the actor waits
        # for this, so that asking the actor from here may never end.
        try:
            answer = await later.async_fn(*later.args)
        except EngineError as refusal:
            envelope.refuse(refusal)
        except Exception as fault:  # noqa: BLE001 -- raised by live()
            envelope.refuse(ActorDown(self._mailbox.name))
            self._faults.append(fault)
            self._taking.cancel()
        except BaseException:
            envelope.refuse(ActorDown(self._mailbox.name))
            raise
        else:
            envelope.answer(answer)
        finally:
            self._later_slots.release()
