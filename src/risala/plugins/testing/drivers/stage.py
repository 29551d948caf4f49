"""A running driver, as the checks of its suite call it: each call has a deadline."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from risala.plugins.answering import Answering
from risala.plugins.contract import (
    Accepted,
    Driver,
    HealthState,
    NotTaken,
    Outcome,
    Receipt,
    Segment,
    SharedAccount,
    Sharing,
)
from risala.plugins.fits import fault_of, fault_of_receipt
from risala.plugins.testing.called import DriverAddress, open_address
from risala.plugins.testing.checks import PluginFaultError
from risala.plugins.testing.drivers.checked_context import CheckedContext
from risala.plugins.testing.suite import ConformanceSuite

OVERDUE_S: Final = 5.0
"""Seconds that the engine waits beyond ``submit_s`` before it gives up a submit."""


@dataclass(slots=True, eq=False)
class DriverLife:
    """One call of ``run``."""

    context: CheckedContext
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    started: trio.Event = field(default_factory=trio.Event)
    ended: trio.Event = field(default_factory=trio.Event)
    driving: trio.Event | None = None
    """:attr:`ended` while it runs."""
    returned: bool = False
    """``run`` came back by itself, or swallowed its cancellation."""
    error: BaseException | None = None

    async def live(self, driver: Driver) -> None:
        self.driving = self.ended
        try:
            with self.scope:
                # Not by nursery.start: the nursery would raise Cancelled even where the driver
                # swallows it.
                await driver.run(self.context, task_status=_Started(self.started))
                self.returned = True
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- reported as the driver's fault
            self.error = error
        self.context.is_over = True
        self.driving = None
        self.ended.set()


SHARED_CHECK: Final = "test_what_it_shares_lives_by_itself"
_SHARED: Final = "What the account shares:"


@dataclass(slots=True, eq=False)
class SharedLife:
    """One call of the ``run`` of what an account shares."""

    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    ended: trio.Event = field(default_factory=trio.Event)
    error: BaseException | None = None

    async def live(self, shared: SharedAccount) -> None:
        try:
            with self.scope:
                await shared.run()
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- reported as its fault
            self.error = error
        self.ended.set()

    async def watch(self) -> None:
        """Blame it if it ends by itself."""
        await self.ended.wait()
        how = "returned by itself" if self.error is None else f"raised {_named(self.error)}"
        raise PluginFaultError(
            SHARED_CHECK,
            f"{_SHARED} run {how}. It must run until it is cancelled, whatever drivers do.",
        ) from self.error


class _Started:
    """Notices that ``run`` calls ``started()``."""

    def __init__(self, heard: trio.Event) -> None:
        self._heard = heard

    def started(self, value: object = None) -> None:
        if self._heard.is_set():
            raise RuntimeError("called 'started' twice on the same task status")
        self._heard.set()


Meet = Callable[[DriverAddress], Awaitable[None]]
"""Called with the address of a driver that is called, before it runs."""


class DriverStage:
    """A driver and its current run.

    Args:
        meet: tells the carrier where it calls the driver.
        ids: the carrier's ids that checks have got so far, each with its check; this check adds
            its own.
    """

    def __init__(
        self,
        suite: ConformanceSuite,
        check: str,
        driver: Driver,
        ids: MutableMapping[str, str],
        meet: Meet,
    ) -> None:
        self.suite = suite
        self._run = suite.run
        self.driver = driver
        self.capabilities = driver.capabilities
        self._check = check
        self._meet = meet
        self._ids = ids
        self._earlier = dict(ids)
        self._mine: set[str] = set()
        self.context = CheckedContext(self._earlier)
        self.life = DriverLife(self.context)
        self._address: DriverAddress | None = None
        self._shared_runs = False

    @property
    def address(self) -> DriverAddress:
        """Where the driver is called while it runs, if it is."""
        assert self._address is not None
        return self._address

    # -- its life --------------------------------------------------------------------------------

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        """Run the driver until it is up; at the end it is cancelled, and has to end."""
        self.context = CheckedContext(self._earlier)
        self.life = life = DriverLife(self.context)
        async with (
            self.sharing(),
            self._at_its_address(life),
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(life.live, self.driver)
            try:
                async with trio.open_nursery() as watching:
                    watching.start_soon(self._watch_end)
                    await self._come_up()
                    yield
                    watching.cancel_scope.cancel()
            except BaseException as error:
                await self._leave(error)
                raise
            await self.end()

    @asynccontextmanager
    async def sharing(self) -> AsyncIterator[None]:
        """Run what its account shares, around one life of the driver or several."""
        driver = self.driver
        if not isinstance(driver, Sharing) or self._shared_runs:
            yield
            return
        self._shared_runs, shared = True, SharedLife()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(shared.live, driver.shared_account)
            try:
                async with trio.open_nursery() as watching:
                    watching.start_soon(shared.watch)
                    yield
                    watching.cancel_scope.cancel()
            finally:
                await self._end_shared(shared)
        self._shared_runs = False

    async def _end_shared(self, shared: SharedLife) -> None:
        shared.scope.cancel()
        with trio.move_on_after(self.suite.leave_s, shield=True):
            await shared.ended.wait()
        if not shared.ended.is_set():
            overdue = f"run did not end within {self.suite.leave_s:g} s of being cancelled"
            self._run.give_up(PluginFaultError(SHARED_CHECK, f"{_SHARED} {overdue}."))
            await trio.sleep_forever()

    @asynccontextmanager
    async def _at_its_address(self, life: DriverLife) -> AsyncIterator[None]:
        """Let a driver that is called be called while it runs."""
        if not isinstance(self.driver, Answering):
            yield
            return
        async with open_address(self.driver, driving=lambda: life.driving) as self._address:
            await self._meet(self._address)
            yield

    async def _come_up(self) -> None:
        await self.until(
            self.life.started.wait,
            "test_starts_at_once",
            "run did not call task_status.started() within {limit:g} s. Call it first, "
            "before you connect: the engine does not wait for carriers to start.",
        )
        await self.until(
            partial(self.context.wait_health, HealthState.UP),
            "test_comes_up",
            "run did not report Health(HealthState.UP, …) within {limit:g} s, though its carrier "
            "is ready. The engine submits only while the driver says that its link is up.",
        )

    async def until(self, wait: Callable[[], Awaitable[object]], check: str, overdue: str) -> None:
        """Wait for something that the driver must do; PluginFaultError if it does not."""
        limit = self.suite.patience_s
        with trio.move_on_after(limit) as scope:
            await wait()
        if scope.cancelled_caught:
            self.check_reports()
            raise PluginFaultError(check, overdue.format(limit=limit))

    def check_reports(self) -> None:
        """Check that all that the driver reported is as the contract says."""
        if wrong := self.context.wrong:
            raise PluginFaultError(
                "test_tells_what_fits", f"A wrong call of {wrong[0]}. The engine does not take it."
            )

    async def _watch_end(self) -> None:
        await self.life.ended.wait()
        self._blame_end()

    def _blame_end(self) -> None:
        check, error = "test_runs_for_life", self.life.error
        if error is not None:
            raise PluginFaultError(
                check,
                f"run raised {_named(error)}. Report a carrier's faults by context.health, and try "
                "again after growing waits; run ends only when it is cancelled.",
            ) from error
        raise PluginFaultError(
            check,
            "run returned by itself. It must run until it is cancelled, and connect a lost link "
            "again.",
        )

    async def end(self) -> None:
        """Cancel ``run``, and check that it ends, and only by that."""
        life = self.life
        if life.ended.is_set():
            self._blame_end()
        fault = PluginFaultError(
            "test_ends_when_cancelled",
            f"run did not end within {self.suite.leave_s:g} s of being cancelled. Let Cancelled "
            "pass, and close the link under a shielded deadline of a few seconds.",
        )
        await self._leave(fault)
        if life.error is not None:
            raise PluginFaultError(
                "test_ends_when_cancelled",
                f"run raised {_named(life.error)} when it was cancelled.",
            ) from life.error
        if life.returned:
            raise PluginFaultError(
                "test_lets_its_cancellation_pass",
                "run swallowed its cancellation and returned. Where it catches trio.Cancelled (or "
                "BaseException), raise it again.",
            )

    async def _leave(self, fault: BaseException) -> None:
        """Cancel ``run``; if it does not end, end the whole check with this fault."""
        self.life.scope.cancel()
        with trio.move_on_after(self.suite.leave_s, shield=True):
            await self.life.ended.wait()
        if not self.life.ended.is_set():
            self._run.give_up(fault)
            await trio.sleep_forever()

    # -- what it is asked --------------------------------------------------------------------------

    @property
    def ids(self) -> frozenset[str]:
        """The carrier's ids of what this check submitted."""
        return frozenset(self._mine)

    async def submit(self, segment: Segment, limit_s: float | None = None) -> Outcome:
        """Submit a segment; the answer is checked to be an outcome."""
        limit = self.suite.patience_s if limit_s is None else limit_s
        overdue = PluginFaultError(
            "test_submit_answers",
            f"submit did not return within {limit:g} s, though its carrier answers at once. The "
            "driver itself must limit the time to capabilities.submit_s, and then return "
            "Uncertain.",
        )
        try:
            answer: object = await self.suite.call(
                partial(self.driver.submit, segment), limit, overdue
            )
        except PluginFaultError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginFaultError(
                "test_submit_does_not_raise",
                f"submit raised {_named(error)}. It must not raise, whatever the carrier answers: "
                "return one of the five outcomes.",
            ) from error
        return self.outcome(answer, "submit")

    def outcome(self, answer: object, call: str) -> Outcome:
        """A driver's answer, checked to be an outcome."""
        fault = fault_of(answer)
        if fault is not None:
            raise PluginFaultError(
                "test_submit_returns_an_outcome",
                f"{call} did not answer with a valid outcome: {fault}. Return Accepted, Throttled, "
                "Refused, Uncertain or Unsent.",
            )
        assert isinstance(answer, Outcome)
        if isinstance(answer, Accepted) and answer.carrier_id:
            self._mine.add(answer.carrier_id)
            self._ids[answer.carrier_id] = self._check
        return answer

    async def accepted(self, segment: Segment) -> Accepted:
        """Submit a segment that the carrier takes."""
        return self.taken(await self.submit(segment), "submit")

    def taken(self, outcome: Outcome, call: str) -> Accepted:
        """The outcome, which must be Accepted, with an id where receipts are claimed."""
        if not isinstance(outcome, Accepted):
            raise PluginFaultError(
                "test_submit_gives_an_id",
                f"{call} answered {type(outcome).__name__}({outcome.raw!r}), though the carrier "
                "takes all segments. Return Accepted with the id that the carrier gave.",
            )
        if not outcome.carrier_id and self.capabilities.receipts:
            raise PluginFaultError(
                "test_submit_gives_an_id",
                f"{call} answered Accepted without an id, and capabilities.receipts is True: no "
                "receipt can be matched without one.",
            )
        return outcome

    async def query(self, carrier_id: str, sender: str) -> Receipt | NotTaken | None:
        """Query a segment; the answer is checked to be a receipt, NotTaken or None."""
        limit = self.suite.patience_s
        overdue = PluginFaultError(
            "test_a_query_answers",
            f"query did not return within {limit:g} s. The driver itself must limit its time; "
            "return None if the carrier does not answer.",
        )
        try:
            answer: object = await self.suite.call(
                partial(self.driver.query, carrier_id, sender=sender), limit, overdue
            )
        except PluginFaultError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginFaultError(
                "test_a_query_does_not_raise",
                f"query raised {_named(error)}. Return None if the carrier cannot tell.",
            ) from error
        if isinstance(answer, NotTaken):
            return answer
        fault = None if answer is None else fault_of_receipt(answer)
        if fault is not None:
            raise PluginFaultError(
                "test_a_query_does_not_raise", f"query gave a wrong answer: {fault}."
            )
        assert answer is None or isinstance(answer, Receipt)
        return answer


def _named(error: BaseException) -> str:
    """An error's type and the first line of its text."""
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        return _named(error.exceptions[0])
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}({first!r})" if first else type(error).__name__
