"""Writes the attempts and outcomes of all carriers, in groups, without blocking.

While one commit runs, new items gather; then all of them form one commit. So the groups grow with
the load, no timer delays anything, and a message needs no task of its own.

In a group the answers to submits come first, so that a receipt finds its submit; the starts come
last. Callers are notified only after the item is on disk: until then a worker submits nothing and a
driver acknowledges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import structlog
import trio

from risala.engine.actors.alarm import Bell
from risala.engine.actors.retrying import AGAIN_FIRST_S, AGAIN_MAX_S
from risala.engine.journal.recorder import Page, Recorder
from risala.engine.model.errors import Draining, Failed, Unavailable
from risala.engine.model.records.attempts import Arrival, Lease, Started, SubmitAnswer

GROUP_MAX: Final = 128
"""The limit of each kind per group: other units, above all sends, get their turn between."""

Item = TypeVar("Item")
Result = TypeVar("Result")
log = structlog.get_logger(__name__)


_Waiting = tuple[Item, Callable[[Result | Failed], None]]
"""Something to write, and the callback for the result."""


class AttemptWriter:
    """The writer of all carriers. Items that wait to be written survive a crash of :meth:`run`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._answers: list[_Waiting[SubmitAnswer, None]] = []
        self._arrivals: list[_Waiting[Arrival, None]] = []
        self._leases: list[_Waiting[Lease, Started | None]] = []
        self._bell = Bell()
        self._pause_s = AGAIN_FIRST_S

    def finish(self, answer: SubmitAnswer, done: Callable[[Failed | None], None]) -> None:
        """Write the outcome of a submit; try until the disk accepts it.

        Args:
            done: called once it is on disk; with :class:`Failed` if it will never be.
        """
        self._answers.append((answer, done))
        self._bell.ring()

    def receive(self, arrival: Arrival, done: Callable[[Failed | None], None]) -> None:
        """Write a receipt; if the disk refuses it, the carrier has to send it again."""
        self._arrivals.append((arrival, done))
        self._bell.ring()

    def start(self, lease: Lease, done: Callable[[Started | Failed | None], None]) -> None:
        """Write that a segment is about to leave. ``done`` gets None if it must not be sent.

        Between the parts of a message it keeps trying, because only this worker has the message.
        """
        self._leases.append((lease, done))
        self._bell.ring()

    async def finished(self, answer: SubmitAnswer) -> None:
        """As :meth:`finish`, and wait for the result.

        Raises:
            Draining: the service stops; the next start finds the submit without an answer.
        """
        word = _Word()
        self.finish(answer, word.come)
        await word.wait()

    async def received(self, arrival: Arrival) -> None:
        """As :meth:`receive`, and wait for the result.

        Raises:
            Unavailable: it could not be written.
        """
        word = _Word()
        self.receive(arrival, word.come)
        await word.wait()

    async def run(self) -> None:
        """Write until cancelled."""
        pause_s, again_s = AGAIN_FIRST_S, math.inf
        while True:
            await self._bell.wait(again_s)
            # An answer frees room in a window and wakes the scheduler at the same instant, so the
            # next segment that may leave is in the same commit.
            await trio.lowlevel.checkpoint()
            if self._has_any() and await self._turn():
                log.warning("journal.storage", again_in_s=pause_s)
                again_s = trio.current_time() + pause_s
                pause_s = min(2 * pause_s, AGAIN_MAX_S)
                continue
            pause_s, again_s = AGAIN_FIRST_S, math.inf
            if self._has_any():
                self._bell.ring()

    def _has_any(self) -> bool:
        return bool(self._answers or self._arrivals or self._leases)

    async def _turn(self) -> bool:
        """Write what has gathered; True if something has to be tried again."""
        answers, self._answers = self._answers[:GROUP_MAX], self._answers[GROUP_MAX:]
        arrivals, self._arrivals = self._arrivals[:GROUP_MAX], self._arrivals[GROUP_MAX:]
        leases, self._leases = self._leases[:GROUP_MAX], self._leases[GROUP_MAX:]
        page = Page(_items(answers), _items(arrivals), _items(leases))
        written = await self._recorder.write(page)
        self._answers[:0] = still = self._answer_all(answers, written.answers, keep=_always)
        self._answer_all(arrivals, written.arrivals, keep=_never)
        self._leases[:0] = parts = self._answer_all(leases, written.leases, keep=_goes_on)
        return bool(still or parts)

    def _answer_all(
        self,
        brought: Sequence[_Waiting[Item, Result]],
        results: Sequence[Result | Failed],
        keep: Callable[[Item], bool],
    ) -> list[_Waiting[Item, Result]]:
        """Report each result; returns the items that must be written and could not be."""
        kept = []
        for one, result in zip(brought, results, strict=True):
            item, done = one
            if isinstance(result, Failed) and _may_pass(result.error) and keep(item):
                kept.append(one)
                continue
            try:
                done(result)
            except Exception:  # the other callbacks must run too
                log.exception("scribe.bug")
        return kept


class _Word:
    """A result that a caller waits for."""

    def __init__(self) -> None:
        self._has_come = trio.Event()
        self._failed: Failed | None = None

    def come(self, failed: Failed | None) -> None:
        self._failed = failed
        self._has_come.set()

    async def wait(self) -> None:
        await self._has_come.wait()
        if self._failed is not None:
            raise self._failed.error


def _items(brought: Sequence[_Waiting[Item, Result]]) -> list[Item]:
    return [item for item, _ in brought]


def _may_pass(error: BaseException) -> bool:
    """Whether the same write may succeed a little later."""
    return isinstance(error, Unavailable) and not isinstance(error, Draining)


def _always(_: object) -> bool:
    return True


def _never(_: object) -> bool:
    return False


def _goes_on(lease: Lease) -> bool:
    return not lease.opens
