"""Who calls a driver in the checks of its calls: its carrier, and strangers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import trio

from risala.plugins.answering import Answering
from risala.plugins.testing.called import CallbackAnswer, CarrierCallback
from risala.plugins.testing.checks import NotApplicable, NotShown, PluginFaultError
from risala.plugins.testing.drivers.base import DriverSuite
from risala.plugins.testing.drivers.odd_calls import OddCall, OddCalls
from risala.plugins.testing.drivers.stage import DriverStage
from risala.plugins.testing.suite import LET_GO_S

ANSWERS: Final = "test_answers_its_carrier"
REFUSES: Final = "test_who_is_not_the_carrier_changes_nothing"
ODD: Final = "test_odd_calls_are_answered"
UNPROVED: Final = 401
_IGNORES: Final = (
    "A call was cancelled, as when its client goes away, and answer went on. Let Cancelled pass."
)


def count_handed(stage: DriverStage) -> int:
    """How much the driver has handed over."""
    context = stage.context
    handed = len(context.receipts) + len(context.inbounds) + len(context.refused_once)
    notes = len(context.notes) + len(context.secrets)
    return handed + len(context.late) + len(context.reachables) + notes


class DriverCallers(DriverSuite):
    """Who calls a driver that is :class:`~risala.plugins.answering.Answering`."""

    @asynccontextmanager
    async def called(self, name: str) -> AsyncIterator[DriverStage]:
        """The driver, running, with its address; NotApplicable if it is not called."""
        async with self.opened(name) as stage:
            if not isinstance(stage.driver, Answering):
                raise NotApplicable("the driver is not called: it has no method answer")
            async with stage.alive():
                yield stage

    async def _calls(self) -> Sequence[CarrierCallback]:
        async def ask() -> Sequence[CarrierCallback]:
            return self.carrier_calls()

        calls = await self.shown("calls", ANSWERS, "carrier_calls", ask)
        if not calls:
            raise NotShown("calls (the suite's carrier_calls has none)")
        return calls

    async def _answers(self, stage: DriverStage) -> None:
        """Have the carrier make each of its calls."""
        for call in await self._calls():
            await self._brings(stage, call)

    def _proved(self, stage: DriverStage, call: CarrierCallback) -> CarrierCallback:
        """A call as the carrier makes it."""
        try:
            return self.prove_call(call)
        except NotImplementedError:
            if stage.address.secret:
                return call
            raise PluginFaultError(
                ANSWERS,
                "The suite does not know how your carrier proves its calls. Override prove_call in "
                "your suite; with capabilities.secret_address it is not needed.",
            ) from None

    def _odd(self, stage: DriverStage, call: CarrierCallback) -> OddCalls:
        return OddCalls(call, partial(self._proved, stage), stage.address.secret)

    def _needs_proof(self, stage: DriverStage, claim: str | None = None) -> None:
        """Raise NotApplicable if the service alone proves calls, and NotShown by ``unseen``."""
        if stage.address.secret:
            raise NotApplicable("capabilities.secret_address is True: the service proves calls")
        for each in ("calls", claim):
            if each in self.unseen:
                raise NotShown(f"{each} (the suite's author says so)")
        self._proved(stage, CarrierCallback())

    async def _ask(
        self,
        stage: DriverStage,
        call: CarrierCallback,
        secret: str | None = None,
        name: str = ANSWERS,
        when: str = "",
    ) -> CallbackAnswer:
        """The answer to a call."""
        overdue = PluginFaultError(
            name,
            f"A call was not answered within {self.patience_s:g} s{when}. Store what it brings, "
            "answer, and leave the rest to a task of run.",
        )
        work: Callable[[], Awaitable[CallbackAnswer]] = partial(
            stage.address.call, call, secret=secret
        )
        return await self.call(work, self.patience_s, overdue)

    async def _brings(
        self,
        stage: DriverStage,
        call: CarrierCallback,
        name: str = ANSWERS,
        when: str = "",
        tries: int = 1,
    ) -> None:
        """Have the carrier call: it has to be answered with success, and to bring something."""
        known, where = count_handed(stage), f"{call.path or '/'!r}"
        ask = partial(self._ask, stage, name=name, when=when)
        answer = await ask(self._proved(stage, call))
        for _ in range(tries - 1):
            if not answer.is_success:
                answer = await ask(self._proved(stage, call))
        self._look_at_bugs(stage, "a call of its carrier")
        stage.check_reports()
        if not answer.is_success:
            raise PluginFaultError(
                name,
                f"A call of the carrier to {where} was answered {answer.status}{when}. Call "
                "request.prove once its proof is right, and answer with success what was stored.",
            )
        if count_handed(stage) == known:
            raise PluginFaultError(
                name,
                f"A call of the carrier to {where} was answered {answer.status}{when}, and nothing "
                "was handed to the context. What it brings is lost.",
            )

    async def _refused(self, stage: DriverStage, name: str, forged: OddCall) -> None:
        """Have a stranger call: nothing may be stored, and the call not be proved."""
        known, what = count_handed(stage), forged.what
        answer = await self._ask(stage, forged.call, forged.secret)
        if answer.status == UNPROVED and count_handed(stage) != known:
            raise PluginFaultError(
                REFUSES,
                f"The driver handed over what {what} had in it. Anybody may call: hand nothing to "
                "the context before the caller is proved.",
            )
        if answer.status != UNPROVED:
            raise PluginFaultError(
                name,
                f"The driver proved {what}: it was answered {answer.status}. Compare the whole "
                "proof, by hmac.compare_digest.",
            )

    async def _cancelled(self, stage: DriverStage, name: str, call: CarrierCallback) -> None:
        """Cancel a call that waits for the disk, as the service does when its client is gone."""
        context, run, scope, answers = stage.context, self.run, trio.CancelScope(), list[object]()
        ended, context.gate = trio.Event(), trio.Event()

        async def ask() -> None:
            with scope:
                answers.append(await stage.address.call(self._proved(stage, call)))
            ended.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            with trio.move_on_after(self.patience_s):
                await context.wait_until(lambda it: bool(it.held) or ended.is_set())
            early = ended.is_set()
            scope.cancel()
            with trio.move_on_after(LET_GO_S, shield=True):
                await ended.wait()
            if not ended.is_set():
                run.give_up(PluginFaultError(name, _IGNORES))
                await trio.sleep_forever()
            context.gate.set()
            context.gate = None
        if answers and early:
            raise PluginFaultError(
                "test_a_call_that_was_not_stored_is_answered_so",
                "A call was answered before what it brings was stored.",
            )
        if answers:
            raise PluginFaultError(name, _IGNORES)

    def _look_at_bugs(self, stage: DriverStage, what: str) -> None:
        """Check that the driver raised nothing that the contract does not name."""
        if bugs := stage.address.watched.bugs:
            raise PluginFaultError(
                ODD,
                f"answer raised {type(bugs[0]).__name__} at {what}: whoever calls fills the log. "
                "Answer 400 if a proved call cannot be read, and return for a caller who is not "
                "proved.",
            )
