"""Checks of a called driver's streams: who gets one, who reads slowly, and who leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import trio

from risala.plugins.testing.called import CarrierCallback, StreamClient
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.drivers.base import segment
from risala.plugins.testing.drivers.callers import DriverCallers
from risala.plugins.testing.drivers.stage import DriverStage
from risala.plugins.testing.suite import LET_GO_S

AT: Final = "driver-contract.md#carrierstream"
REACHES: Final = "test_a_stream_reaches_its_reader"
LEAVES: Final = "test_a_stream_ends_with_its_reader"
READERS: Final = 5
"""How many come and leave, one after the other."""


class DriverStreamChecks(DriverCallers):
    """Checks of a driver that answers calls with streams."""

    @check(AT)
    async def test_a_stream_reaches_its_reader(self) -> None:
        """Streams: a reader whom the driver has proved gets parts, which are octets."""
        async with self._streaming(REACHES) as (stage, calls):
            for call in calls:
                async with self._read(stage, call) as reader:
                    await self._gets_more(stage, reader)
                self._look_at_writes(stage)

    @check(AT)
    async def test_a_stranger_gets_no_stream(self) -> None:
        """Streams: without the carrier's proof, or with one that is wrong in a letter, there is no
        stream."""
        name = "test_a_stranger_gets_no_stream"
        async with self._streaming(name) as (stage, calls):
            for call in calls:
                for forged in self._odd(stage, call).forged():
                    await self._refused(stage, name, forged)

    @check(AT)
    async def test_a_stream_ends_with_its_reader(self) -> None:
        """Streams: when its client goes away, a stream lets its cancellation pass, and the next
        one gets parts."""
        async with self._streaming(LEAVES) as (stage, calls):
            for call in calls:
                about = (REACHES, "")
                for _ in range(READERS):
                    async with self._read(stage, call) as reader:
                        await self._gets_more(stage, reader, *about)
                    about = (LEAVES, " after others had left")
                self._look_at_writes(stage)

    @check(AT)
    async def test_a_slow_reader_holds_nobody_up(self) -> None:
        """Streams: while one client reads nothing, another gets its parts, and submits and calls
        are answered."""
        name = "test_a_slow_reader_holds_nobody_up"
        async with self._streaming(name) as (stage, calls):
            for call in calls:
                async with self._read(stage, call) as slow:
                    await self._gets_more(stage, slow)
                    slow.stop_reading()
                    when = " while another client read nothing"
                    async with self._read(stage, call) as reader:
                        for _ in range(3):
                            await self._gets_more(stage, reader, name, when)
                        await stage.accepted(segment("Beside a slow reader"))
                        await self._ask(stage, self._proved(stage, call), name=name, when=when)

    @asynccontextmanager
    async def _streaming(
        self, name: str
    ) -> AsyncIterator[tuple[DriverStage, Sequence[CarrierCallback]]]:
        """The driver, running, and the calls that it answers with streams; NotApplicable if there
        are none."""
        async with self.called(name) as stage:
            calls = self.stream_calls()
            if not calls:
                raise NotApplicable("the driver has no streams (the suite's stream_calls has none)")
            yield stage, calls

    @asynccontextmanager
    async def _read(self, stage: DriverStage, call: CarrierCallback) -> AsyncIterator[StreamClient]:
        """A client that reads a stream; at the end it goes away, and the stream has to end."""
        reader, scope, run = StreamClient(), trio.CancelScope(), self.run
        proved = self._proved(stage, call)

        async def read() -> None:
            with scope:
                await stage.address.read_stream(proved, reader)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            yield reader
            scope.cancel()
            with trio.move_on_after(LET_GO_S, shield=True):
                await reader.ended.wait()
            if not reader.ended.is_set():
                run.give_up(
                    PluginFaultError(
                        LEAVES,
                        "The client of a stream went away, and write went on. Let Cancelled pass.",
                    )
                )
                await trio.sleep_forever()

    async def _gets_more(
        self, stage: DriverStage, reader: StreamClient, name: str = REACHES, when: str = ""
    ) -> None:
        """Have something happen; the reader has to be told."""
        known = len(reader.parts)
        await self.tell_streams()
        with trio.move_on_after(self.patience_s):
            await reader.wait_parts(known + 1)
        self._look_at_writes(stage)
        if reader.refused is not None:
            raise PluginFaultError(
                name,
                f"A call of stream_calls was answered {reader.refused}{when}, and not with a "
                "stream. Prove its caller, and return a CarrierStream.",
            )
        if len(reader.parts) == known:
            raise PluginFaultError(
                name,
                f"A stream sent nothing within {self.patience_s:g} s{when}. Each stream has a task "
                "of its own, in which write waits for its own client alone; if it tells only of "
                "what happens, override tell_streams in your suite.",
            )
        if not all(isinstance(part, bytes) for part in reader.parts):
            raise PluginFaultError(name, "A stream sent what is no octets. Encode its parts.")

    def _look_at_writes(self, stage: DriverStage) -> None:
        """Check that no stream has raised anything."""
        if bugs := stage.address.watched.bugs:
            raise PluginFaultError(
                REACHES,
                f"A stream raised {type(bugs[0]).__name__}: its client loses it, and the log has a "
                "line. Let write return at its end, and raise nothing.",
            )
