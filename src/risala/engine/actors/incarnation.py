"""The life of one actor object, from ``started`` to its crash or its ordered end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic

import trio

from risala.engine.actors.actor import (
    WAITING,
    Actor,
    ActorDown,
    Decider,
    Envelope,
    Later,
    M,
    Mailbox,
)
from risala.engine.model.errors import EngineError

# How long coroutines from ``Later`` may still run after a crash of their actor: their units are
# already with the journal, and the next actor must not load its state before they commit.
LATER_GRACE_S: Final = 5.0


class Incarnation(Generic[M]):
    """Takes messages from the mailbox, one at a time; askers may use a :class:`Decider` directly.

    While a decider is idle (alive, mailbox empty, no message in work) an ask is decided at once in
    the asker's task: the same order, the same supervision, no task switch.
    """

    def __init__(self, actor: Actor[M], mailbox: Mailbox[M], later_max: int) -> None:
        self._actor = actor
        self._mailbox = mailbox
        self._later_slots = trio.Semaphore(later_max, max_value=later_max)
        self._taking = trio.CancelScope()
        self._faults: list[Exception] = []
        self._laters: trio.Nursery | None = None
        self._deciding = False

    async def live(self, on_started: Callable[[], None]) -> None:
        """Take messages until the mailbox is shut and empty; raises the bug that ended it."""
        WAITING.set((self._mailbox.name,))
        await self._actor.started()
        on_started()
        async with trio.open_nursery() as laters:
            self._laters = laters
            if isinstance(self._actor, Decider):
                self._mailbox.decider = self
            try:
                with self._taking:
                    async for envelope in self._mailbox.letters:
                        await self._handle(envelope, laters)
            except Exception as fault:  # noqa: BLE001 -- raised below, after the laters
                self._faults.append(fault)
            finally:
                self._mailbox.decider = None
            if self._faults:
                laters.cancel_scope.deadline = trio.current_time() + LATER_GRACE_S
        if len(self._faults) > 1:
            raise ExceptionGroup("several bugs at once", self._faults)
        if self._faults:
            raise self._faults[0]
        await self._actor.stopping()

    def decide_at_once(
        self, message: M, chain: tuple[str, ...], *, is_told: bool = False
    ) -> object:
        """The answer of an idle decider, or an :class:`Envelope` whose reply is still to come.

        Raises:
            EngineError: the actor's own refusal.
            ActorDown: a bug; this incarnation ends.
        """
        assert isinstance(self._actor, Decider)
        assert self._laters is not None
        mailbox = self._mailbox
        mailbox.handled += 1
        self._deciding = True
        try:
            answer = self._actor.decide(message)
        except EngineError:
            raise
        except Exception as fault:
            self._crash(fault)
            raise ActorDown(mailbox.name) from fault
        finally:
            self._deciding = False
        if not isinstance(answer, Later):
            return answer
        self._later_slots.acquire_nowait()
        envelope = Envelope(message, chain, is_told=is_told)
        outside = WAITING.set((*chain, mailbox.name))
        try:
            self._laters.start_soon(self._run_later, answer, envelope, name=f"{mailbox.name} later")
        finally:
            WAITING.reset(outside)
        return envelope

    @property
    def idle(self) -> bool:
        """Whether :meth:`decide_at_once` may be called: no other message is before the asker's."""
        return not (self._deciding or self._mailbox.outstanding) and self._later_slots.value > 0

    def _crash(self, fault: Exception) -> None:
        self._faults.append(fault)
        self._mailbox.decider = None
        self._taking.cancel()

    async def _handle(self, envelope: Envelope[M], laters: trio.Nursery) -> None:
        self._mailbox.handled += 1
        name = self._mailbox.name
        outside = WAITING.set((*envelope.chain, name))
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
            self._mailbox.outstanding -= 1
            WAITING.reset(outside)

    async def _run_later(self, later: Later, envelope: Envelope[M]) -> None:
        # The coroutine's context lists this actor among those that wait: if all slots for laters
        # are taken, the actor waits for one of them, so an ask of it from here might never end.
        try:
            answer = await later.async_fn(*later.args)
        except EngineError as refusal:
            envelope.refuse(refusal)
        except Exception as fault:  # noqa: BLE001 -- raised by live()
            envelope.refuse(ActorDown(self._mailbox.name))
            self._crash(fault)
        except BaseException:
            envelope.refuse(ActorDown(self._mailbox.name))
            raise
        else:
            envelope.answer(answer)
        finally:
            self._later_slots.release()
