"""Asks a driver what became of a segment; a question that never ends blocks nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import trio

QUESTION_S: Final = 60.0
"""After this time a question is cancelled: drivers' own limits are a fraction of it."""
OPEN_MAX: Final = 20
"""Questions to one driver at a time. A driver that answers none, not even when cancelled, gets no
further question."""


@dataclass(slots=True, eq=False)
class _Question:
    ask: Callable[[], Awaitable[object]]
    answered: trio.Event = field(default_factory=trio.Event)
    answer: object = None
    fault: Exception | None = None


class Questions:
    """The questions to one driver. They run in a nursery that outlives the caller: the caller can
    give up even if the driver cannot be cancelled."""

    def __init__(self) -> None:
        self._open = 0

    async def ask(self, nursery: trio.Nursery, ask: Callable[[], Awaitable[object]]) -> object:
        """The driver's answer; None if it gives none in time.

        Raises whatever the driver raises.
        """
        if self._open >= OPEN_MAX:
            return None
        question = _Question(ask)
        self._open += 1
        nursery.start_soon(self._put, question)
        with trio.move_on_after(QUESTION_S):
            await question.answered.wait()
        if question.fault is not None:
            raise question.fault
        return question.answer

    async def _put(self, question: _Question) -> None:
        try:
            with trio.move_on_after(QUESTION_S):
                question.answer = await question.ask()
        except Exception as fault:  # noqa: BLE001 -- the caller handles it
            question.fault = fault
        finally:
            self._open -= 1
            question.answered.set()
