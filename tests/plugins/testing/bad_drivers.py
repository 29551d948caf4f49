"""Drivers that do one thing wrong each, and what the suite must say about it.

pytest runs this file in a process of its own (``test_bad_drivers.py``): some of these drivers can
only be left behind. ``EXPECTED`` has the one check that each must fail, and a part of its sentence.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

import trio
import trio.testing
from sound_driver import PASSWORD, Fetched, KnowsIds, Posted, Sound, SoundSuite

from risala.plugins.contract import (
    Accepted,
    Cause,
    DriverCommand,
    Health,
    HealthState,
    NotStoredError,
    NotTaken,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.page import PageForm, PageHeading

EXPECTED: dict[str, tuple[str, str]] = {}
TOKEN = "token-of-the-phone"


def bad(check: str, sentence: str, **claims: object):
    """Make a suite of a driver; it must fail this check alone, with this in the sentence."""

    def made(driver: type) -> type:
        name = f"Test{driver.__name__}"
        fields = {"driver": driver, "claims": claims, **vars(driver).get("suite", {})}
        globals()[name] = type(name, (SoundSuite,), {"__module__": __name__, **fields})
        EXPECTED[name] = (check, sentence)
        return driver

    return made


class TestSound(SoundSuite):
    pass


class TestWhole(SoundSuite):
    claims: ClassVar = {"takes_whole": True}


class TestSlow(SoundSuite):
    blocked_s = 1.0
    unseen: ClassVar = frozenset({"loop"})


class TestPosted(SoundSuite):
    driver = Posted


IDS: dict[str, object] = {"same_id_is_safe": True, "remembers_ids_s": 3600.0}


FETCHES: dict[str, object] = {"fetches": True, "takes_whole": True, "submit_s": 3.0}


class TestFetched(SoundSuite):
    driver = Fetched
    claims: ClassVar = FETCHES


class TestKnowsIds(SoundSuite):
    driver = KnowsIds
    claims: ClassVar = IDS


def real_clock(suite):
    return None


# -- its life ------------------------------------------------------------------------------------


@bad("test_is_a_driver", "is not a driver: it lacks query")
class NoDriver:
    capabilities = Sound.capabilities

    def __init__(self, carrier):
        pass

    async def run(self, context, *, task_status):
        pass

    async def submit(self, segment):
        pass


@bad(
    "test_is_a_driver",
    "capabilities.window_max is '10', and must be a whole number",
    window_max="10",
)
class TextForWindow(Sound):
    pass


@bad("test_is_a_driver", "capabilities.submit_s is -1, and must be more than 0", submit_s=-1)
class NoTime(Sound):
    pass


@bad("test_starts_at_once", "did not call task_status.started() within 5 s")
class NeverStarts(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        await trio.sleep_forever()


@bad("test_comes_up", "did not report Health(HealthState.UP, …) within 5 s")
class NeverUp(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        task_status.started()
        context.health(Health(HealthState.DOWN, "Not yet."))
        await trio.sleep_forever()


@bad("test_runs_for_life", "run raised OSError('the link broke')")
class RaisesInRun(Sound):
    async def bring_receipt(self, carrier_id):
        raise OSError("the link broke")


@bad("test_runs_for_life", "run returned by itself")
class Returns(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        task_status.started()
        context.health(Health(HealthState.UP, "Up."))
        await trio.lowlevel.checkpoint()


@bad("test_ends_when_cancelled", "did not end within 5 s of being cancelled")
class NeverStops(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        try:
            await super().run(context, task_status=task_status)
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep_forever()


@bad("test_ends_when_cancelled", "did not end within 0.2 s of being cancelled")
class GoesOnWhenCancelled(Sound):
    # By the real clock: the mocked one stands still while somebody is busy.
    suite: ClassVar = {"leave_s": 0.2, "new_clock": real_clock}

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        while True:
            try:
                await super().run(context, task_status=task_status)
            except* trio.Cancelled:
                task_status = trio.TASK_STATUS_IGNORED


@bad("test_ends_when_cancelled", "run raised RuntimeError('not connected') when it was cancelled")
class RaisesAtItsEnd(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        try:
            await super().run(context, task_status=task_status)
        finally:
            raise RuntimeError("not connected")


@bad("test_lets_its_cancellation_pass", "swallowed its cancellation and returned")
class SwallowsCancelled(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        try:
            await super().run(context, task_status=task_status)
        except* trio.Cancelled:
            self.is_up = False


@bad(
    "test_lets_the_loop_run", "blocks the event loop for more than 0.2 s in submit (bad_drivers.py"
)
class Blocks(Sound):
    async def submit(self, segment):
        if self.is_up:
            threading.Event().wait(60)
        return await super().submit(segment)


@bad("test_lets_the_loop_run", "blocks the event loop for more than 0.2 s in run (bad_drivers.py")
class BlocksAtStart(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        threading.Event().wait(60)


@bad("test_lets_the_loop_run", "Leave blocked_s at 0.2, or name 'loop' in its `unseen`")
class AllowsItselfASecond(Sound):
    suite: ClassVar = {"blocked_s": 1.0}


@bad("test_leaves_nothing_running", "left running: the task ")
class LeaksATask(Sound):
    async def submit(self, segment):
        if self.is_up:
            trio.lowlevel.spawn_system_task(trio.sleep_forever)
        return await super().submit(segment)


@bad("test_leaves_nothing_running", "left running: the thread mine")
class LeaksAThread(Sound):
    async def submit(self, segment):
        if self.is_up:
            threading.Thread(target=threading.Event().wait, name="mine", daemon=True).start()
        return await super().submit(segment)


@bad(
    "test_can_be_run_again", "called a second time, after it had ended, and: run raised ValueError"
)
class RunsOnce(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        if self.context is not None:
            raise ValueError("it was used already")
        await super().run(context, task_status=task_status)


@bad("test_submit_after_the_end_sends_nothing", "answered Uncertain after run had ended")
class UncertainAfterTheEnd(Sound):
    async def submit(self, segment):
        if self.context is not None and not self.is_up:
            return Uncertain("?")
        return await super().submit(segment)


@bad("test_tells_nothing_after_its_end", "called context.trace after run had ended")
class TellsAfterItsEnd(Sound):
    async def submit(self, segment):
        if self.context is not None and not self.is_up:
            self.context.trace("A submit without a link.")
        return await super().submit(segment)


@bad("test_tells_what_fits", "context.health: a str is not a Health")
class HealthIsAWord(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        context.health("up")
        await super().run(context, task_status=task_status)


@bad("test_tells_what_fits", "context.receipt: a dict is not a Receipt")
class ReceiptIsADict(Sound):
    async def bring_receipt(self, carrier_id):
        await self.store(self.context.receipt, {"id": carrier_id})
        await super().bring_receipt(carrier_id)


# -- what it answers -----------------------------------------------------------------------------


@bad("test_submit_before_run_sends_nothing", "answered Accepted before run was called")
class AcceptsBeforeRun(Sound):
    async def submit(self, segment):
        return Accepted("1") if self.context is None else await super().submit(segment)


@bad("test_submit_answers", "submit did not return within 5 s")
class NeverAnswers(Sound):
    async def submit(self, segment):
        if self.is_up and not self.carrier.mute:
            await trio.sleep_forever()
        return await super().submit(segment)


@bad("test_submit_answers", "submit did not return within 5 s")
class NeverAnswersNorHeeds(Sound):
    async def submit(self, segment):
        with trio.CancelScope(shield=self.is_up):
            if self.is_up and not self.carrier.mute:
                await trio.sleep_forever()
            return await super().submit(segment)


@bad("test_submit_does_not_raise", "submit raised KeyError(\"'id'\")")
class Raises(Sound):
    async def submit(self, segment):
        if self.is_up:
            raise KeyError("id")
        return await super().submit(segment)


@bad("test_submit_returns_an_outcome", "it returned NoneType, not an outcome")
class AnswersNone(Sound):
    async def submit(self, segment):
        return await super().submit(segment) if not self.is_up or self.carrier.mute else None


@bad("test_submit_returns_an_outcome", "carrier_id of its Accepted has a wrong value")
class NumberForId(Sound):
    async def submit(self, segment):
        outcome = await super().submit(segment)
        return Accepted(7) if isinstance(outcome, Accepted) else outcome


@bad("test_submit_gives_an_id", "Accepted without an id, and capabilities.receipts is True")
class NoId(Sound):
    async def submit(self, segment):
        outcome = await super().submit(segment)
        return Accepted("") if isinstance(outcome, Accepted) else outcome


@bad("test_each_id_is_given_once", "gave two segments the same id, 'id-0'")
class OneIdForAll(Sound):
    async def submit(self, segment):
        outcome = await super().submit(segment)
        if not isinstance(outcome, Accepted):
            return outcome
        self.carrier.ids.append("id-0")
        return Accepted("id-0")

    async def bring_receipt(self, carrier_id):
        await super().bring_receipt("id-0")


@bad("test_takes_every_kind_of_segment", "to UCS-2, which every driver must bring to its carrier")
class LatinOnly(Sound):
    async def submit(self, segment):
        if not segment.text.isprintable() or "😀" in segment.text:
            return Throttled("ENCODING")
        return await super().submit(segment)


class PlainTexts(Sound):
    """Its carrier takes ASCII alone."""

    scope = Scope.CARRIER

    async def submit(self, segment):
        if self.is_up and not segment.text.isascii():
            return Refused(self.scope, "", cause=Cause.NOT_ENCODABLE)
        return await super().submit(segment)


class TestPlainTexts(SoundSuite):
    driver = PlainTexts
    unseen: ClassVar = frozenset({"alphabets"})


@bad("test_takes_every_kind_of_segment", "submit answered Refused('') to ")
class FailsWhatAnotherCouldTake(PlainTexts):
    scope = Scope.FINAL
    suite: ClassVar = {"unseen": frozenset({"alphabets"})}


@bad("test_a_cancelled_submit_harms_nobody", "After a cancelled submit, the next was Unsent")
class BreaksWhenCancelled(Sound):
    async def submit(self, segment):
        try:
            return await super().submit(segment)
        except trio.Cancelled:
            self.is_up = False
            raise


@bad(
    "test_what_is_posted_is_answered_once",
    "10 segments were posted, and answered was called 20 times",
)
class AnswersTwice(Posted):
    async def answer_posted(self, segment, answered):
        outcome = await self.submit(segment)
        answered(outcome)
        answered(outcome)


@bad("test_what_is_posted_before_run_or_after_it_is_unsent", "answered Uncertain while run was not")
class PostsWithoutALink(Posted):
    def post(self, segment, answered):
        if self.is_up:
            super().post(segment, answered)
        else:
            answered(Uncertain("?"))


# -- what it claims ------------------------------------------------------------------------------


@bad("test_a_full_window_is_answered", "window_max is 10, but 8 of 10 submits at once were not")
class ClaimsAWiderWindow(Sound):
    open = 0

    async def submit(self, segment):
        if self.open >= 2:
            return Throttled("WINDOW")
        self.open += 1
        try:
            return await super().submit(segment)
        finally:
            self.open -= 1


@bad("test_receipts_name_what_was_accepted", "no final receipt for id-")
class ClaimsReceipts(Sound):
    async def bring_receipt(self, carrier_id):
        pass


@bad("test_receipts_name_what_was_accepted", "Receipts came for ids that no submit returned: ID-")
class WritesIdsOtherwise(Sound):
    async def bring_receipt(self, carrier_id):
        await super().bring_receipt(carrier_id.upper())


@bad("test_receipts_name_what_was_accepted", "The receipts were not final: ACCEPTED")
class NeverFinal(Sound):
    async def bring_receipt(self, carrier_id):
        await self.store(
            self.context.receipt, Receipt(carrier_id, ReceiptState.ACCEPTED, "ACCEPTD")
        )


@bad("test_receipts_name_what_was_accepted", "Only late receipts of earlier checks came: id-")
class BringsReceiptsToTheNext(Sound):
    """Receipts wait for whoever connects next, and are for nobody who is there."""

    late: ClassVar[list[str]] = []

    async def bring_receipts(self):
        while True:
            mine = await self.carrier.receipts[1].receive()
            late, self.late[:] = [*self.late], [mine]
            for each in late:
                await self.bring_receipt(each)


@bad(
    "test_no_receipts_where_none_are_claimed",
    "receipts is False, but a receipt came",
    receipts=False,
)
class HidesReceipts(Sound):
    pass


@bad("test_a_receipt_that_was_not_stored_comes_again", "the receipt did not come again within 5 s")
class LosesReceipts(Sound):
    async def bring_receipt(self, carrier_id):
        with suppress(NotStoredError):
            await self.context.receipt(Receipt(carrier_id, ReceiptState.DELIVERED, "DELIVRD"))


@bad("test_inbound_reaches_the_engine", "was not handed to context.inbound within 5 s")
class ClaimsInbound(Sound):
    async def bring_texts(self):
        await trio.sleep_forever()


@bad("test_inbound_reaches_the_engine", "reached context.inbound as one from '36999999'")
class WritesNumbersOtherwise(Sound):
    async def store(self, hand, what):
        if hasattr(what, "received_at_ms"):
            what = type(what)(what.sender[4:], None, what.text, 0)
        await super().store(hand, what)


@bad("test_an_inbound_that_was_not_stored_comes_again", "the message did not come again within 5 s")
class LosesInbound(Sound):
    async def store(self, hand, what):
        if not hasattr(what, "received_at_ms"):
            return await super().store(hand, what)
        with suppress(NotStoredError):
            await hand(what)
        return None


@bad("test_a_query_answers", "query returned None for a segment that the carrier had just accepted")
class ClaimsQuery(Sound):
    async def query(self, carrier_id, *, sender):
        return None


@bad("test_a_query_answers", "query did not return within 5 s")
class NeverTells(Sound):
    async def query(self, carrier_id, *, sender):
        await trio.sleep_forever()


@bad("test_a_query_does_not_raise", "query raised LookupError('no-such-id')")
class RaisesOverUnknownIds(Sound):
    async def query(self, carrier_id, *, sender):
        told = await super().query(carrier_id, sender=sender)
        if told is None:
            raise LookupError(carrier_id)
        return told


@bad("test_nothing_leaves_before_it_is_fetched", "context.fetched did not return it", **FETCHES)
class HandsOutAll(Fetched):
    async def hand_out(self, segments):
        await super().hand_out(segments)
        for fetched in [*self.ready.values()]:
            fetched.set()


@bad("test_a_withdrawn_segment_never_leaves", "its submit was cancelled", **FETCHES)
class KeepsTheWithdrawn(Fetched):
    async def submit(self, segment):
        try:
            return await super().submit(segment)
        except trio.Cancelled:
            if self.is_up:
                self.carrier.got.append(self.as_sent(segment))
            raise


@bad("test_is_a_driver", "capabilities.fetches is True, and needs takes_whole", fetches=True)
class FetchesParts(Sound):
    pass


@bad("test_ids_are_remembered", "Say how long the carrier remembers ids")
class KnowsNoTime(Sound):
    async def query(self, carrier_id, *, sender):
        return await super().query(carrier_id, sender=sender) or NotTaken("404")


@bad("test_one_attempt_is_one_text", "One attempt was submitted four times, and got", **IDS)
class MakesNewIds(Sound):
    pass


@bad("test_one_attempt_is_one_text", "the carrier took 4 texts", **IDS)
class TakesItAgain(KnowsIds):
    async def submit(self, segment):
        return await Sound.submit(self, segment)


@bad("test_another_attempt_is_another_id", "the carrier took 1", **IDS)
class ForgetsTheAttempt(KnowsIds):
    def name_of(self, segment):
        return f"{segment.message_id}-{segment.number}"


@bad("test_is_a_driver", "capabilities.same_id_is_safe is True, and needs", same_id_is_safe=True)
class RemembersNothing(Sound):
    pass


@bad("test_is_a_driver", "must be 0, or at least 30 seconds", settle_s=3.0)
class SettlesTooSoon(Sound):
    pass


@bad("test_a_whole_text_arrives", "reached the carrier as texts of 160", takes_whole=True)
class CutsWholeTexts(Sound):
    def as_sent(self, segment):
        return replace(super().as_sent(segment), text=segment.text[:160])


class TestFlash(SoundSuite):
    claims: ClassVar = {"flash": True}


@bad(
    "test_a_flash_message_arrives",
    "message_class 0 reached the carrier as an ord",
    flash=True,
)
class DropsTheClass(Sound):
    def as_sent(self, segment):
        return replace(super().as_sent(segment), flash=False)


@bad("test_a_flash_message_arrives", "message_class None reached", flash=True)
class FlashesAll(Sound):
    def as_sent(self, segment):
        return replace(super().as_sent(segment), flash=True)


@bad("test_the_sender_arrives", "The carrier got another sender than the segment's: '1234'")
class ClaimsNames(Sound):
    def as_sent(self, segment):
        return replace(super().as_sent(segment), sender="1234")


@bad("test_the_expiry_arrives", "validity is True, but at the carrier the expiry is missing")
class ClaimsValidity(Sound):
    def as_sent(self, segment):
        return replace(super().as_sent(segment), expires_at_ms=None)


@bad("test_a_mute_carrier_is_uncertain", "submit did not return within 7 s")
class ClaimsToBeQuicker(Sound):
    async def submit(self, segment):
        if self.carrier.mute:
            await trio.sleep(600)
        return await super().submit(segment)


@bad("test_a_mute_carrier_is_uncertain", "does not answer; submit returned Unsent")
class SaysUnsentForSilence(Sound):
    async def submit(self, segment):
        return Unsent("TIMEOUT") if self.carrier.mute else await super().submit(segment)


@bad("test_a_lost_link_is_connected_anew", "within 5 s the driver reported down")
class GivesUpItsLink(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.watch, scope)
                await super().run(context, task_status=task_status)
        context.health(Health(HealthState.DOWN, "The link broke."))
        await trio.sleep_forever()

    async def watch(self, scope):
        await trio.testing.wait_all_tasks_blocked()
        await self.carrier.cut.wait()
        scope.cancel()


# -- what it tells -------------------------------------------------------------------------------


@bad("test_keeps_texts_to_itself", "The message's text stands in a trace")
class TellsTexts(Sound):
    async def submit(self, segment):
        if self.is_up:
            self.context.trace(f"Sent {segment.text}.")
        return await super().submit(segment)


@bad("test_keeps_texts_to_itself", "whole number stands in a line of traffic")
class TellsNumbers(Sound):
    async def submit(self, segment):
        if self.is_up:
            self.context.traffic(True, str, f"submit to {segment.recipient}")
        return await super().submit(segment)


@bad("test_keeps_secrets_to_itself", "A secret of the settings stands in a Health")
class TellsItsPassword(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        context.health(Health(HealthState.DOWN, f"Binding with {PASSWORD}."))
        await super().run(context, task_status=task_status)


@bad("test_keeps_sealed_notes_to_itself", "remembers sealed stands in a trace too")
class TracesItsToken(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        await context.remember_secret({"phone/token": TOKEN})
        context.trace(f"The phone got {TOKEN}.")
        await super().run(context, task_status=task_status)


@bad("test_keeps_sealed_notes_to_itself", "remembers sealed stands in a plain note too")
class NotesItsToken(Sound):
    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        await context.remember_secret({"phone/token": TOKEN}, notes={"phone": f"got {TOKEN}"})
        await super().run(context, task_status=task_status)


@bad("test_commands_are_words_and_others_are_refused", "command accepted an unknown name")
class DoesAnyCommand(Posted):
    async def command(self, name, arguments):
        return {}


class Parts(Posted):
    """Fills a part of its carrier's page."""

    commands = (DriverCommand("forget", "It forgets a device."),)
    block: ClassVar = PageForm("forget", "Forget it")

    @property
    def console_page(self):
        return self

    async def show(self, service):
        await trio.lowlevel.checkpoint()
        return (PageHeading(service.language), self.block)


class TestParts(SoundSuite):
    driver = Parts


@bad("test_its_part_of_the_page_is_made_of_blocks", "no block")
class FillsWithText(Parts):
    block = "text"


@bad("test_its_part_of_the_page_is_made_of_blocks", "which the driver does not have")
class AsksAStranger(Parts):
    block = PageForm("remove", "Remove it")


@bad("test_its_part_of_the_page_is_made_of_blocks", "a secret stands on the page")
class ShowsItsPassword(Parts):
    block = PageHeading(f"Bound with {PASSWORD}.")


class Shared:
    """What the accounts of these drivers share: a driver is up while it runs."""

    def __init__(self):
        self.runs = False

    async def run(self):
        self.runs = True
        try:
            await trio.sleep_forever()
        finally:
            self.runs = False


class Sharing(Posted):
    account: ClassVar[type] = Shared

    def __init__(self, carrier):
        super().__init__(carrier)
        self.shared_account = self.account()

    async def submit(self, segment):
        if self.is_up and not self.shared_account.runs:
            return Unsent("NO_SESSION")
        return await super().submit(segment)


class TestSharing(SoundSuite):
    driver = Sharing


class WithDriver(Shared):
    async def run(self):
        with trio.CancelScope() as self.scope:
            await super().run()


@bad("test_what_it_shares_lives_by_itself", "run returned by itself")
class EndsItsAccount(Sharing):
    """Its account's run ends when the driver ends."""

    account = WithDriver

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        try:
            await super().run(context, task_status=task_status)
        finally:
            self.shared_account.scope.cancel()


class Slotted:
    __slots__ = ("runs",)

    def __init__(self):
        self.runs = False

    run = Shared.run


@bad("test_what_it_shares_lives_by_itself", "cannot be referred to weakly")
class SharesWithSlots(Sharing):
    account = Slotted


@bad("test_declines_says_why_and_until_when", "declines returned a bool")
class DeclinesByTrue(Posted):
    def declines(self, recipient, segments, *, is_next=False):
        return True
