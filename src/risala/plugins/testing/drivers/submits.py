"""Checks of a driver's answers to submits and posts."""

from __future__ import annotations

from functools import partial

import trio

from risala.plugins.contract import (
    Accepted,
    Alphabet,
    HealthState,
    Outcome,
    Posting,
    Segment,
    Unsent,
)
from risala.plugins.testing.checks import NotApplicable, PluginFaultError, check
from risala.plugins.testing.drivers.arrivals import DriverArrivalChecks, refused_kind
from risala.plugins.testing.drivers.base import segment
from risala.plugins.testing.drivers.stage import DriverStage
from risala.sms.numbering.plan import EXAMPLE

_WINDOW_MAX = 100
"""The most submits that a check makes at once: thousands would prove no more."""


class _Answers:
    """A driver's answers to posted segments."""

    def __init__(self) -> None:
        self.outcomes: list[object] = []
        self._changed = trio.Event()

    def take(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self._changed.set()

    async def wait(self, count: int) -> None:
        while len(self.outcomes) < count:
            self._changed = trio.Event()
            await self._changed.wait()


def _numbered(count: int) -> list[Segment]:
    """Segments that the carrier can tell apart."""
    return [
        segment(f"Number {number}", recipient=f"{EXAMPLE[:-6]}{number:03}456")
        for number in range(count)
    ]


class DriverSubmitChecks(DriverArrivalChecks):
    """Checks of a driver's answers."""

    @check("driver-contract.md#unsent")
    async def test_submit_before_run_sends_nothing(self) -> None:
        """A submit before ``run`` is Unsent, and is not sent later either."""
        async with self.opened("test_submit_before_run_sends_nothing") as stage:
            outcome = await stage.submit(segment())
            if not isinstance(outcome, Unsent):
                raise PluginFaultError(
                    "test_submit_before_run_sends_nothing",
                    f"submit answered {type(outcome).__name__} before run was called. Nothing can "
                    "leave without a link: return Unsent, and the message keeps its place.",
                )
            async with stage.alive():
                await trio.sleep(self.quiet_s)
                if await self.carrier_has_any():
                    raise PluginFaultError(
                        "test_submit_before_run_sends_nothing",
                        "submit answered Unsent before run was called, but the carrier got the "
                        "segment once the link was up. The engine sends it again, and a phone gets "
                        "it twice.",
                    )

    @check("driver-contract.md#driversubmit")
    async def test_submit_answers(self) -> None:
        """``submit`` returns soon if the carrier answers at once."""
        await self._submit_one("test_submit_answers")

    @check("driver-contract.md#driversubmit")
    async def test_submit_does_not_raise(self) -> None:
        """``submit`` never raises."""
        await self._submit_one("test_submit_does_not_raise")

    @check("driver-contract.md#outcomes")
    async def test_submit_returns_an_outcome(self) -> None:
        """``submit`` returns one of the five outcomes, with fields of the right types."""
        await self._submit_one("test_submit_returns_an_outcome")

    @check("driver-contract.md#accepted")
    async def test_submit_gives_an_id(self) -> None:
        """A segment that the carrier takes is Accepted, with an id."""
        await self._submit_one("test_submit_gives_an_id")

    async def _submit_one(self, name: str) -> None:
        async with self.running(name) as stage:
            await stage.accepted(segment())

    @check("driver-contract.md#accepted")
    async def test_each_id_is_given_once(self) -> None:
        """Two segments never get the same id."""
        async with self.running("test_each_id_is_given_once") as stage:
            first = await stage.accepted(segment("One"))
            second = await stage.accepted(segment("Two"))
            if first.carrier_id and first.carrier_id == second.carrier_id:
                raise PluginFaultError(
                    "test_each_id_is_given_once",
                    f"submit gave two segments the same id, {first.carrier_id!r}: a receipt for "
                    "one would be taken for the other's.",
                )

    @check("driver-contract.md#segment")
    async def test_takes_every_kind_of_segment(self) -> None:
        """Both alphabets, parts of long messages and urgent segments are all accepted."""
        kinds = {
            "GSM 03.38 with its extensions": segment("Crème à 5 € {ok} @£"),
            "UCS-2": segment("رمزك جاهز 😀", alphabet=Alphabet.UCS2),
            "an urgent segment": segment("Your code", urgent=True),
            "a second attempt": segment("Again", attempt=2),
        }
        async with self.running("test_takes_every_kind_of_segment") as stage:
            if not stage.capabilities.takes_whole:
                part = segment("part", number=2, total=3, reference=40_000)
                kinds["the second part of three"] = part
            for name, each in kinds.items():
                outcome = await stage.submit(each)
                if not isinstance(outcome, Accepted) and not self.cannot_take(each, outcome):
                    raise refused_kind(outcome, name)

    @check("driver-contract.md#capabilities")
    async def test_a_full_window_is_answered(self) -> None:
        """``window_max`` submits at once are all accepted."""
        async with self.running("test_a_full_window_is_answered") as stage:
            window = min(stage.capabilities.window_max, _WINDOW_MAX)
            outcomes: list[Outcome] = []
            sent = _numbered(window)

            async def submit(each: Segment) -> None:
                outcomes.append(await stage.submit(each))

            async with trio.open_nursery() as nursery:
                for each in sent:
                    nursery.start_soon(submit, each)
            self._look_at_window(stage, outcomes, window, "submits")
            await self.seen_once(stage, sent)

    @check("driver-contract.md#driversubmit")
    async def test_a_cancelled_submit_harms_nobody(self) -> None:
        """After a cancelled submit, the next one is accepted."""
        async with self.running("test_a_cancelled_submit_harms_nobody") as stage:
            overdue = PluginFaultError(
                "test_a_cancelled_submit_harms_nobody",
                "submit ignores its cancellation. Let Cancelled pass; the outcome is uncertain.",
            )

            async def cancelled() -> None:
                with trio.CancelScope() as scope:
                    scope.cancel()
                    await stage.driver.submit(segment("Cancelled"))

            await stage.accepted(segment("Before it"))
            try:
                await self.call(cancelled, self.patience_s, overdue)
            except Exception as error:
                if isinstance(error, PluginFaultError):
                    raise
                raise PluginFaultError(
                    "test_a_cancelled_submit_harms_nobody",
                    f"submit raised {type(error).__name__} when it was cancelled. Let Cancelled "
                    "pass.",
                ) from error
            outcome = await stage.submit(segment("After it"))
            if not isinstance(outcome, Accepted):
                raise PluginFaultError(
                    "test_a_cancelled_submit_harms_nobody",
                    f"After a cancelled submit, the next was {type(outcome).__name__}"
                    f"({outcome.raw!r}). Cancelling one call must not touch the others' link.",
                )

    @check("driver-contract.md#posting")
    async def test_what_is_posted_is_answered_once(self) -> None:
        """``post``: each segment of a full window is answered once."""
        async with self.running("test_what_is_posted_is_answered_once") as stage:
            if not isinstance(stage.driver, Posting):
                raise NotApplicable("the driver has no method post")
            window = min(stage.capabilities.window_max, _WINDOW_MAX)
            heard, sent = _Answers(), _numbered(window)
            for part in sent:
                stage.driver.post(part, heard.take)
            await stage.until(
                partial(heard.wait, window),
                "test_what_is_posted_is_answered_once",
                f"{window} segments were posted, but not all were answered within "
                "{limit:g} s. Call answered once for each.",
            )
            await trio.sleep(self.quiet_s)
            if len(heard.outcomes) > window:
                raise PluginFaultError(
                    "test_what_is_posted_is_answered_once",
                    f"{window} segments were posted, and answered was called {len(heard.outcomes)} "
                    "times. Call it once for each, whatever its outcome.",
                )
            outcomes = [stage.outcome(each, "post") for each in heard.outcomes]
            self._look_at_window(stage, outcomes, window, "posts")
            await self.seen_once(stage, sent)

    @check("driver-contract.md#posting")
    async def test_what_is_posted_before_run_or_after_it_is_unsent(self) -> None:
        """``post``: without a link, the answer is Unsent."""
        name = "test_what_is_posted_before_run_or_after_it_is_unsent"
        async with self.opened(name) as stage:
            if not isinstance(stage.driver, Posting):
                raise NotApplicable("the driver has no method post")
            heard = _Answers()
            stage.driver.post(segment(), heard.take)
            async with stage.alive():
                pass
            stage.driver.post(segment(), heard.take)
            await stage.until(partial(heard.wait, 2), name, "A post got no answer in {limit:g} s.")
            for each in heard.outcomes:
                if not isinstance(each, Unsent):
                    raise PluginFaultError(
                        name,
                        f"post answered {type(each).__name__} while run was not running. Nothing "
                        "can leave without a link: answer Unsent.",
                    )

    def _look_at_window(
        self, stage: DriverStage, outcomes: list[Outcome], window: int, what: str
    ) -> None:
        """Check that all are accepted, each with its own id, and that the link is still up."""
        check = "test_a_full_window_is_answered"
        others = [one for one in outcomes if not isinstance(one, Accepted)]
        if others:
            raise PluginFaultError(
                check,
                f"capabilities.window_max is {stage.capabilities.window_max}, but {len(others)} of "
                f"{window} {what} at once were not accepted. The first was "
                f"{type(others[0]).__name__}({others[0].raw!r}). Claim what the carrier takes.",
            )
        ids = [one.carrier_id for one in outcomes if isinstance(one, Accepted) and one.carrier_id]
        if len({*ids}) < len(ids):
            raise PluginFaultError(
                "test_each_id_is_given_once",
                f"Of {window} {what} at once, two got the same id.",
            )
        if stage.context.healths[-1].state is not HealthState.UP:
            raise PluginFaultError(check, f"{window} {what} at once took the link down.")
