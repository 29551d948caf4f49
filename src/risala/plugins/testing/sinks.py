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
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from itertools import count
from typing import ClassVar, Final

import trio

from risala.plugins.sink import (
    ClosingSink,
    EventSink,
    RunningSink,
    SinkCarrier,
    SinkEvent,
    SinkOrganization,
    SinkUnavailableError,
)
from risala.plugins.testing.apart import Leftovers
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.step_suite import StepSuite
from risala.sms.numbering.plan import EXAMPLE

MANY: Final = 500
"""How many events one check hands over at once; the engine hands over a few hundred."""
_CODE: Final = "730194"
_numbers = count(1)


def event(text: str = "Merci – شكرا") -> SinkEvent:
    """An event; each has a greater number than the one before."""
    seq = next(_numbers)
    body = {
        "id": f"evt_{seq:026d}",
        "type": "message.received",
        "data": {"messageId": f"mo_{seq}", "from": f"{EXAMPLE[:-6]}999999", "body": text},
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


class _NoFigures:
    """A service without carriers and organizations."""

    def carriers(self) -> Sequence[SinkCarrier]:
        return ()

    def organizations(self) -> Sequence[SinkOrganization]:
        return ()


class SinkConformance(StepSuite):
    """Subclass it as ``class TestSomething(SinkConformance)``."""

    risala_suite: ClassVar[str] = "event sink"
    take_s: ClassVar[float] = 60.0
    """Seconds that ``take`` may need if the other side takes nothing."""

    def open_sink(self) -> AbstractAsyncContextManager[EventSink]:
        """A built sink, with its other side ready."""
        raise NotImplementedError

    async def other_side_got(self) -> Sequence[str]:
        """The bodies that the other side got, unchanged and in order."""
        raise NotImplementedError

    async def break_other_side(self) -> None:
        """Have the other side take nothing from now on. Optional."""
        raise NotImplementedError

    async def mute_other_side(self) -> None:
        """Have the other side answer nothing from now on. Optional."""
        raise NotImplementedError

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[EventSink]:
        async with self.open_sink() as sink:
            if not isinstance(sink, EventSink):
                raise PluginFaultError(
                    "test_has_its_shape",
                    f"{type(sink).__name__} lacks the method take.",
                )
            self.tell_about(sink)
            async with trio.open_nursery() as beside:
                if isinstance(sink, RunningSink):
                    beside.start_soon(self._run_sink, sink)
                yield sink
                if isinstance(sink, ClosingSink):
                    await self._close(sink)
                beside.cancel_scope.cancel()

    async def _run_sink(self, sink: RunningSink) -> None:
        """Run it as the service does."""
        while True:
            with suppress(SinkUnavailableError):
                await sink.run(_NoFigures())
            await trio.sleep(1)

    async def _close(self, sink: ClosingSink) -> None:
        name = "test_closes_well"
        overdue = PluginFaultError(name, f"aclose did not end within {self.leave_s:g} s.")
        try:
            await self.call(sink.aclose, self.leave_s, overdue)
        except PluginFaultError:
            raise
        except Exception as error:
            raise PluginFaultError(
                name, f"aclose raised {type(error).__name__}. It must not raise: the service is "
                "stopping, and nobody can act on it.",
            ) from error  # fmt: skip

    async def _take(self, sink: EventSink, events: Sequence[SinkEvent]) -> None:
        """Hand over events that the other side takes."""
        try:
            await self.step(partial(sink.take, tuple(events)), "take", SinkUnavailableError)
        except SinkUnavailableError as error:
            raise PluginFaultError(
                "test_takes_events",
                f"take raised SinkUnavailableError({str(error)!r}), though the other side is up.",
            ) from error

    async def _got(self, check: str) -> Sequence[str]:
        return await self.shown("events", check, "other_side_got", self.other_side_got)

    async def _try_one(self) -> None:
        async with self._opened() as sink:
            await self._take(sink, [event()])

    @check("sink-contract.md#eventsink")
    async def test_has_its_shape(self) -> None:
        """The sink has the shape of an EventSink."""
        async with self._opened():
            pass

    @check("sink-contract.md#eventsinktake")
    async def test_lets_the_loop_run(self) -> None:
        """The sink never blocks the event loop."""
        await self._try_one()

    @check("sink-contract.md#eventsinktake")
    async def test_answers_in_time(self) -> None:
        """``take`` returns soon if the other side answers at once."""
        await self._try_one()

    @check("sink-contract.md#eventsinktake")
    async def test_raises_what_the_contract_names(self) -> None:
        """The only exception of ``take`` is SinkUnavailableError."""
        await self._try_one()

    @check("sink-contract.md#eventsinktake")
    async def test_takes_events(self) -> None:
        """``take`` returns if the other side takes the events."""
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
                    f"take returned for {len(events)} events, but {what}. They do not come again: "
                    "return once they are safe.",
                )

    @check("sink-contract.md#eventsinktake")
    async def test_many_at_once_arrive(self) -> None:
        """If many events are handed over at once, all arrive."""
        async with self._opened() as sink:
            events = [event() for _ in range(MANY)]
            await self._take(sink, events)
            got = await self._got("test_many_at_once_arrive")
            if len({*got}) < MANY:
                raise PluginFaultError(
                    "test_many_at_once_arrive",
                    f"Of {MANY} events handed over at once, {len({*got})} arrived.",
                )

    @check("sink-contract.md#eventsinktake")
    async def test_what_comes_twice_does_no_harm(self) -> None:
        """``take`` accepts the same events again, and none of them is lost."""
        name = "test_what_comes_twice_does_no_harm"
        async with self._opened() as sink:
            events = [event(), event()]
            await self._take(sink, events)
            await self._take(sink, events)
            got = await self._got(name)
            if not {one.body for one in events} <= {*got}:
                raise PluginFaultError(name, "Events that came twice, as after a crash, are lost.")

    @check("sink-contract.md#sinkunavailableerror")
    async def test_says_why(self) -> None:
        """If the other side takes nothing, ``take`` says why, and quotes no event."""
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
        """If the other side does not answer, ``take`` ends soon after it is cancelled."""
        async with self._opened() as sink:
            await self.optional(self.mute_other_side, "mute_other_side")
            await self.cancel_step(partial(sink.take, (event(),)), "take", SinkUnavailableError)

    @check("sink-contract.md#closingsink")
    async def test_closes_well(self) -> None:
        """``aclose`` ends soon, raises nothing, and loses no event that was taken."""
        async with self._opened() as sink:
            if not isinstance(sink, ClosingSink):
                raise NotApplicable("the sink has no method aclose")
            one = event()
            await self._take(sink, [one])
            await self._close(sink)
            if one.body not in await self._got("test_closes_well"):
                raise PluginFaultError(
                    "test_closes_well", "An event that was taken is lost once the sink is closed."
                )

    @check("sink-contract.md#eventsink")
    async def test_leaves_nothing_running(self) -> None:
        """Once the sink is closed, no task and no thread of it runs on."""
        leftovers = Leftovers()
        await self._try_one()
        if left := await leftovers.wait(self.patience_s):
            raise PluginFaultError(
                "test_leaves_nothing_running",
                f"The sink is closed, but this still runs: {', '.join(left)}.",
            )
