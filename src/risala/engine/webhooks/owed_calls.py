"""Calls that are owed to receivers, made at least once, a few at a time to each.

The calls are rows; memory has only when to look at each receiver's rows. An attempt is written down
before a byte leaves and again after the answer, and the row stays due in between: a service that is
killed meanwhile calls again. A slow or dead receiver delays its own calls alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Collection
from typing import ClassVar, Final, Generic, Protocol, TypeVar

import structlog
import trio

from risala.engine.actors.alarm import Alarm
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Draining, Unavailable
from risala.engine.model.records.webhooks import DueCall
from risala.engine.rules.webhooks.queues import EndpointQueue, Lanes, Widths

log = structlog.get_logger(__name__)

PROMPT_S: Final = 2.0
"""Seconds for an answer; a receiver that takes longer gets its slots among the slow ones."""
STORAGE_RETRY_S: Final = 1.0
STOP_S: Final = 3.0
"""Seconds that a stop waits for answers; an attempt that is cut short is repeated after the next
start."""
A = TypeVar("A")
"""What an attempt needs."""
S = TypeVar("S")
"""What became of it."""


AC = TypeVar("AC", covariant=True)


class OwedRows(Protocol[AC]):
    """The stored calls, of each receiver in their order."""

    def first_due(self, receiver_id: str, besides: Collection[int], /) -> DueCall | None:
        """A receiver's next call that is none of these."""

    def begin(self, seq: int, now_ms: int, /) -> Awaitable[AC | None]:
        """Write down that an attempt begins; None: it is no longer owed."""


class OwedCalls(ABC, Generic[A, S]):
    """Makes the calls of one kind of receiver; a subclass says how they are made."""

    name: ClassVar[str]
    """In the log, what makes them."""
    receiver: ClassVar[str]
    """In the log, the field with the receiver's id."""

    def __init__(self, rows: OwedRows[A], widths: Widths, clock: Clock, items: ItemLoop) -> None:
        self._rows = rows
        self._widths = widths
        self._clock = clock
        self._items = items
        self._alarm = Alarm(clock)
        self._lanes = Lanes(widths)

    @abstractmethod
    def _expect_new(self) -> None:
        """Expect the calls that are new since the last look; done before each round."""

    @abstractmethod
    async def _post(self, receiver_id: str, attempt: A) -> S:
        """Make the call."""

    @abstractmethod
    async def _finish(self, seq: int, attempt: A, seen: S) -> bool:
        """Write down what became of it; True: the receiver has it, or nothing is owed any more."""

    async def _serve(self, nursery: trio.Nursery) -> None:
        """Call until cancelled; a stop waits a moment for the answers under way."""
        over = trio.Event()
        crew: trio.Nursery
        scope: trio.CancelScope
        scope, crew = await nursery.start(self._keep_workers, over)
        try:
            while True:
                self._expect_new()
                self._hand_out(crew)
                await self._alarm.wait(self._lanes.next_due())
        finally:
            scope.deadline = trio.current_time() + STOP_S
            over.set()

    async def _keep_workers(
        self,
        over: trio.Event,
        task_status: trio.TaskStatus[tuple[trio.CancelScope, trio.Nursery]],
    ) -> None:
        with trio.CancelScope(shield=True) as scope:
            async with trio.open_nursery() as crew:
                task_status.started((scope, crew))
                await over.wait()

    def _hand_out(self, crew: trio.Nursery) -> None:
        now_ms = self._clock.now_ms()
        while (lane := self._lanes.take(now_ms)) is not None:
            besides = {*lane.in_flight, *map(int, self._items.held())}
            due = self._rows.first_due(lane.endpoint_id, besides)
            if due is None or due.due_at > now_ms:
                self._lanes.rest(lane, self._items.again_ms(now_ms) if due is None else due.due_at)
            else:
                self._lanes.start(lane, due.seq)
                crew.start_soon(self._make, lane, due.seq)

    async def _make(self, lane: EndpointQueue, seq: int) -> None:
        """One attempt at one call."""
        try:
            with self._items.item(seq, **{self.receiver: lane.endpoint_id}):
                await self._attempt(lane, seq)
            if seq in lane.in_flight:  # it was set aside
                self._lanes.leave(lane, seq, self._clock.now_ms())
        except Draining:
            pass  # the call stays due, and the next start finds it
        except Unavailable as error:
            log.warning(f"{self.name}.storage", reason=str(error))
            await trio.sleep(STORAGE_RETRY_S)
            self._lanes.leave(lane, seq, self._clock.now_ms())
        finally:
            self._alarm.ring()

    async def _attempt(self, lane: EndpointQueue, seq: int) -> None:
        begun_at = self._clock.now_ms()
        attempt = await self._rows.begin(seq, begun_at)
        if attempt is None:
            self._lanes.leave(lane, seq, begun_at)
            return
        began_s = trio.current_time()
        seen = await self._post(lane.endpoint_id, attempt)
        prompt = trio.current_time() - began_s <= PROMPT_S
        ok = await self._finish(seq, attempt, seen)
        self._lanes.finish(lane, seq, ok=ok, prompt=prompt)
