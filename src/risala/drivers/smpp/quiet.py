"""Notices that a carrier sends nothing, though its links answer. Pure.

Some SMSCs forget that a bind receives: it answers ``enquire_link`` and submits, and no receipt or
message comes over it until it is bound again.
"""

from __future__ import annotations

from typing import Final

_LONGER_MAX: Final = 6
"""How often the wait doubles: 64 times the first one, which is more than a day by default."""
_TOLD_FROM: Final = 2
"""Binds in vain before the operator is warned: one phone that is off is no reason to look."""


class QuietWatch:
    """Decides when the receiving links of a carrier are to be bound again.

    Args:
        after_s: seconds without receipt or message while receipts are awaited; 0: never.
    """

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._since_s: float | None = None
        """When the wait began; None: nothing is awaited."""
        self._in_vain = 0

    def accepted(self, now_s: float) -> None:
        """A submit was accepted that asks for a receipt."""
        if self._since_s is None:
            self._since_s = now_s

    def came(self) -> bool:
        """A receipt or message came; True if the operator had been warned of the silence."""
        was_told = bool(self.attention)
        self._since_s, self._in_vain = None, 0
        return was_told

    def is_due(self, now_s: float) -> bool:
        if not self._after_s or self._since_s is None:
            return False
        return now_s - self._since_s >= self._after_s * (1 << self._in_vain)

    def bound_again(self, now_s: float) -> None:
        """The links are bound again: wait twice as long for the next time."""
        self._since_s = now_s
        self._in_vain = min(self._in_vain + 1, _LONGER_MAX)

    @property
    def attention(self) -> str:
        """A sentence for the operator; empty without a problem."""
        if self._in_vain < _TOLD_FROM:
            return ""
        return (
            "Messages are accepted, but no receipts or messages come over this carrier's links, "
            "even after binding again. Ask the carrier where it sends them."
        )
