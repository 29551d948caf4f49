"""Gives up waiting, and not the work, where the log that answers wait for does not answer in time.

What was begun is on this machine's disk, or about to be, and nothing of it is undone: it goes on in
a task of its own as soon as the log answers. Only the caller is told that the outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Generic, Protocol, TypeVar

import trio

from risala.engine.model.errors import Draining, LogSilent

T = TypeVar("T")

SPAN_MIN_S: Final = 0.001
"""The shortest wait for the log. A deadline nearer than the clock can tell is over at once, and the
wait for it would begin again and again."""


class AnswerLog(Protocol):
    """What answers wait for."""

    @property
    def answer_wait_s(self) -> float:
        """How long a caller waits."""
        ...

    @property
    def waits(self) -> bool:
        """Whether answers wait."""
        ...

    @property
    def is_late(self) -> bool:
        """Whether it should have answered by now."""
        ...

    @property
    def late_in_s(self) -> float:
        """Seconds until it should have answered; 0 or less: it should have by now."""
        ...

    @property
    def refuses(self) -> bool:
        """Whether it has not answered for long."""
        ...


class AnswerWindow:
    """The time within which one journal's answers are given. Without a log it only calls."""

    def __init__(self) -> None:
        self.log: AnswerLog | None = None
        """The log; None: no answer waits for another machine."""
        self._nursery: trio.Nursery | None = None

    def wait_for(self, log: AnswerLog) -> None:
        """From now on answers wait for this log."""
        self.log = log

    @property
    def is_late(self) -> bool:
        """Whether the log should have answered by now."""
        return self.log is not None and self.log.is_late

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Let work go on whose caller has gone, until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            try:
                await trio.sleep_forever()
            finally:
                self._nursery = None

    def admit(self) -> None:
        """Refuse new work where the log has not answered for long.

        Raises:
            LogSilent: nothing was done.
        """
        if self.log is not None and self.log.refuses:
            raise LogSilent

    async def within(self, work: Callable[[], Awaitable[T]], doubt: Callable[[], Exception]) -> T:
        """What ``work`` returns or raises, unless the log does not answer in time.

        A cancellation of the caller cancels the work.

        Args:
            doubt: makes the error for that.

        Raises:
            LogSilent: the log has not answered for long; nothing was done.
        """
        log, nursery = self.log, self._nursery
        if log is None or nursery is None or not log.waits:
            return await work()
        self.admit()
        own_task = _OwnTask(work)
        nursery.start_soon(own_task.run)
        try:
            left_s = log.answer_wait_s
            while not await own_task.over_within(left_s):
                # Only the log is worth giving up for: what else takes long is waited for.
                left_s = log.late_in_s
                if left_s <= 0:
                    raise doubt()
                left_s = max(left_s, SPAN_MIN_S)
        except trio.Cancelled:
            await own_task.end()
            raise
        return own_task.outcome()


class _OwnTask(Generic[T]):
    """Work in a task of its own."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self._scope = trio.CancelScope()
        self._over = trio.Event()
        self._error: BaseException | None = Draining()
        self._value: T | None = None

    async def run(self) -> None:
        try:
            with self._scope:
                self._value = await self._work()
                self._error = None
        except Exception as error:  # noqa: BLE001 -- its caller's
            self._error = error
        finally:
            self._over.set()

    async def over_within(self, span_s: float) -> bool:
        with trio.move_on_after(span_s):
            await self._over.wait()
        return self._over.is_set()

    async def end(self) -> None:
        """Cancel it, and wait until it has ended."""
        self._scope.cancel()
        with trio.CancelScope(shield=True):
            await self._over.wait()

    def outcome(self) -> T:
        if self._error is not None:
            raise self._error
        value: T = self._value  # type: ignore[assignment]  # None only if that is its value
        return value
