"""Sends texts through a stick: one after the other, since it tells what becomes of one alone.

The stick says by ``send-status`` when it has done, and by the state of the text in its outbox what
became of it. The outbox is the better witness: the other may still tell of the text before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import trio

from risala.drivers.hilink.errors import (
    BUSY_S,
    SMS_FULL,
    LinkError,
    StickError,
    UnreadyError,
    outcome_of,
)
from risala.drivers.hilink.reports import StickReports
from risala.drivers.hilink.stick import FAILED, OUTBOX, SENT, Stick, StoredMessage
from risala.plugins.contract import (
    Accepted,
    Cause,
    DriverContext,
    Outcome,
    Refused,
    Scope,
    Segment,
    Throttled,
    Uncertain,
    Unsent,
)

ASK_S: Final = 0.5
"""Between two questions what became of a text, at most."""
ASK_SOON_S: Final = 0.02
"""Before the first one; then twice as long each time."""
SURE_S: Final = 2.0
"""Seconds after which ``send-status`` is believed without the outbox, which some sticks do not
write."""
DOUBTS_MAX: Final = 20
"""The most texts whose fate is looked for in the outbox; the oldest are given up."""
KNOWN_MAX: Final = 200
"""The most texts of the outbox that are remembered as settled, though they could not be deleted."""
_FAULTS: Final = (StickError, LinkError, UnreadyError)


class StickSender:
    """Sends through one stick, while it is there.

    Args:
        now_ms: UTC epoch milliseconds.
        timeout_s: seconds in which the stick says what became of a text.
    """

    def __init__(
        self,
        context: DriverContext,
        stick: Stick,
        reports: StickReports | None,
        now_ms: Callable[[], int],
        timeout_s: float,
    ) -> None:
        self._context = context
        self._stick = stick
        self._reports = reports
        self._now_ms = now_ms
        self._timeout_s = timeout_s
        self._one_at_a_time = trio.Lock()
        self._doubts: deque[Segment] = deque(maxlen=DOUBTS_MAX)
        """Texts that may have left, and of which the stick did not say what became of them."""
        self._known: deque[str] = deque(maxlen=KNOWN_MAX)
        """Texts of the outbox that say nothing of a doubt."""
        self._has_begun = False
        self.is_lost = False
        """Whether a request failed since the last look at the stick."""

    async def begin(self) -> None:
        """Learn what is in the outbox already, once.

        Raises:
            StickError, LinkError, UnreadyError: it could not be asked.
        """
        if not self._has_begun:
            self._known += [each.identity for each in await self._outbox()]
            self._has_begun = True

    async def submit(self, segment: Segment) -> Outcome:
        """Send a text, and wait until the stick says that the network took it."""
        async with self._one_at_a_time:
            with self._leaving(segment):
                return await self._submit(segment)

    async def _submit(self, segment: Segment) -> Outcome:
        try:
            if not await self._is_free():
                return Throttled("BUSY", "The stick is busy with another message.", BUSY_S)
            await self._forget_likes(segment)
            self._doubts.append(segment)
            await self._leave(segment)
        except _FAULTS as fault:
            self.is_lost = self.is_lost or not isinstance(fault, StickError)
            # The question whether it is free has nothing of the text.
            outcome = outcome_of(fault) if segment in self._doubts else Unsent("")
        else:
            outcome = await self._watch(segment)
        if not isinstance(outcome, Uncertain) and segment in self._doubts:
            self._doubts.remove(segment)
        if isinstance(outcome, Accepted) and self._reports is not None:
            await self._reports.sent(id_of(segment), segment.recipient)
        return outcome

    @contextmanager
    def _leaving(self, segment: Segment) -> Iterator[None]:
        if self._reports is not None:
            self._reports.leaves(segment.recipient)
        try:
            yield
        finally:
            if self._reports is not None:
                self._reports.leaves("")

    def stopped(self, segment: Segment) -> Outcome:
        """What a submit came to that was broken off."""
        if segment in self._doubts:
            return Uncertain("", cause=Cause.SERVICE_STOPPED)
        return Unsent("")

    async def _is_free(self) -> bool:
        """Wait until the stick has done with another text."""
        with trio.move_on_after(self._timeout_s):
            wait_s = ASK_SOON_S
            while (await self._stick.send_state()).waiting:
                await trio.sleep(wait_s)
                wait_s = min(2 * wait_s, ASK_S)
            return True
        return False

    async def _leave(self, segment: Segment) -> None:
        """Hand the text to the stick. Where its storage is full, sent texts are deleted first."""
        order = (segment.recipient, segment.text, segment.alphabet, self._now_ms())
        try:
            await self._stick.send(*order)
        except StickError as fault:
            if fault.code != SMS_FULL or not await self.make_room():
                raise
            await self._stick.send(*order)

    async def _watch(self, segment: Segment) -> Outcome:
        """Ask until the stick has done."""
        left_s, wait_s = trio.current_time(), ASK_SOON_S
        with trio.move_on_after(self._timeout_s):
            while True:
                await trio.sleep(wait_s)
                wait_s = min(2 * wait_s, ASK_S)
                is_sure = trio.current_time() - left_s >= SURE_S
                try:
                    outcome = await self._fate(segment, is_sure=is_sure)
                except _FAULTS as fault:
                    self.is_lost = True
                    raw = fault.kind if isinstance(fault, LinkError) else str(fault)
                    return Uncertain(raw, cause=Cause.LINK_LOST)
                if outcome is not None:
                    return outcome
        return Uncertain("PENDING", cause=Cause.NOT_ACKNOWLEDGED)

    async def _fate(self, segment: Segment, *, is_sure: bool) -> Outcome | None:
        """What became of a text; None: the stick is at it."""
        state = await self._stick.send_state()
        if state.waiting:
            return None
        for each in await self._outbox():
            if self._is(each, segment) and each.state in (SENT, FAILED):
                await self._tidy(each)
                return _judged(each, segment)
        if is_sure and segment.recipient in state.reached:
            return Accepted(id_of(segment), "SucPhone")
        if is_sure and segment.recipient in state.failed:
            return _refused("FailPhone")
        return Uncertain("") if is_sure else None

    # -- the outbox --------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Look in the outbox for texts of which the stick did not say what became of them.

        Raises:
            StickError, LinkError, UnreadyError: it could not be asked.
        """
        if not self._doubts or self._one_at_a_time.locked():
            return
        async with self._one_at_a_time:
            await self._settle()

    async def _settle(self) -> None:
        listed = await self._outbox()
        for segment in [*self._doubts]:
            alike = [each for each in listed if self._is(each, segment)]
            if len(alike) != 1 or alike[0].state not in (SENT, FAILED):
                continue
            self._doubts.remove(segment)
            await self._tidy(alike[0])
            outcome = _judged(alike[0], segment)
            if isinstance(outcome, Accepted) and self._reports is not None:
                await self._reports.sent(id_of(segment), segment.recipient)
            await self._context.late_outcome(segment, outcome)

    async def _forget_likes(self, segment: Segment) -> None:
        """Give up doubts of a text like this one: the outbox could not tell them apart."""
        likes = [each for each in self._doubts if _words(each) == _words(segment)]
        if likes:
            await self._settle()
            self._known += [each.identity for each in await self._outbox()]
        for each in likes:
            if each in self._doubts:
                self._doubts.remove(each)

    async def _tidy(self, stored: StoredMessage) -> None:
        """Delete a text whose fate is known. If that fails, the room is made when it is needed."""
        self._known.append(stored.identity)
        with suppress(*_FAULTS):
            await self._stick.delete(stored)

    async def make_room(self) -> bool:
        """Delete texts that were sent, but for those whose fate is looked for; whether there were
        any.

        Raises:
            StickError, LinkError, UnreadyError: the stick did not do it.
        """
        done = [
            each
            for each in await self._outbox()
            if each.state in (SENT, FAILED) and not any(self._is(each, it) for it in self._doubts)
        ]
        for each in done:
            await self._stick.delete(each)
        return bool(done)

    async def _outbox(self) -> Sequence[StoredMessage]:
        return await self._stick.listed(OUTBOX, oldest_first=False)

    def _is(self, stored: StoredMessage, segment: Segment) -> bool:
        is_it = (stored.phone, stored.text) == _words(segment)
        return is_it and stored.identity not in self._known


def id_of(segment: Segment) -> str:
    """The id of a submit: sticks give none."""
    return f"{segment.message_id}.{segment.number}.{segment.attempt}"


def _words(segment: Segment) -> tuple[str, str]:
    return segment.recipient, segment.text


def _judged(stored: StoredMessage, segment: Segment) -> Outcome:
    raw = f"Smstat {stored.state}"
    return Accepted(id_of(segment), raw) if stored.state == SENT else _refused(raw)


def _refused(raw: str) -> Refused:
    text = "The stick could not send it, and does not say why."
    return Refused(Scope.NOW, raw, text, Cause.CARRIER_FAULT)
