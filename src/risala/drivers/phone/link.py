"""A phone while its driver runs: what it is to send, what it reports, and whether it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import trio

from risala.drivers.phone.devices import PhoneBook, RegisteredPhone
from risala.drivers.phone.events import CANCELLED, ENQUEUED, PhoneEvents
from risala.drivers.phone.fetched import PREFIX, FetchedMessages
from risala.drivers.phone.health import PhoneFacts, health_of
from risala.drivers.phone.listing import LIST_MAX, listed, probe
from risala.drivers.phone.messages import LATE_MAX, PhoneId, PhoneIds, PhoneMessage, PhoneMessages
from risala.drivers.phone.quota import PhoneQuota
from risala.drivers.phone.settings import PhoneSettings
from risala.drivers.phone.states import Meaning, meaning_of
from risala.drivers.phone.words import StateReport
from risala.plugins.contract import (
    Cause,
    Declined,
    DriverContext,
    Health,
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

GRACE_S: Final = 20.0
"""A phone whose stream ended connects again after five seconds; so long it still counts as
there."""
ASK_AGAIN_S: Final = 30.0
"""Seconds after which a phone is asked again that fetched a message and reports nothing: the
report, or the answer to its fetch, may have been lost."""
QUERY_S: Final = 20.0
"""Seconds in which a phone answers a question about a message."""
LOOK_S: Final = 60.0
"""The longest between two looks at how the phone is."""
LOOK_SOON_S: Final = 0.01
"""The shortest: a moment is never hit exactly."""
EARLY_MS: Final = 60_000
"""A phone that says so much too early that a message's validity is over has a wrong clock."""
_QUOTA: Final = "quota"


class PhoneLink:
    """One life of a phone's driver.

    Args:
        now_ms: UTC epoch milliseconds.
        grace_s: seconds without a stream in which the phone still counts as there.
    """

    def __init__(
        self,
        context: DriverContext,
        settings: PhoneSettings,
        now_ms: Callable[[], int],
        grace_s: float = GRACE_S,
    ) -> None:
        token = settings.token.get_secret_value()
        self.context = context
        self.settings = settings
        self.now_ms = now_ms
        self.book = PhoneBook(context, token, now_ms)
        self.ids = PhoneIds(token, context.carrier)
        self.events = PhoneEvents(self._stream_changed)
        self.waiting_events = PhoneEvents(self.changed)
        """Streams of a phone that waits for the operator's yes."""
        self.messages = PhoneMessages()
        self.fetched = FetchedMessages(context.recall(PREFIX))
        self.quota = PhoneQuota(settings, context.recall(_QUOTA).get(_QUOTA, ""))
        self.strangers = 0
        self.clock_off_s = 0.0
        self._grace_s = grace_s
        self._began_s = self._heard_s = trio.current_time()
        self._seen_ms: int | None = None
        self._stream_ended_s = self._began_s
        self._is_stalled = False
        self._is_over = False
        self._changed = trio.Event()
        self._asked: dict[str, trio.Event] = {}
        self._late: dict[str, Meaning] = {}
        self._reporting = trio.Lock()
        self._health: Health | None = None

    # -- whether it is there -----------------------------------------------------------------

    async def run(self) -> None:
        """Report how the phone is, until cancelled."""
        try:
            while True:
                looked, self._changed = self._changed, trio.Event()
                self._publish()
                looked.set()
                with trio.move_on_after(self._next_look_s()):
                    await self._changed.wait()
        finally:
            self._is_over = True
            self.events.close()
            self.waiting_events.close()
            for message in self.messages:
                message.notify()

    def changed(self) -> None:
        """Something of the phone changed: look how it is now."""
        self._changed.set()

    def _stream_changed(self) -> None:
        self._stream_ended_s = trio.current_time()
        self._changed.set()

    def heard(self, phone: RegisteredPhone) -> None:
        """The carrier's phone called."""
        if phone.id == self.phone_id:
            self._heard_s, self._seen_ms = trio.current_time(), self.now_ms()
            self._changed.set()

    @property
    def phone_id(self) -> str | None:
        """The id of the carrier's phone; None: it has none."""
        return None if self.book.phone is None else self.book.phone.id

    @property
    def has_heard(self) -> bool:
        """Whether the carrier's phone has called since the start, or since it was admitted."""
        return self._seen_ms is not None

    @property
    def last_seen_ms(self) -> int | None:
        """When the carrier's phone called last; None: not since the start."""
        return self._seen_ms

    @property
    def silent_s(self) -> float:
        """Seconds since it called last, or since the start."""
        return trio.current_time() - self._heard_s

    def admitted(self) -> None:
        """Another phone has taken the former one's place."""
        self._seen_ms = None
        self.events.close()
        self.waiting_events.close()  # it connects again, as the carrier's phone
        self.changed()

    async def wait_change(self) -> None:
        """Wait until somebody looks how the phone is: something may have changed."""
        await self._changed.wait()

    @property
    def health(self) -> Health:
        """How the phone is now."""
        now_s = trio.current_time()
        graced = now_s - self._stream_ended_s < self._grace_s  # it begins with the driver too
        sim = self.settings.sim
        return health_of(
            PhoneFacts(
                carrier=self.context.carrier,
                phone=self.book.phone,
                candidate=self.book.candidate,
                sim=None if sim == "any" else sim,
                number=self.settings.number,
                is_listening=self.events.is_open or graced,
                has_called=self._seen_ms is not None,
                silent_s=self.silent_s,
                silent_after_s=self.settings.silent_after_s,
                is_stalled=self._is_stalled,
                last_seen_ms=self._seen_ms,
                clock_off_s=self.clock_off_s,
                in_hand=self.messages.waiting,
                today=self.quota.today(self.now_ms()),
                strangers=self.strangers,
            )
        )

    def _publish(self) -> None:
        if (health := self.health) != self._health:
            self._health = health
            self.context.health(health)

    def _next_look_s(self) -> float:
        now_s = trio.current_time()
        ends = (
            self._heard_s + self.settings.silent_after_s,
            self._stream_ended_s + self._grace_s,
        )
        waits = [end - now_s for end in ends if end > now_s]
        return max(LOOK_SOON_S, min([LOOK_S, *waits]))

    # -- what it is to send --------------------------------------------------------------------

    def declines(self, segments: int) -> Declined | None:
        """Why a message of so many segments may not begin now."""
        return self.quota.declines(segments, self.now_ms())

    async def submit(self, segment: Segment) -> Outcome:
        """Have the phone send a segment, or a whole text; what it came to."""
        phone_id, parts = self.ids.of(segment), count(segment.text).segments
        message = self.messages.get(phone_id)
        if message is not None and message.outcome is not None:
            return message.outcome  # it was reported after an earlier submit of it had ended
        if message is None:
            former = self.fetched.phone_of(phone_id)
            if former not in (None, self.phone_id):
                text = "A phone that is no longer this carrier's had fetched it."
                return Uncertain("", text, phone_id)
            message = PhoneMessage(phone_id, segment, parts, self.now_ms())
            message.fetched_by = former
            if former is None:
                if (declined := self.declines(1)) is not None:
                    return Unsent("", declined.text, Cause.QUOTA_USED)
                if (declined := self.declines(parts)) is not None:  # shorter ones may still go
                    return Refused(Scope.RECIPIENT, "", declined.text, Cause.QUOTA_USED)
                self.quota.count(parts, message.put_at_ms)
            self.messages.put(message)
        message.open()
        self.events.tell(ENQUEUED)
        self._changed.set()
        is_cancelled = True
        try:
            outcome = await self._fate(message)
            is_cancelled = False
            return outcome
        finally:
            self._close(message, is_cancelled=is_cancelled)

    def _close(self, message: PhoneMessage, *, is_cancelled: bool) -> None:
        message.is_open = False
        if message.fetched_by is None:
            self._withdraw(message)
        elif is_cancelled and message.is_fetched and message.outcome is None:
            message.is_unwanted = True
            self.events.tell(CANCELLED, message.id)
        self._changed.set()

    def _withdraw(self, message: PhoneMessage) -> None:
        """Take back a message that no phone has."""
        self.messages.drop(message.id)
        self.quota.give_back(message.parts, message.put_at_ms)

    async def _fate(self, message: PhoneMessage) -> Outcome:
        await self._wait(message, self.settings.fetch_s, lambda: message.is_fetched)
        while message.is_leaving:  # a request of the phone takes it at this moment
            await message.changed.wait()
        if message.outcome is None and not message.is_fetched:
            self._is_stalled = not self._is_over
            return Unsent("", "" if self._is_over else "The phone did not fetch it in time.")
        await self._wait(message, self.settings.sent_s, lambda: False)
        if message.outcome is not None:
            return message.outcome
        cause = Cause.SERVICE_STOPPED if self._is_over else Cause.NO_ANSWER
        return Uncertain("", carrier_id=message.id, cause=cause)

    async def _wait(
        self, message: PhoneMessage, limit_s: float, is_enough: Callable[[], bool]
    ) -> None:
        """Wait until a message has its outcome, or this is enough; the phone is reminded of it."""
        with trio.move_on_after(limit_s):
            while message.outcome is None and not is_enough() and not self._is_over:
                with trio.move_on_after(ASK_AGAIN_S) as again:
                    await message.changed.wait()
                if again.cancelled_caught:
                    self.events.tell(ENQUEUED)

    async def take(self, phone: RegisteredPhone) -> list[dict[str, object]]:
        """What a phone gets when it fetches: until then nobody has it.

        Raises:
            NotStoredError: it could not be written that the phone has them; nothing leaves then.
        """
        if phone.id != self.phone_id:
            return []  # it waits for the operator's yes
        self._is_stalled = False
        messages = self.messages.to_list(phone.id, self.now_ms())[:LIST_MAX]
        fresh = [each for each in messages if each.is_open and not each.is_fetched]
        if fresh := [each for each in fresh if not each.is_leaving]:
            await self._leave(fresh, phone.id)
        sim = self.settings.sim
        answer = [
            listed(each, None if sim == "any" else sim)
            for each in messages
            if each.is_unwanted or (each.is_open and each.is_fetched)
        ]
        return answer + [probe(phone_id) for phone_id in self._asked]

    async def _leave(self, fresh: Sequence[PhoneMessage], phone_id: str) -> None:
        for message in fresh:
            message.is_leaving = True
        try:
            # A phone that was told to fetch it is written down after the engine's own line: a crash
            # between them leaves a message that nobody has, and any phone may get it.
            mine = await self.context.fetched([each.segment for each in fresh])
            left = [each for each in fresh if each.segment in mine]
            if left:
                notes = self.fetched.give(left, phone_id, self.now_ms())
                await self.context.remember({**notes, _QUOTA: self.quota.note})
            for message in left:
                if message.is_open:
                    message.fetched_by, message.is_fetched = phone_id, True
        finally:
            for message in fresh:
                message.is_leaving = False
                message.notify()

    # -- what it reports -----------------------------------------------------------------------

    async def reported(self, phone: RegisteredPhone, reports: Sequence[StateReport]) -> None:
        """Take over what a phone reports of its messages. Of messages that it was never given,
        nothing is stored.

        Raises:
            NotStoredError: it has to report again.
        """
        if phone.id != self.phone_id:
            return
        async with self._reporting:  # two reports of one message may come at once
            for report in reports:
                submit = self.ids.read(report.id)
                if submit is None:
                    continue
                message = self.messages.get(report.id)
                if message is None:
                    await self._reported_late(report, submit)
                elif message.fetched_by == phone.id:
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
        early_ms = message.segment.expires_at_ms - self.now_ms()
        if not meaning.expired_early or early_ms < EARLY_MS:
            return meaning
        self.clock_off_s = max(self.clock_off_s, early_ms / 1000)
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
        if message is None or message.fetched_by != self.phone_id:
            return None
        if message.outcome is None or message.meaning is None or not message.meaning.is_taken:
            return None
        answered = self._asked[phone_id] = trio.Event()
        self.events.tell(ENQUEUED)
        try:
            with trio.move_on_after(QUERY_S):
                await answered.wait()
        finally:
            self._asked.pop(phone_id, None)
        if not answered.is_set():
            return None
        state = message.meaning.receipt or ReceiptState.ENROUTE
        return Receipt(phone_id, state, getattr(message.outcome, "raw", ""))
