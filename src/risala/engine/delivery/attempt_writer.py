"""Writes attempts and outcomes of all carriers, in groups that nobody waits for.

While one commit is under way, what comes meanwhile gathers; then all of it is one commit. So the
groups grow with the load, no timer holds anything up, and a message costs no task of its own.

Within a group the answers to submits stand first, so that a receipt finds the submit it tells of,
and what is to leave stands last. Whoever brings something hears of it only once it is on the disk:
until then a lane submits nothing and a driver acknowledges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import structlog
import trio

from risala.engine.actors.bell import Bell
from risala.engine.actors.retrying import AGAIN_FIRST_S, AGAIN_MAX_S
from risala.engine.journal.recorder import Page, Recorder
from risala.engine.model.errors import Draining, Failed, Unavailable
from risala.engine.model.records.attempts import Arrival, Lease, Started, SubmitAnswer

GROUP_MAX: Final = 128
"""Of each kind at one time: the units of others, sends above all, get their turn between."""

Item = TypeVar("Item")
Result = TypeVar("Result")
log = structlog.get_logger(__name__)


_Waiting = tuple[Item, Callable[[Result | Failed], None]]
"""Something to write down, and who is told what came of it."""


class AttemptWriter:
    """Of all carriers. What waits to be written outlives a crash of :meth:`run`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._answers: list[_Waiting[SubmitAnswer, None]] = []
        self._arrivals: list[_Waiting[Arrival, None]] = []
        self._leases: list[_Waiting[Lease, Started | None]] = []
        self._bell = Bell()
        self._pause_s = AGAIN_FIRST_S

    def finish(self, answer: SubmitAnswer, done: Callable[[Failed | None], None]) -> None:
        """Write down what a submit came to, however long the disk refuses.

        Args:
            done: told once it is on the disk; :class:`Failed` where it will not be.
        """
        self._answers.append((answer, done))
        self._bell.ring()

    def receive(self, arrival: Arrival, done: Callable[[Failed | None], None]) -> None:
        """Write down a receipt; where the disk refuses it, its carrier has to bring it again."""
        self._arrivals.append((arrival, done))
        self._bell.ring()

    def start(self, lease: Lease, done: Callable[[Started | Failed | None], None]) -> None:
        """Write down that a segment is about to leave. ``done`` hears None: let it be.

        Between the parts of a message it keeps trying: the message is in nobody else's hands.
        """
        self._leases.append((lease, done))
        self._bell.ring()

    async def finished(self, answer: SubmitAnswer) -> None:
        """As :meth:`finish`, and wait for it.

        Raises:
            Draining: the service stops; the next start finds the submit without an answer.
        """
        word = _Word()
        self.finish(answer, word.come)
        await word.wait()

    async def received(self, arrival: Arrival) -> None:
        """As :meth:`receive`, and wait for it.

        Raises:
            Unavailable: it could not be written.
        """
        word = _Word()
        self.receive(arrival, word.come)
        await word.wait()

    async def run(self) -> None:
        """Write for life."""
        pause_s, again_s = AGAIN_FIRST_S, math.inf
        while True:
            await self._bell.wait(again_s)
            # An answer that is brought makes room in a window, and rings for the scheduler in the
            # same instant: what it lets leave for that is in the same commit.
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
        """Write what has gathered; True where something has to be tried again."""
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
        """Tell what came of each; returns those that must be written and could not be."""
        kept = []
        for one, result in zip(brought, results, strict=True):
            item, done = one
            if isinstance(result, Failed) and _may_pass(result.error) and keep(item):
                kept.append(one)
                continue
            try:
                done(result)
            except Exception:  # its neighbours must hear of theirs
                log.exception("scribe.bug")
        return kept


class _Word:
    """What somebody waits to be told."""

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
    """Whether the same may be written a little later."""
    return isinstance(error, Unavailable) and not isinstance(error, Draining)


def _always(_: object) -> bool:
    return True


def _never(_: object) -> bool:
    return False


def _goes_on(lease: Lease) -> bool:
    return not lease.opens
