"""The state of the standby's copy, as the shipper has it in memory: no reads are needed."""

from __future__ import annotations

import trio


class ShippingStatus:
    """The directory that is shipped to; by Trio's clock, which cannot be set."""

    def __init__(self) -> None:
        self._since_s: float | None = None
        self.failing: str | None = None
        """Why the directory did not accept the last shipment; None: it did."""

    def begin(self) -> None:
        """Shipping begins; an existing copy is from an earlier start."""
        if self._since_s is None:
            self._since_s = trio.current_time()

    def reached(self, at_s: float) -> None:
        """The directory has all data that was on disk at ``at_s``."""
        self._since_s = at_s
        self.failing = None

    def failed(self, reason: str) -> None:
        """The shipment did not reach the directory; it is tried again."""
        self.failing = reason

    @property
    def age_s(self) -> float | None:
        """How long ago the copy was complete, or, if nothing was shipped yet, the service started.
        None: there is no standby."""
        return None if self._since_s is None else trio.current_time() - self._since_s
