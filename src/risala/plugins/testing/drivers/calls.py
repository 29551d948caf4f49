"""Checks of a driver that is called: a carrier calls it, and many who are not the carrier."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

import trio

from risala.plugins.answering import BODY_BYTES_MAX
from risala.plugins.testing.called import CallbackAnswer
from risala.plugins.testing.checks import NotShown, PluginFaultError, check
from risala.plugins.testing.drivers.callers import (
    ANSWERS,
    ODD,
    REFUSES,
    DriverCallers,
    count_handed,
)
from risala.plugins.testing.drivers.odd_calls import PLANTED, OddCall
from risala.plugins.testing.drivers.reports import all_reports, call_reports, heard_words

AT: Final = "driver-contract.md#answeringanswer"
OLD_S: Final = 86_400.0
"""A proof that was made so long ago is none."""
CROWD_TRIES: Final = 3
"""How often the carrier calls while strangers do: a busy machine may delay one call, not all."""
STRANGERS: Final = 1000
"""How many call at once who are not the carrier."""
SLOW: Final = 250
"""How many of these send their head alone: more than have a place."""
OVER_S: Final = 5.0
"""Seconds beyond a check's patience in which the service ends the calls of strangers."""
TOO_LARGE: Final = (401, 413)


class DriverCallChecks(DriverCallers):
    """Checks of a driver that is :class:`~risala.plugins.answering.Answering`."""

    @check(AT)
    async def test_answers_its_carrier(self) -> None:
        """Calls: each call of the carrier is answered in time, and brings what it should."""
        async with self.called(ANSWERS) as stage:
            await self._answers(stage)

    @check(AT)
    async def test_who_is_not_the_carrier_changes_nothing(self) -> None:
        """Calls: without the carrier's proof, or with one that is wrong in a letter, nothing is
        stored."""
        async with self.called(REFUSES) as stage:
            for call in await self._calls():
                for each in self._odd(stage, call).forged():
                    await self._refused(stage, REFUSES, each)

    @check(AT)
    async def test_a_changed_body_is_refused(self) -> None:
        """Calls: a body that was changed after it was signed proves nothing."""
        name = "test_a_changed_body_is_refused"
        async with self.called(name) as stage:
            self._needs_proof(stage, "body")
            for call in await self._calls():
                proved = self.prove_call(call)
                changed = replace(proved, body=proved.body + b" ")
                what = "a call whose body was changed after it was proved"
                await self._refused(stage, name, OddCall(what, changed))

    @check(AT)
    async def test_an_old_call_is_refused(self) -> None:
        """Calls: a proof that was made a day ago proves nothing."""
        name = "test_an_old_call_is_refused"
        async with self.called(name) as stage:
            self._needs_proof(stage, "old")
            for call in await self._calls():
                old = OddCall(
                    "a call that was proved a day ago", self.prove_call(call, age_s=OLD_S)
                )
                await self._refused(stage, name, old)

    @check(AT)
    async def test_another_accounts_call_is_refused(self) -> None:
        """Calls: what proves another account at the carrier proves nothing here."""
        name = "test_another_accounts_call_is_refused"
        async with self.called(name) as stage:
            self._needs_proof(stage)
            for call in await self._calls():
                other = self.prove_call(call, other=True)
                what = "a call with another account's proof"
                await self._refused(stage, name, OddCall(what, other))

    @check(AT)
    async def test_a_call_that_comes_twice_is_stored_once(self) -> None:
        """Calls: a call that comes again brings the same once more, under the same identity, or
        nothing."""
        name = "test_a_call_that_comes_twice_is_stored_once"
        async with self.called(name) as stage:
            if "identity" in self.unseen:
                raise NotShown("identity (the suite's author says so)")
            context = stage.context
            for call in await self._calls():
                proved = self._proved(stage, call)
                await self._brings(stage, proved)
                receipts, inbounds = len(context.receipts), len(context.inbounds)
                first = {one.carrier_ids for one in context.inbounds}
                ids = {one.carrier_id for one in context.receipts}
                await self._ask(stage, proved)
                again = context.inbounds[inbounds:]
                others = [one for one in context.receipts[receipts:] if one.carrier_id not in ids]
                if others or any(
                    not one.carrier_ids or one.carrier_ids not in first for one in again
                ):
                    raise PluginFaultError(
                        name,
                        "A call came twice, and what it brought the second time has no identity "
                        "or another one: it is stored twice. Give an Inbound the carrier's id in "
                        "carrier_ids, and a Receipt the id that submit returned.",
                    )

    @check("driver-contract.md#notstorederror")
    async def test_a_call_that_was_not_stored_is_answered_so(self) -> None:
        """Calls: what the engine could not store is not answered with success, and is taken when
        it comes again."""
        name = "test_a_call_that_was_not_stored_is_answered_so"
        async with self.called(name) as stage:
            await self._answers(stage)
            for call in await self._calls():
                stranger = next(self._odd(stage, call).forged())
                await self._refused(stage, REFUSES, stranger)
                stage.context.refuses_each = True
                stage.context.refused_once.clear()
                answer = await self._ask(stage, self._proved(stage, call))
                if answer.is_success:
                    raise PluginFaultError(
                        name,
                        f"The context raised NotStoredError, and the call was answered "
                        f"{answer.status}: the carrier forgets what nobody has. Let NotStoredError "
                        "pass, or answer 503, and answer with success only after the context's "
                        "method returned.",
                    )
                await self._brings(stage, call, name)

    @check(AT)
    async def test_odd_calls_are_answered(self) -> None:
        """Calls: whatever a call has in it, the driver raises nothing but what the contract names,
        and a body that is too large brings nothing."""
        async with self.called(ODD) as stage:
            for call in await self._calls():
                for each in self._odd(stage, call).odd():
                    await self._ask(stage, each.call, each.secret)
                    self._look_at_bugs(stage, each.what)
                large = replace(call, body=call.body + b" " * (BODY_BYTES_MAX + 1))
                known = count_handed(stage)
                answer = await self._ask(stage, self._proved(stage, large))
                if answer.status not in TOO_LARGE or count_handed(stage) != known:
                    raise PluginFaultError(
                        ODD,
                        f"A call with a body of more than {BODY_BYTES_MAX} octets was answered "
                        f"{answer.status}. request.read raises RequestRefusedError: let it pass.",
                    )
            stage.check_reports()

    @check("driver-contract.md#carrierrequest")
    async def test_a_crowd_of_strangers_holds_nobody_up(self) -> None:
        """Calls: while a thousand strangers call, many of them slowly, the carrier is answered, and
        they are refused."""
        name = "test_a_crowd_of_strangers_holds_nobody_up"
        async with self.called(name) as stage:
            await self._answers(stage)
            calls, answers, limit_s = await self._calls(), list[CallbackAnswer](), self.patience_s
            kinds = [*self._odd(stage, calls[0]).forged()]

            async def stranger(number: int) -> None:
                forged = kinds[number % len(kinds)]
                address = f"198.51.{number // 250}.{number % 250 + 1}"
                ask = partial(stage.address.call, forged.call, comes_from=address)
                answers.append(await ask(body_comes=number >= SLOW, secret=forged.secret))

            with trio.move_on_after(limit_s + OVER_S) as scope:
                async with trio.open_nursery() as nursery:
                    for numbers in (range(SLOW), range(SLOW, STRANGERS)):
                        for number in numbers:
                            nursery.start_soon(stranger, number)
                        for _ in range(2):  # they begin before others do
                            await trio.lowlevel.checkpoint()
                    for call in calls:
                        await self._brings(
                            stage, call, name, " while a thousand strangers called", CROWD_TRIES
                        )
            lucky = [one.status for one in answers if one.status < 400]
            if lucky:
                raise PluginFaultError(
                    REFUSES, f"Of {STRANGERS} strangers at once, one was answered {lucky[0]}."
                )
            if scope.cancelled_caught:
                raise PluginFaultError(
                    name,
                    f"Of {STRANGERS} strangers at once, some had no answer within "
                    f"{limit_s + OVER_S:g} s. Before the proof, wait for request.read alone.",
                )

    @check(AT)
    async def test_a_call_that_is_cancelled_harms_nobody(self) -> None:
        """Calls: an answer lets its cancellation pass, and the next call is answered."""
        name = "test_a_call_that_is_cancelled_harms_nobody"
        async with self.called(name) as stage:
            await self._answers(stage)
            for number, call in enumerate(await self._calls()):
                await self._cancelled(stage, name, call)
                another = (await self._calls())[number]
                await self._brings(stage, another, name, " after a call that was cancelled")

    @check("driver-contract.md#carrieranswer")
    async def test_calls_keep_secrets_to_themselves(self) -> None:
        """Calls: what is in a call, its proof and its texts, is in no log, report, exception or
        answer, nor are :attr:`secrets`."""
        name = "test_calls_keep_secrets_to_themselves"
        async with self.called(name) as stage:
            answers = list[CallbackAnswer]()
            with heard_words() as heard:
                for call in await self._calls():
                    stage.context.refuses_each = True
                    for each in self._odd(stage, call).planted():
                        answers.append(await self._ask(stage, each.call, each.secret))
            self._look_at_bugs(stage, "a call")
            words = [*self.secrets, PLANTED, *(one.text for one in stage.context.inbounds)]
            words += [stage.address.secret] if stage.address.secret else []
            reports = [*all_reports(stage), *call_reports(stage, answers)]
            for place, text in (*reports, ("a log", heard.getvalue())):
                if any(word in text for word in words if word):
                    raise PluginFaultError(
                        name,
                        f"What was in a call, or a secret of the settings, stands in {place}. Name "
                        "a call by its kind alone.",
                    )
