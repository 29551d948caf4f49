"""A driver that runs, as the checks of its suite see it: what is asked of it, under deadlines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from risala.plugins.contract import Accepted, Driver, HealthState, Outcome, Receipt, Segment
from risala.plugins.fits import fault_of, fault_of_receipt
from risala.plugins.testing.drivers.checked_context import CheckedContext
from risala.plugins.testing.faults import PluginFaultError
from risala.plugins.testing.suite import ConformanceSuite

OVERDUE_S: Final = 5.0
"""What the engine waits beyond ``submit_s`` before it gives a submit up."""


@dataclass(slots=True, eq=False)
class DriverLife:
    """One call of ``run``."""

    context: CheckedContext
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    started: trio.Event = field(default_factory=trio.Event)
    ended: trio.Event = field(default_factory=trio.Event)
    returned: bool = False
    """It came back by itself, or swallowed its cancellation."""
    error: BaseException | None = None

    async def live(self, driver: Driver) -> None:
        try:
            with self.scope:
                # Not by nursery.start: a nursery would tell of the cancellation in the driver's
                # place, whether it lets it pass or not.
                await driver.run(self.context, task_status=_Started(self.started))
                self.returned = True
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- told as the driver's fault
            self.error = error
        self.context.is_over = True
        self.ended.set()


class _Started:
    """Hears that ``run`` called ``started()``."""

    def __init__(self, heard: trio.Event) -> None:
        self._heard = heard

    def started(self, value: object = None) -> None:
        if self._heard.is_set():
            raise RuntimeError("called 'started' twice on the same task status")
        self._heard.set()


class DriverStage:
    """A driver and its present life.

    Args:
        ids: the carrier's ids that were given so far, and in which check: those of this check are
            added.
    """

    def __init__(
        self, suite: ConformanceSuite, check: str, driver: Driver, ids: MutableMapping[str, str]
    ) -> None:
        self.suite = suite
        self._run = suite.run
        self.driver = driver
        self.capabilities = driver.capabilities
        self._check = check
        self._ids = ids
        self._earlier = dict(ids)
        self._mine: set[str] = set()
        self.context = CheckedContext(self._earlier)
        self.life = DriverLife(self.context)

    # -- its life --------------------------------------------------------------------------------

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        """Run the driver until it is up; at the end it is cancelled, and has to end."""
        self.context = CheckedContext(self._earlier)
        self.life = DriverLife(self.context)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.life.live, self.driver)
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

    async def _come_up(self) -> None:
        await self.until(
            self.life.started.wait,
            "test_starts_at_once",
            "run did not call task_status.started() within {limit:g} s. Call it first of all, "
            "before any connection is made: the engine does not wait for carriers to start.",
        )
        await self.until(
            partial(self.context.wait_health, HealthState.UP),
            "test_comes_up",
            "run did not tell Health(HealthState.UP, …) within {limit:g} s, though its carrier "
            "is there. Submits come only while the link is told to be up.",
        )

    async def until(self, wait: Callable[[], Awaitable[object]], check: str, overdue: str) -> None:
        """Wait for something that the driver is to do, or say that it did not."""
        limit = self.suite.patience_s
        with trio.move_on_after(limit) as scope:
            await wait()
        if scope.cancelled_caught:
            self.check_reports()
            raise PluginFaultError(check, overdue.format(limit=limit))

    def check_reports(self) -> None:
        """That all which the driver told its context is as the contract says."""
        if wrong := self.context.wrong:
            raise PluginFaultError(
                "test_tells_what_fits", f"The driver called {wrong[0]}. The engine takes no other."
            )

    async def _watch_end(self) -> None:
        await self.life.ended.wait()
        self._blame_end()

    def _blame_end(self) -> None:
        check, error = "test_runs_for_life", self.life.error
        if error is not None:
            raise PluginFaultError(
                check,
                f"run raised {_named(error)}. What a carrier does is told by context.health, and "
                "tried again with a growing wait; run ends only by cancellation.",
            ) from error
        raise PluginFaultError(
            check,
            "run returned by itself. It lives until it is cancelled; a link that is lost is "
            "connected anew.",
        )

    async def end(self) -> None:
        """Cancel ``run``, which must come to its end, and by that alone."""
        life = self.life
        if life.ended.is_set():
            self._blame_end()
        fault = PluginFaultError(
            "test_ends_when_cancelled",
            f"run did not end within {self.suite.leave_s:g} s of being cancelled. Let Cancelled "
            "pass, and take leave of the carrier under a shielded deadline of a few seconds.",
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
                "run swallowed its cancellation and returned. Catch no trio.Cancelled (nor "
                "BaseException) without raising it again.",
            )

    async def _leave(self, fault: BaseException) -> None:
        """Cancel ``run``; give all up with this fault where it does not end."""
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
        """What a submit comes to; that it is an outcome is proved."""
        limit = self.suite.patience_s if limit_s is None else limit_s
        overdue = PluginFaultError(
            "test_submit_answers",
            f"submit did not return within {limit:g} s, though its carrier answers at once. It is "
            "bounded by the driver's own limit (capabilities.submit_s), after which it returns "
            "Uncertain.",
        )
        try:
            said: object = await self.suite.call(
                partial(self.driver.submit, segment), limit, overdue
            )
        except PluginFaultError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginFaultError(
                "test_submit_does_not_raise",
                f"submit raised {_named(error)}. It never raises for what a carrier may say or "
                "fail to say: return one of the five outcomes.",
            ) from error
        return self.outcome(said, "submit")

    def outcome(self, said: object, call: str) -> Outcome:
        """What a driver answered, once it is proved to be an outcome."""
        fault = fault_of(said)
        if fault is not None:
            raise PluginFaultError(
                "test_submit_returns_an_outcome",
                f"{call} did not answer with an outcome: {fault}. Return Accepted, Throttled, "
                "Refused, Uncertain or Unsent; None and True are no answers.",
            )
        assert isinstance(said, Outcome)
        if isinstance(said, Accepted) and said.carrier_id:
            self._mine.add(said.carrier_id)
            self._ids[said.carrier_id] = self._check
        return said

    async def accepted(self, segment: Segment) -> Accepted:
        """Submit what the carrier takes."""
        return self.taken(await self.submit(segment), "submit")

    def taken(self, outcome: Outcome, call: str) -> Accepted:
        """The outcome, which must be that the carrier has the segment, under an id."""
        if not isinstance(outcome, Accepted):
            raise PluginFaultError(
                "test_submit_gives_an_id",
                f"{call} answered {type(outcome).__name__}({outcome.raw!r}), though the carrier "
                "takes what it is sent. Return Accepted with the id that the carrier gave.",
            )
        if not outcome.carrier_id and self.capabilities.receipts:
            raise PluginFaultError(
                "test_submit_gives_an_id",
                f"{call} answered Accepted without an id, and capabilities.receipts is True: no "
                "receipt can be matched then.",
            )
        return outcome

    async def query(self, carrier_id: str, sender: str) -> Receipt | None:
        """What ``query`` tells; that it is a receipt or None is proved."""
        limit = self.suite.patience_s
        overdue = PluginFaultError(
            "test_a_query_answers",
            f"query did not return within {limit:g} s. It is bounded in time by the driver; "
            "return None where the carrier does not tell.",
        )
        try:
            said: object = await self.suite.call(
                partial(self.driver.query, carrier_id, sender=sender), limit, overdue
            )
        except PluginFaultError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginFaultError(
                "test_a_query_does_not_raise",
                f"query raised {_named(error)}. Return None where the carrier cannot tell.",
            ) from error
        fault = None if said is None else fault_of_receipt(said)
        if fault is not None:
            raise PluginFaultError(
                "test_a_query_does_not_raise", f"query returned no Receipt: {fault}."
            )
        assert said is None or isinstance(said, Receipt)
        return said


def _named(error: BaseException) -> str:
    """An error's type and the first line of its text."""
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        return _named(error.exceptions[0])
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}({first!r})" if first else type(error).__name__
