"""How far the standby's copy is, as whoever ships it knows: nothing is read to tell it."""

from __future__ import annotations

import trio


class ShippingStatus:
    """Of the directory that is shipped to; by Trio's clock, which nobody sets."""

    def __init__(self) -> None:
        self._since_s: float | None = None
        self.failing: str | None = None
        """Why the directory has not taken what was last shipped; None: it has."""

    def begin(self) -> None:
        """Something is shipped from now on; a copy that is there already is of an earlier start."""
        if self._since_s is None:
            self._since_s = trio.current_time()

    def reached(self, at_s: float) -> None:
        """What was on the disk at ``at_s`` is in the directory."""
        self._since_s = at_s
        self.failing = None

    def failed(self, reason: str) -> None:
        """What was shipped has not reached the directory; it is tried again."""
        self.failing = reason

    @property
    def age_s(self) -> float | None:
        """How long ago what the copy holds was all there was, or the service started where nothing
        was shipped yet. None: there is no standby."""
        return None if self._since_s is None else trio.current_time() - self._since_s
