"""Messages that go out alone: the link was lost again and again while they were submitted.

Whoever makes a carrier drop the link makes every submit of that moment uncertain. So a message
during which that happened twice gets the lane to itself: what it does, it does to nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass

from risala.engine.delivery.worker.parts import Job


@dataclass(slots=True)
class Solo:
    """Of one lane: who waits to be alone, and whether somebody is."""

    waiting: Job | None = None
    """Starts as soon as nothing is in flight; nothing else does before it."""
    _is_out: bool = False

    def window(self, window_max: int) -> int:
        """How many may be in flight at this moment."""
        return 1 if self._is_out or self.waiting is not None else window_max

    def may_start(self, job: Job, in_flight: int) -> bool:
        """False where it has to wait: then it is :attr:`waiting`."""
        goes_alone = job.row.goes_alone
        if goes_alone and in_flight:
            self.waiting = job
            return False
        self._is_out = goes_alone
        return True

    def take(self) -> Job | None:
        """Whoever waits, who then waits no longer."""
        job, self.waiting = self.waiting, None
        return job
