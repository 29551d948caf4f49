"""What one carrier has of a phone: a SIM, its messages and what became of them, its quota."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Protocol

import trio

from risala.drivers.phone.events import CANCELLED, ENQUEUED, PhoneEvents
from risala.drivers.phone.messages import (
    FETCHED,
    LATE_MAX,
    LIST_MAX,
    FetchedMessages,
    PhoneId,
    PhoneIds,
    PhoneMessage,
    PhoneMessages,
    listed,
    probe,
)
from risala.drivers.phone.quota import PhoneQuota
from risala.drivers.phone.settings import PhoneSettings
from risala.drivers.phone.states import Meaning, for_good, meaning_of
from risala.drivers.phone.words import StateReport
from risala.plugins.contract import (
    Cause,
    Declined,
    DriverContext,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Segment,
    Uncertain,
    Unsent,
)
from risala.sms.segment import count

ASK_AGAIN_S: Final = 30.0
"""Seconds after which a phone is asked again that fetched a message and reports nothing: the
report, or the answer to its fetch, may have been lost."""
QUERY_S: Final = 20.0
"""Seconds in which a phone answers a question about a message."""
EARLY_MS: Final = 60_000
"""A phone that says so much too early that a message's validity is over has a wrong clock."""
_QUOTA: Final = "quota"
_GONE: Final = "A phone that is no longer this carrier's had fetched it."


class LinePhone(Protocol):
    """The phone, as one of its lines knows it."""

    events: PhoneEvents
    is_stalled: bool
    """Whether the phone let the time for fetching a message pass."""
    clock_off_s: float

    @property
    def phone_id(self) -> str | None:
        """Which phone it is; None: none is registered."""

    @property
    def proof_key(self) -> str:
        """Makes the ids that the phone gets."""

    def changed(self) -> None:
        """Something changed: look how it is now."""


class PhoneLine:
    """What a carrier has of a phone, in one life of its driver.

    Args:
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self,
        context: DriverContext,
        settings: PhoneSettings,
        phone: LinePhone,
        now_ms: Callable[[], int],
    ) -> None:
        self.context = context
        self.settings = settings
        self._phone = phone
        self._now_ms = now_ms
        self.messages = PhoneMessages()
        self._fetched = FetchedMessages(context.recall(FETCHED))
        self.quota = PhoneQuota(settings, context.recall(_QUOTA).get(_QUOTA, ""))
        self.is_over = False
        self._asked: dict[str, trio.Event] = {}
        self._late: dict[str, Meaning] = {}
        self._reporting = trio.Lock()

    @property
    def sim(self) -> int | None:
        """The SIM that sends; None: the phone chooses."""
        return None if self.settings.sim == "any" else self.settings.sim

    @property
    def ids(self) -> PhoneIds:
        """The ids of this carrier's messages."""
        return PhoneIds(self._phone.proof_key, self.context.carrier)

    def end(self) -> None:
        """Answer the submits that wait: the driver ends, or the phone's."""
        self.is_over = True
        for message in self.messages:
            message.notify()

    def phone_changed(self) -> None:
        """End the submits whose message the former phone has: another is the carrier's, or none."""
        for message in self.messages:
            message.notify()

    # -- what it is to send --------------------------------------------------------------------

    def declines(self, segments: int) -> Declined | None:
        """Why a message of so many segments may not begin now."""
        return self.quota.declines(segments, self._now_ms())

    async def submit(self, segment: Segment) -> Outcome:
        """Have the phone send a segment, or a whole text; what it came to."""
        phone_id, parts = self.ids.of(segment), count(segment.text).segments
        message = self.messages.get(phone_id)
        if message is not None and message.outcome is not None:
            return for_good(message.outcome)  # reported after an earlier submit of it had ended
        former = self._fetched.phone_of(phone_id)
        if former not in (None, self._phone.phone_id):
            return Uncertain("", _GONE, phone_id, is_final=True)
        if message is None:
            message = PhoneMessage(phone_id, segment, parts, self._now_ms())
            message.fetched_by = former
            if former is None:
                if (declined := self.declines(1)) is not None:
                    return Unsent("", declined.text, Cause.QUOTA_USED)
                if (declined := self.declines(parts)) is not None:  # shorter ones may still go
                    return Refused(Scope.RECIPIENT, "", declined.text, Cause.QUOTA_USED)
                self.quota.count(parts, message.put_at_ms)
            self.messages.put(message)
        message.open()
        self._phone.events.tell(ENQUEUED)
        self._phone.changed()
        is_cancelled = True
        try:
            outcome = await self._fate(message)
            is_cancelled = False
            return outcome if former is None else for_good(outcome)
        finally:
            self._close(message, is_cancelled=is_cancelled)

    def _close(self, message: PhoneMessage, *, is_cancelled: bool) -> None:
        message.is_open = False
        if message.fetched_by is None:
            self._withdraw(message)
        elif is_cancelled and message.is_fetched and message.outcome is None:
            message.is_unwanted = True
            self._phone.events.tell(CANCELLED, message.id)
        self._phone.changed()

    def _withdraw(self, message: PhoneMessage) -> None:
        """Take back a message that no phone has."""
        self.messages.drop(message.id)
        self.quota.give_back(message.parts, message.put_at_ms)

    async def _fate(self, message: PhoneMessage) -> Outcome:
        await self._wait(message, self.settings.fetch_s, lambda: message.is_fetched)
        while message.is_leaving:  # a request of the phone takes it at this moment
            await message.changed.wait()
        if message.outcome is None and not message.is_fetched:
            self._phone.is_stalled = not self.is_over
            return Unsent("", "" if self.is_over else "The phone did not fetch it in time.")
        await self._wait(message, self.settings.sent_s, lambda: self._is_gone(message))
        if message.outcome is not None:
            return message.outcome
        if self._is_gone(message):
            return Uncertain("", _GONE, message.id, is_final=True)
        cause = Cause.SERVICE_STOPPED if self.is_over else Cause.NO_ANSWER
        return Uncertain("", carrier_id=message.id, cause=cause)

    def _is_gone(self, message: PhoneMessage) -> bool:
        """Whether the phone that fetched a message is no longer this carrier's."""
        return message.fetched_by not in (None, self._phone.phone_id)

    async def _wait(
        self, message: PhoneMessage, limit_s: float, is_enough: Callable[[], bool]
    ) -> None:
        """Wait until a message has its outcome, or this is enough; the phone is reminded of it."""
        with trio.move_on_after(limit_s):
            while message.outcome is None and not is_enough() and not self.is_over:
                with trio.move_on_after(ASK_AGAIN_S) as again:
                    await message.changed.wait()
                if again.cancelled_caught:
                    self._phone.events.tell(ENQUEUED)

    async def take(self, phone_id: str) -> list[dict[str, object]]:
        """What the phone gets when it fetches: until then nobody has it.

        Raises:
            NotStoredError: it could not be written that the phone has them; nothing leaves then.
        """
        messages = self.messages.to_list(phone_id, self._now_ms())[:LIST_MAX]
        fresh = [each for each in messages if each.is_open and not each.is_fetched]
        if fresh := [each for each in fresh if not each.is_leaving]:
            await self._leave(fresh, phone_id)
        answer = [
            listed(each, self.sim)
            for each in messages
            if each.is_unwanted or (each.is_open and each.is_fetched)
        ]
        return answer + [probe(each) for each in self._asked]

    async def _leave(self, fresh: Sequence[PhoneMessage], phone_id: str) -> None:
        for message in fresh:
            message.is_leaving = True
        try:
            # A phone that was told to fetch it is written down after the engine's own line: a crash
            # between them leaves a message that nobody has, and any phone may get it.
            mine = await self.context.fetched([each.segment for each in fresh])
            left = [each for each in fresh if each.segment in mine]
            if left:
                notes = self._fetched.give(left, phone_id, self._now_ms())
                await self.context.remember({**notes, _QUOTA: self.quota.note})
            for message in left:
                if message.is_open:
                    message.fetched_by, message.is_fetched = phone_id, True
        finally:
            for message in fresh:
                message.is_leaving = False
                message.notify()

    # -- what it reports -----------------------------------------------------------------------

    async def reported(self, phone_id: str, report: StateReport, submit: PhoneId) -> None:
        """Take over what the phone reports of one of its messages. Of messages that it was never
        given, nothing is stored.

        Raises:
            NotStoredError: it has to report again.
        """
        async with self._reporting:  # two reports of one message may come at once
            message = self.messages.get(report.id)
            if message is None:
                await self._reported_late(report, submit)
            elif message.fetched_by == phone_id:
                await self._reported(message, report)
            if (waiter := self._asked.get(report.id)) is not None:
                waiter.set()

    async def _reported(self, message: PhoneMessage, report: StateReport) -> None:
        meaning = self._judged(meaning_of(report), message)
        if not message.is_news(meaning):
            return
        if message.outcome is None and meaning.outcome is not None:
            if message.is_open:
                message.learn(replace(meaning, receipt=None))
                await trio.lowlevel.checkpoint()
            else:
                await self.context.late_outcome(message.segment, meaning.outcome)
        if meaning.receipt is not None:
            await self.context.receipt(
                Receipt(
                    message.id,
                    meaning.receipt,
                    getattr(meaning.outcome, "raw", ""),
                    recipient=message.segment.recipient,
                )
            )
        message.learn(meaning)

    def _judged(self, meaning: Meaning, message: PhoneMessage) -> Meaning:
        """A phone whose clock is ahead gives up messages that are still wanted."""
        early_ms = message.segment.expires_at_ms - self._now_ms()
        if not meaning.expired_early or early_ms < EARLY_MS:
            return meaning
        self._phone.clock_off_s = max(self._phone.clock_off_s, early_ms / 1000)
        text = "The phone took the message for expired, though it is not: its clock is wrong."
        raw = getattr(meaning.outcome, "raw", "")
        return replace(meaning, outcome=Refused(Scope.NOW, raw, text, Cause.DEVICE_FAULT))

    async def _reported_late(self, report: StateReport, submit: PhoneId) -> None:
        """A report of a message of an earlier start: its submit's answer never came."""
        meaning = meaning_of(report)
        if not meaning.is_taken or meaning.outcome is None or self._late.get(report.id) == meaning:
            return
        if isinstance(meaning.outcome, Refused) or meaning.outcome.raw == "":
            return
        state = meaning.receipt or ReceiptState.ENROUTE
        await self.context.receipt(
            Receipt(
                report.id,
                state,
                meaning.outcome.raw,
                recipient=report.recipient or None,
                reference=submit.reference,
            )
        )
        self._late[report.id] = meaning
        while len(self._late) > LATE_MAX:
            del self._late[next(iter(self._late))]

    async def query(self, phone_id: str) -> Receipt | None:
        """Ask the phone what became of a message that it took; None: it does not say."""
        message = self.messages.get(phone_id)
        if message is None or message.fetched_by != self._phone.phone_id:
            return None
        if message.outcome is None or message.meaning is None or not message.meaning.is_taken:
            return None
        answered = self._asked[phone_id] = trio.Event()
        self._phone.events.tell(ENQUEUED)
        try:
            with trio.move_on_after(QUERY_S):
                await answered.wait()
        finally:
            self._asked.pop(phone_id, None)
        if not answered.is_set():
            return None
        state = message.meaning.receipt or ReceiptState.ENROUTE
        return Receipt(phone_id, state, getattr(message.outcome, "raw", ""))
