"""Keeps one-time codes from numbers that earn money by them, and limits codes to one number.

Pure; both guards are off unless the operator sets them.

A publishable key is public. A person who is paid for calls to a range of numbers can have codes
sent there, paid by another's balance; and a person who wants to annoy someone can have codes sent
all day.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.sms.numbering.countries import network_of

HOUR_MS: Final = 3_600_000
"""The codes of an hour decide the cool-down: those that the journal has after a restart too."""


@dataclass(frozen=True, slots=True)
class CodeGuards:
    """The operator's choice; the defaults let everything pass."""

    networks: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    """With neither, codes go to every number."""
    cooldown_ms: int = 0
    """After the first code of an hour to a number; 0: no wait."""
    cooldown_max_ms: int = HOUR_MS

    def serve(self, recipient: str) -> bool:
        """Whether codes go to a number at all. An e-mail address, and a number that is not known
        yet, have no network, and cost none of its fees."""
        if (not self.networks and not self.prefixes) or not recipient.startswith("+"):
            return True
        return recipient.startswith(self.prefixes) or network_of(recipient) in self.networks

    def wait_ms(self, times: Sequence[int], now_ms: int) -> int:
        """How long no further code goes to a number; 0: one may go now.

        Args:
            times: when its codes of the last hour were accepted, the earliest first.
        """
        if not self.cooldown_ms or not times:
            return 0
        count = len(times)
        for left in range(count, 0, -1):
            # As long as this many of them are in the last hour.
            begins = now_ms if left == count else times[count - left - 1] + HOUR_MS
            ends = times[count - left] + HOUR_MS
            free_at = max(begins, times[-1] + self._cooldown_ms(left))
            if free_at < ends:
                return free_at - now_ms
        return times[-1] + HOUR_MS - now_ms

    def _cooldown_ms(self, codes: int) -> int:
        """The cool-down after so many codes: twice as long with each."""
        doubled = self.cooldown_ms << min(codes - 1, _DOUBLINGS_MAX)
        return min(doubled, self.cooldown_max_ms)


_DOUBLINGS_MAX: Final = 20
"""A second that is doubled this often is longer than any cool-down may be."""
