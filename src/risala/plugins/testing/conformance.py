"""The tests that every driver must pass. Subclass, say how to build yours, run pytest.

::

    class TestMyDriver(DriverConformance):
        @asynccontextmanager
        async def open_driver(self):
            async with my_carrier() as address:
                yield MyDriver("mine", MySettings(address=address))

The carrier behind it must accept what it is sent, and where ``capabilities.receipts`` is true send
a final receipt within :attr:`DriverConformance.patience_s`.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import trio

from risala.plugins.contract import (
    Accepted,
    Commandable,
    CommandRefusedError,
    Driver,
    HealthState,
    Outcome,
    Posting,
    Segment,
    Unsent,
)
from risala.plugins.testing.context import RecordingContext
from risala.sms.message import Alphabet

_FAR_FUTURE_MS = 4_102_444_800_000  # 2100-01-01


def segment(text: str = "Hello", **changes: object) -> Segment:
    """A segment to submit; ``changes`` are its fields."""
    fields: dict[str, object] = {
        "message_id": "m1",
        "number": 1,
        "total": 1,
        "attempt": 1,
        "sender": "RISALA",
        "recipient": "+22236123456",
        "alphabet": Alphabet.GSM7,
        "text": text,
        "reference": 7,
        "expires_at_ms": _FAR_FUTURE_MS,
    }
    return Segment(**{**fields, **changes})  # type: ignore[arg-type]


class _Answers:
    """What a driver answers to what is posted to it."""

    def __init__(self) -> None:
        self._outcomes: list[Outcome] = []
        self._changed = trio.Event()

    def take(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        self._changed.set()

    async def wait(self, count: int) -> list[Outcome]:
        """All of them, once there are so many."""
        while len(self._outcomes) < count:
            self._changed = trio.Event()
            await self._changed.wait()
        return self._outcomes


class DriverConformance:
    """Subclass it as ``class TestSomething(DriverConformance)``."""

    patience_s = 5.0
    """Seconds that may pass until something happens that the carrier does at once."""
    leave_s = 5.0
    """Seconds that ``run`` may take to end after it is cancelled."""

    def open_driver(self) -> AbstractAsyncContextManager[Driver]:
        """A built driver that is not running, with its carrier ready."""
        raise NotImplementedError

    @asynccontextmanager
    async def running(self) -> AsyncIterator[tuple[Driver, RecordingContext]]:
        """The driver, running and up; it is stopped at the end."""
        async with self.open_driver() as driver, trio.open_nursery() as nursery:
            context = RecordingContext()
            await nursery.start(driver.run, context)
            with trio.fail_after(self.patience_s):
                await context.wait_health(HealthState.UP)
            yield driver, context
            nursery.cancel_scope.cancel()

    async def test_is_a_driver(self) -> None:
        async with self.open_driver() as driver:
            assert isinstance(driver, Driver)
            assert driver.capabilities.window_max >= 1

    async def test_starts_at_once_and_comes_up(self) -> None:
        async with self.running() as (_, context):
            assert context.healths[-1].text

    async def test_submit_gives_an_id(self) -> None:
        async with self.running() as (driver, _):
            with trio.fail_after(self.patience_s):
                outcome = await driver.submit(segment())
            assert isinstance(outcome, Accepted)
            assert outcome.carrier_id

    async def test_submit_before_run_sends_nothing(self) -> None:
        async with self.open_driver() as driver:
            with trio.fail_after(self.patience_s):
                assert isinstance(await driver.submit(segment()), Unsent)

    async def test_a_full_window_is_answered(self) -> None:
        async with self.running() as (driver, context):
            outcomes: list[Outcome] = []

            async def submit(number: int) -> None:
                outcomes.append(await driver.submit(segment(message_id=f"m{number}")))

            window = min(driver.capabilities.window_max, 100)
            with trio.fail_after(self.patience_s):
                async with trio.open_nursery() as nursery:
                    for number in range(window):
                        nursery.start_soon(submit, number)
            ids = {outcome.carrier_id for outcome in outcomes if isinstance(outcome, Accepted)}
            assert len(ids) == window, "every submit was accepted, under an id of its own"
            assert context.healths[-1].state is HealthState.UP

    async def test_what_is_posted_is_answered_once(self) -> None:
        """Of a driver that can be posted to: a full window, without a task for each."""
        async with self.running() as (driver, context):
            if not isinstance(driver, Posting):
                return
            window = min(driver.capabilities.window_max, 100)
            heard = _Answers()
            for number in range(window):
                driver.post(segment(message_id=f"m{number}"), heard.take)
            with trio.fail_after(self.patience_s):
                outcomes = await heard.wait(window)
            ids = {each.carrier_id for each in outcomes if isinstance(each, Accepted)}
            assert len(ids) == len(outcomes) == window, "every post was accepted once, by an id"
            assert context.healths[-1].state is HealthState.UP

    async def test_what_is_posted_before_run_or_after_it_is_unsent(self) -> None:
        async with self.open_driver() as driver:
            if not isinstance(driver, Posting):
                return
            heard = _Answers()
            driver.post(segment(), heard.take)
            context = RecordingContext()
            async with trio.open_nursery() as nursery:
                await nursery.start(driver.run, context)
                with trio.fail_after(self.patience_s):
                    await context.wait_health(HealthState.UP)
                nursery.cancel_scope.cancel()
            driver.post(segment(), heard.take)
            with trio.fail_after(self.patience_s):
                outcomes = await heard.wait(2)
            assert all(isinstance(each, Unsent) for each in outcomes)

    async def test_receipts_name_what_was_accepted(self) -> None:
        async with self.running() as (driver, context):
            if not driver.capabilities.receipts:
                return
            outcome = await driver.submit(segment())
            assert isinstance(outcome, Accepted)
            with trio.fail_after(self.patience_s):
                await context.wait_until(lambda it: any(r.state.is_final for r in it.receipts))
            receipt = next(r for r in context.receipts if r.state.is_final)
            assert outcome.carrier_id in (receipt.carrier_id, *receipt.also_known_as)

    async def test_a_receipt_that_was_not_stored_comes_again(self) -> None:
        async with self.running() as (driver, context):
            if not driver.capabilities.receipts:
                return
            context.refusals = 1
            await driver.submit(segment())
            with trio.fail_after(self.patience_s):
                await context.wait_receipts(1)
            assert context.refused == 1

    async def test_commands_are_words_and_others_are_refused(self) -> None:
        async with self.running() as (driver, _):
            if not isinstance(driver, Commandable):
                return
            names = [each.name for each in driver.commands]
            assert len(set(names)) == len(names)
            assert all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in names)
            assert all(each.summary.endswith(".") for each in driver.commands)
            refused = False
            try:
                await driver.command("no-such-command", ())
            except CommandRefusedError:
                refused = True
            assert refused

    async def test_ends_when_cancelled(self) -> None:
        async with self.open_driver() as driver:
            context = RecordingContext()
            left_at = math.nan
            async with trio.open_nursery() as nursery:
                await nursery.start(driver.run, context)
                with trio.fail_after(self.patience_s):
                    await context.wait_health(HealthState.UP)
                left_at = trio.current_time()
                nursery.cancel_scope.cancel()
            assert trio.current_time() - left_at <= self.leave_s
            assert isinstance(await driver.submit(segment()), Unsent)

    async def test_a_cancelled_submit_harms_nobody(self) -> None:
        async with self.running() as (driver, _):
            with trio.CancelScope() as scope:
                scope.cancel()
                await driver.submit(segment())
            with trio.fail_after(self.patience_s):
                assert isinstance(await driver.submit(segment()), Accepted)
