"""The state of the standby's copy, as the service has it in memory: no reads are needed.

It stands beside what ships: a service without a standby has this alone, which says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from risala.engine.features.standby.stored.awaited_log import AwaitedLog


class ShippingStatus:
    """The store that is shipped to; by Trio's clock, which cannot be set."""

    def __init__(self, log: AwaitedLog | None = None) -> None:
        self._since_s: float | None = None
        self._failing: str | None = None
        self.log = log
        """The log that answers wait for, which knows its own state; None: they wait for nothing."""

    def begin(self) -> None:
        """Shipping begins; an existing copy is from an earlier start."""
        if self._since_s is None:
            self._since_s = trio.current_time()

    def reached(self, at_s: float) -> None:
        """The store has all data that was on disk at ``at_s``."""
        self._since_s = at_s
        self._failing = None

    def failed(self, reason: str) -> None:
        """The shipment did not reach the store; it is tried again."""
        self._failing = reason

    @property
    def failing(self) -> str | None:
        """Why the store did not accept the last shipment; None: it did."""
        return self._failing if self.log is None else self.log.status().failing

    @property
    def age_s(self) -> float | None:
        """How long ago the copy was complete, or, if nothing was shipped yet, the service started.
        None: there is no standby."""
        if self.log is not None:
            return self.log.status().behind_s
        return None if self._since_s is None else trio.current_time() - self._since_s
