"""A driver whose answers a test sets beforehand, or computes from each segment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import trio

from risala.plugins.contract import (
    Accepted,
    Capabilities,
    DriverContext,
    Health,
    HealthState,
    Outcome,
    Receipt,
    ReceiptState,
    Segment,
    Unsent,
)

Answer = Outcome | Callable[[Segment], Outcome]


@dataclass(slots=True)
class FakeDriver:
    """Accepts everything with ids ``1``, ``2``, … unless :attr:`answers` says otherwise.

    ``answers`` are used up in order; then ``always`` answers. After :meth:`hold`, submits wait
    until :meth:`let_go`.
    """

    window_max: int = 10
    submit_s: float = 120.0
    takes_whole: bool = False
    flash: bool = False
    answers: list[Answer] = field(default_factory=list)
    always: Answer | None = None
    delivers: bool = False
    """Send a DELIVERED receipt right after each accepted segment."""
    submitted: list[Segment] = field(default_factory=list)
    context: DriverContext | None = None
    held: trio.Event | None = None
    in_flight_peak: int = 0
    _in_flight: int = 0
    _nursery: trio.Nursery | None = None
    _arrived: trio.Event = field(default_factory=trio.Event)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            alphanumeric_sender=True,
            receipts=True,
            inbound=True,
            query=False,
            validity=True,
            window_max=self.window_max,
            submit_s=self.submit_s,
            takes_whole=self.takes_whole,
            flash=self.flash,
        )

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        self.context = context
        task_status.started()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            context.health(Health(HealthState.UP, "The fake link is up."))
            await trio.sleep_forever()

    async def submit(self, segment: Segment) -> Outcome:
        self.submitted.append(segment)
        number = len(self.submitted)
        self._arrived.set()
        self._in_flight += 1
        self.in_flight_peak = max(self.in_flight_peak, self._in_flight)
        try:
            if self.held is not None:
                await self.held.wait()
            await trio.lowlevel.checkpoint()
        finally:
            self._in_flight -= 1
        outcome = self._outcome(segment, number)
        if self.delivers and isinstance(outcome, Accepted) and self._nursery is not None:
            self._nursery.start_soon(self.receipt, outcome.carrier_id)
        return outcome

    def _outcome(self, segment: Segment, number: int) -> Outcome:
        answer = self.answers.pop(0) if self.answers else self.always
        if answer is None:
            return Accepted(str(number))
        return answer(segment) if callable(answer) else answer

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        return None

    def hold(self) -> None:
        """Make submits wait from now on."""
        self.held = trio.Event()

    def let_go(self) -> None:
        """Answer the submits that wait, and each later one at once."""
        if self.held is not None:
            self.held.set()
        self.held = None

    def set_health(self, state: HealthState) -> None:
        """Tell the engine that the link is in this state."""
        assert self.context is not None
        self.context.health(Health(state, f"The fake link is {state}."))

    async def receipt(self, carrier_id: str, state: ReceiptState = ReceiptState.DELIVERED) -> None:
        """Hand the engine a receipt for an accepted segment."""
        assert self.context is not None
        await self.context.receipt(Receipt(carrier_id, state, f"stat:{state}"))

    async def wait_submitted(self, count: int) -> None:
        """Return once at least ``count`` segments were submitted in all."""
        while len(self.submitted) < count:
            self._arrived = trio.Event()
            await self._arrived.wait()


class FakePoster(FakeDriver):
    """A :class:`FakeDriver` with ``post``: the engine then never calls its ``submit``."""

    def post(self, segment: Segment, answered: Callable[[Outcome], None]) -> None:
        """See :class:`risala.plugins.contract.Posting`."""
        if self._nursery is None:
            answered(Unsent(""))
            return
        self._nursery.start_soon(self._answer, segment, answered)

    async def _answer(self, segment: Segment, answered: Callable[[Outcome], None]) -> None:
        answered(await self.submit(segment))
