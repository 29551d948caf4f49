"""Requests of one key that come in the same turn of the loop, taken together.

The first of a turn waits for one more turn; those that come meanwhile join it. It then does for all
of them what each would do for itself: one unit of the journal, one question to whoever owns limits
and money. Each gets the answer that it would get alone. Where they cannot be taken together, each
goes on alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

import outcome
import trio

from risala.engine.model.commands import Principal

C = TypeVar("C")
R = TypeVar("R")

TOGETHER_MAX: Final = 256
"""Requests that are taken together at most."""

Answers = Sequence[R | Exception | None]
"""An answer for each request, in their order. Those that are exceptions are raised; None: nothing
was done, and it is asked alone."""


class Together(Generic[C, R]):
    """
    Args:
        take: takes requests together; None: nothing was done, and each is asked alone. What it
            raises is the answer to all of them.
        alone: takes one.
    """

    def __init__(
        self,
        take: Callable[[Principal, Sequence[C]], Awaitable[Answers[R] | None]],
        alone: Callable[[Principal, C], Awaitable[R]],
    ) -> None:
        self._take = take
        self._alone = alone
        self._gathering: dict[int, _Turn[C, R]] = {}

    async def ask(self, principal: Principal, request: C) -> R:
        """The answer to one request. A cancellation waits for it."""
        turn = self._gathering.get(id(principal))
        if turn is not None and len(turn.requests) < TOGETHER_MAX:
            answer = await turn.join(request)
        else:
            turn = self._gathering[id(principal)] = _Turn(principal, request)
            await trio.lowlevel.cancel_shielded_checkpoint()
            if self._gathering.get(id(principal)) is turn:
                del self._gathering[id(principal)]
            answer = await self._lead(turn)
        if answer is None:
            return await self._alone(principal, request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _lead(self, turn: _Turn[C, R]) -> R | Exception | None:
        """Take all requests of a turn; the answer to its first. None: it is asked alone."""
        answers: Answers[R] | None = None
        try:
            if len(turn.requests) > 1:
                answers = await self._take(turn.principal, turn.requests)
        except Exception as error:  # noqa: BLE001 -- raised to each of them
            answers = [error] * len(turn.requests)
        finally:
            turn.over(answers)
        return None if answers is None else answers[0]


class _Turn(Generic[C, R]):
    """The requests of one key in one turn."""

    __slots__ = ("_tasks", "principal", "requests")

    def __init__(self, principal: Principal, first: C) -> None:
        self.principal = principal
        self.requests = [first]
        self._tasks: list[trio.lowlevel.Task] = []

    async def join(self, request: C) -> R | Exception | None:
        self.requests.append(request)
        self._tasks.append(trio.lowlevel.current_task())
        answer: R | Exception | None = await trio.lowlevel.wait_task_rescheduled(_stay)
        return answer

    def over(self, answers: Answers[R] | None) -> None:
        """Give each that joined its answer."""
        for n, task in enumerate(self._tasks, 1):
            answer = None if answers is None else answers[n]
            trio.lowlevel.reschedule(task, outcome.Value(answer))


def _stay(_: Callable[[], None]) -> trio.lowlevel.Abort:
    return trio.lowlevel.Abort.FAILED
