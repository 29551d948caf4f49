"""The tests that every event sink must pass. Subclass, say how to build yours, run pytest.

::

    class TestMySink(SinkConformance):
        @asynccontextmanager
        async def open_sink(self):
            async with my_queue() as self.queue:
                yield MySink("mine", MySettings(address=self.queue.address))

        async def other_side_got(self):
            return [one.body for one in self.queue.messages]
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from itertools import count
from typing import ClassVar, Final

from risala.plugins.sink import ClosingSink, EventSink, SinkEvent, SinkUnavailableError
from risala.plugins.testing.checks import check
from risala.plugins.testing.faults import NotApplicable, PluginFaultError
from risala.plugins.testing.leftovers import Leftovers
from risala.plugins.testing.step_suite import StepSuite

MANY: Final = 500
"""Events of one stretch in the check of many: the engine gives some hundred at a time."""
_CODE: Final = "730194"
_numbers = count(1)


def event(text: str = "Merci – شكرا") -> SinkEvent:
    """An event; later ones have greater numbers."""
    seq = next(_numbers)
    body = {
        "id": f"evt_{seq:026d}",
        "type": "message.received",
        "data": {"messageId": f"mo_{seq}", "from": "+22236999999", "body": text},
    }
    return SinkEvent(
        seq=seq,
        id=str(body["id"]),
        type="message.received",
        at_ms=1_795_176_000_000 + seq,
        organization_id="org_conformance",
        is_test=False,
        body=json.dumps(body, ensure_ascii=False),
    )


class SinkConformance(StepSuite):
    """Subclass it as ``class TestSomething(SinkConformance)``."""

    risala_suite: ClassVar[str] = "event sink"
    take_s: ClassVar[float] = 60.0
    """How long a stretch may take where the other side says nothing."""

    def open_sink(self) -> AbstractAsyncContextManager[EventSink]:
        """A built sink, with its other side ready."""
        raise NotImplementedError

    async def other_side_got(self) -> Sequence[str]:
        """The bodies that the other side has, in order, as it was given them."""
        raise NotImplementedError

    async def break_other_side(self) -> None:
        """Have the other side take nothing from now on. Optional."""
        raise NotImplementedError

    async def mute_other_side(self) -> None:
        """Have the other side say nothing from now on. Optional."""
        raise NotImplementedError

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[EventSink]:
        async with self.open_sink() as sink:
            if not isinstance(sink, EventSink):
                raise PluginFaultError(
                    "test_has_its_shape", f"{type(sink).__name__} is no event sink: it has no take."
                )
            self.tell_about(sink)
            yield sink
            if isinstance(sink, ClosingSink):
                await self._close(sink)

    async def _close(self, sink: ClosingSink) -> None:
        name = "test_closes_well"
        overdue = PluginFaultError(name, f"aclose did not end within {self.leave_s:g} s.")
        try:
            await self.call(sink.aclose, self.leave_s, overdue)
        except PluginFaultError:
            raise
        except Exception as error:
            raise PluginFaultError(
                name, f"aclose raised {type(error).__name__}: the service is stopping, and nobody "
                "could do anything about it. It raises nothing.",
            ) from error  # fmt: skip

    async def _take(self, sink: EventSink, events: Sequence[SinkEvent]) -> None:
        """Give a stretch that the other side takes."""
        try:
            await self.step(partial(sink.take, tuple(events)), "take", SinkUnavailableError)
        except SinkUnavailableError as error:
            raise PluginFaultError(
                "test_takes_events",
                f"take raised SinkUnavailableError({str(error)!r}), though all is well.",
            ) from error

    async def _got(self, check: str) -> Sequence[str]:
        return await self.shown("events", check, "other_side_got", self.other_side_got)

    async def _try_one(self) -> None:
        async with self._opened() as sink:
            await self._take(sink, [event()])

    @check("sink-contract.md#eventsink")
    async def test_has_its_shape(self) -> None:
        """It has the shape of an EventSink."""
        async with self._opened():
            pass

    @check("sink-contract.md#eventsinktake")
    async def test_lets_the_loop_run(self) -> None:
        """Nothing that it does holds up the loop."""
        await self._try_one()

    @check("sink-contract.md#eventsinktake")
    async def test_answers_in_time(self) -> None:
        """``take`` returns while the other side answers at once."""
        await self._try_one()

    @check("sink-contract.md#eventsinktake")
    async def test_raises_what_the_contract_names(self) -> None:
        """``take`` raises SinkUnavailableError, and nothing else."""
        await self._try_one()

    @check("sink-contract.md#eventsinktake")
    async def test_takes_events(self) -> None:
        """Events that the other side takes are taken."""
        await self._try_one()

    @check("sink-contract.md#sinkevent")
    async def test_events_arrive_whole_and_in_order(self) -> None:
        """When ``take`` returns, the other side has every event, as it is, in the order given."""
        name = "test_events_arrive_whole_and_in_order"
        async with self._opened() as sink:
            events = [event(), event("Second\nline"), event("{}")]
            await self._take(sink, events[:2])
            await self._take(sink, events[2:])
            got = [*await self._got(name)]
            if got != [one.body for one in events]:
                known = {one.body for one in events}
                what = f"{len(got)} arrived" if len(got) != len(events) else "they arrived changed"
                if len(got) == len(events) and {*got} == known:
                    what = "they arrived in another order"
                raise PluginFaultError(
                    name,
                    f"Of {len(events)} events that take had returned for, {what}. They do not come "
                    "again: return once they are safe.",
                )

    @check("sink-contract.md#eventsinktake")
    async def test_many_at_once_arrive(self) -> None:
        """A long stretch arrives whole."""
        async with self._opened() as sink:
            events = [event() for _ in range(MANY)]
            await self._take(sink, events)
            got = await self._got("test_many_at_once_arrive")
            if len({*got}) < MANY:
                raise PluginFaultError(
                    "test_many_at_once_arrive",
                    f"Of {MANY} events that were given at once {len({*got})} arrived.",
                )

    @check("sink-contract.md#eventsinktake")
    async def test_what_comes_twice_does_no_harm(self) -> None:
        """The same stretch again is taken, and nothing of it is lost."""
        name = "test_what_comes_twice_does_no_harm"
        async with self._opened() as sink:
            events = [event(), event()]
            await self._take(sink, events)
            await self._take(sink, events)
            got = await self._got(name)
            if not {one.body for one in events} <= {*got}:
                raise PluginFaultError(
                    name, "Events that came a second time, as after a crash, are gone."
                )

    @check("sink-contract.md#sinkunavailableerror")
    async def test_says_why(self) -> None:
        """Where the other side takes nothing, ``take`` says so, without a word of an event."""
        async with self._opened() as sink:
            await self.optional(self.break_other_side, "break_other_side")
            try:
                await self.step(
                    partial(sink.take, (event(_CODE),)), "take", SinkUnavailableError, self.take_s
                )
            except SinkUnavailableError as error:
                self.look_at_reason(error, (_CODE,))
            else:
                raise PluginFaultError(
                    "test_says_why",
                    "take returned though the other side took nothing: the event is lost. Raise "
                    "SinkUnavailableError.",
                )

    @check("sink-contract.md#eventsinktake")
    async def test_heeds_its_cancellation(self) -> None:
        """Where the other side says nothing, ``take`` ends soon after it is cancelled."""
        async with self._opened() as sink:
            await self.optional(self.mute_other_side, "mute_other_side")
            await self.cancel_step(partial(sink.take, (event(),)), "take", SinkUnavailableError)

    @check("sink-contract.md#closingsink")
    async def test_closes_well(self) -> None:
        """``aclose`` ends soon and raises nothing; what was taken is there."""
        async with self._opened() as sink:
            if not isinstance(sink, ClosingSink):
                raise NotApplicable("the sink has no method aclose")
            one = event()
            await self._take(sink, [one])
            await self._close(sink)
            if one.body not in await self._got("test_closes_well"):
                raise PluginFaultError(
                    "test_closes_well", "An event that was taken is gone once the sink is closed."
                )

    @check("sink-contract.md#eventsink")
    async def test_leaves_nothing_running(self) -> None:
        """Once the sink is closed, no task and no thread of its goes on."""
        leftovers = Leftovers()
        await self._try_one()
        if left := await leftovers.wait(self.patience_s):
            raise PluginFaultError(
                "test_leaves_nothing_running",
                f"The sink is closed, and there still runs {', '.join(left)}.",
            )
