"""Segments of a carrier that fetches: offered to its driver, and with nobody until it fetches them.

An offered segment's message is still ``pending`` on disk: a crash leaves it as it was, and whatever
ends a pending message ends this one. When the carrier asks for it, its attempt is written down, as
that of any other segment before it leaves; only then may the driver hand it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol

import trio

from risala.engine.delivery.attempt_writer import AttemptWriter
from risala.engine.delivery.worker.calls import Calls, SubmitCall
from risala.engine.model.errors import Failed
from risala.engine.model.records.attempts import Started
from risala.sms.message import Segment
from risala.sms.outcome import Outcome, Throttled, Unsent

_Name = tuple[str, int, int]


def _name(segment: Segment) -> _Name:
    return segment.message_id, segment.attempt, segment.number


class OffersOwner(Protocol):
    """The worker whose segments are offered."""

    def fetched_one(self, call: SubmitCall) -> None:
        """A segment is on disk, and leaves now."""

    def settle(self, call: SubmitCall, outcome: Outcome) -> None:
        """A segment that is on disk was answered."""

    def take_back(self, call: SubmitCall, outcome: Outcome | None) -> None:
        """A segment that nobody has is no longer offered; the outcome is its driver's, if any."""


class Offers:
    """The offered segments of one worker. Everything here runs on the loop's thread."""

    def __init__(self, calls: Calls, scribe: AttemptWriter, owner: OffersOwner) -> None:
        self._calls = calls
        self._scribe = scribe
        self._owner = owner
        self._own: dict[_Name, trio.Event] = {}

    @contextmanager
    def own(self, segment: Segment) -> Iterator[trio.Event]:
        """Within this context a segment of no message may be fetched: nothing is written down. The
        event is set once that has been asked for."""
        fetched = self._own[_name(segment)] = trio.Event()
        try:
            yield fetched
        finally:
            del self._own[_name(segment)]

    async def fetch(self, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        """See :meth:`risala.plugins.contract.DriverContext.fetched`."""
        open_calls = {_name(call.segment): call for call in self._calls}
        calls = [open_calls.get(_name(segment)) for segment in segments]
        for call in calls:
            if call is not None:
                self._begin(call)
        for call in calls:
            if call is not None and call.writing is not None:
                await call.writing.wait()
        await trio.lowlevel.checkpoint()
        for name in self._own.keys() & {_name(segment) for segment in segments}:
            self._own[name].set()
        pairs = zip(segments, calls, strict=True)
        return tuple(
            segment
            for segment, call in pairs
            if _name(segment) in self._own or (call is not None and call.may_leave)
        )

    def _begin(self, call: SubmitCall) -> None:
        """Write its attempt down, unless that is done or under way."""
        if call.offer is not None and call.writing is None:
            call.writing = trio.Event()
            self._scribe.start(call.offer, partial(self._begun, call))

    def _begun(self, call: SubmitCall, result: Started | Failed | None) -> None:
        writing, call.writing = call.writing, None
        assert writing is not None
        if isinstance(result, Started):
            call.offer = None
            if result.attempt == call.segment.attempt:
                self._owner.fetched_one(call)
                if call.outcome is not None:
                    self._owner.settle(call, call.outcome)
            else:  # its row was another one: nobody gets it under this name
                call.segment = call.job.segment_of(result.attempt, call.segment.number)
                self._calls.drop(call)
                self._owner.settle(call, Unsent(""))
        elif result is None or call.outcome is not None:
            self.withdraw(call, call.outcome)
        writing.set()

    def answered(self, call: SubmitCall, outcome: Outcome) -> None:
        """A driver returned before the carrier fetched, or while that is being written."""
        if call.writing is None and isinstance(outcome, Unsent | Throttled):
            self.withdraw(call, outcome)
            return
        call.outcome = outcome
        self._begin(call)

    def withdraw(self, call: SubmitCall, outcome: Outcome | None = None) -> None:
        """Nobody gets it any more: its submit is cancelled, and its message is free."""
        self._calls.drop(call)
        self._owner.take_back(call, outcome)

    def withdraw_all(self, *, but_repeats: bool = False) -> None:
        """Withdraw what is offered, and not being fetched at this moment.

        Args:
            but_repeats: further submits of attempts that were begun stay.
        """
        for call in [*self._waiting()]:
            if not (but_repeats and call.job.repeat is not None):
                self.withdraw(call)

    def message_ended(self, message_id: str) -> None:
        """A message was canceled, or has expired: withdraw it if it is offered."""
        if not self._calls.fetches:
            return
        for call in [call for call in self._waiting() if call.job.row.id == message_id]:
            self.withdraw(call)

    def has(self, message_id: str) -> bool:
        """Whether a message is offered, and its carrier has not fetched it."""
        return any(call.job.row.id == message_id for call in self._waiting())

    def _waiting(self) -> Iterator[SubmitCall]:
        return (call for call in self._calls if call.offer is not None and call.writing is None)
