"""Messages that go out alone: the link was lost repeatedly while they were submitted.

A message that makes a carrier drop the link makes every submit of that moment uncertain. So a
message during which that happened twice gets the worker alone: then it affects no other message.
"""

from __future__ import annotations

from dataclasses import dataclass

from risala.engine.delivery.worker.parts import Job


@dataclass(slots=True)
class Solo:
    """The messages of one worker that wait to go alone, and the one that does."""

    waiting: Job | None = None
    """Starts as soon as nothing is in flight; nothing else starts before it."""
    _is_out: bool = False

    def window(self, window_max: int) -> int:
        """How many may be in flight now."""
        return 1 if self._is_out or self.waiting is not None else window_max

    def may_start(self, job: Job, in_flight: int) -> bool:
        """False if it has to wait: then it is :attr:`waiting`."""
        goes_alone = job.row.goes_alone
        if goes_alone and in_flight:
            self.waiting = job
            return False
        self._is_out = goes_alone
        return True

    def take(self) -> Job | None:
        """Remove and return the waiting message, if any."""
        job, self.waiting = self.waiting, None
        return job
