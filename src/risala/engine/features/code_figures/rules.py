"""Times to enter a code, as they are counted; and when a carrier's codes are no longer entered.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Final

from risala.dataclass import dataclass

MINUTE_MS: Final = 60_000
AT_ONCE: Final = 100
"""Sessions that one unit counts: some milliseconds of the writer."""
STEPS_S: Final = ((60, 1), (600, 5), (7200, 60))
"""Times below so many seconds are rounded to so many: to whole seconds below a minute, to five
seconds below ten minutes, then to minutes. So a median is at most half a second off below a minute,
2.5 seconds below ten, and half a minute beyond."""
TIMES_MAX: Final = 300
"""Different times at most, by these steps."""
MEDIAN: Final = 0.5
MOST: Final = 0.9
"""The time within which nine of ten codes were entered."""

CODES: Final = 50
"""Codes of a carrier that are judged: its last ones whose verification is over."""
LOW: Final = 1 / 4
"""Codes of a carrier are no longer entered if fewer than this part of the usual share was."""
WELL: Final = 1 / 2
"""Codes of a carrier are entered again from this part of the usual share on."""
USUAL_CODES_MIN: Final = 200
"""Codes before a share counts as usual: with fewer it is off by more than a tenth too often."""
USUAL_SHARE_MIN: Final = 0.3
"""Carriers with a lower usual share are not judged. With this share, chance alone leaves 50
codes with fewer than 3.75 entered ones once in 30,000 times."""


def rounded_s(took_ms: int) -> int:
    """A time to enter a code as it is counted, in seconds; a longer one than the last step's end
    counts as that."""
    took_s = max(0, took_ms) / 1000
    for end_s, step_s in STEPS_S:
        if took_s < end_s:
            return int(took_s / step_s + 0.5) * step_s
    return STEPS_S[-1][0]


def time_within(times: Mapping[int, int], share: float) -> int | None:
    """The least time within which a share of the codes was entered; None: no code was.

    Args:
        times: how many codes took how many seconds.
    """
    needed, so_far = ceil(sum(times.values()) * share), 0
    for seconds in sorted(times):
        so_far += times[seconds]
        if so_far >= needed:
            return seconds
    return None


@dataclass(frozen=True, slots=True)
class CarrierCodes:
    """The last codes that a carrier took, and what is usual with it."""

    carrier: str
    codes: int
    entered: int
    usual_codes: int
    usual_entered: int
    usual_asked: int = 0
    """Codes that it took or tried, of the days that are usual."""
    usual_in_minute: int = 0
    """Codes that were entered within a minute of being asked for."""

    @property
    def share(self) -> float:
        return self.entered / self.codes if self.codes else 0.0

    @property
    def usual_share(self) -> float | None:
        """The share that is usual; None: too few codes, or too few of them entered, to say."""
        if self.usual_codes < USUAL_CODES_MIN:
            return None
        share = self.usual_entered / self.usual_codes
        return share if share >= USUAL_SHARE_MIN else None


def are_unentered(of: CarrierCodes, raised_share: float | None) -> bool | None:
    """Whether a carrier's codes are no longer entered; None: too little is known.

    Args:
        raised_share: the usual share when that was found, as long as it is so: it does not become
            usual meanwhile that no code is entered. None: they were entered so far.
    """
    usual = of.usual_share if raised_share is None else raised_share
    if usual is None or of.codes < CODES:
        return None
    return of.share < usual * (LOW if raised_share is None else WELL)


def last_of_each(newest_first: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    """How many codes of each carrier are judged, and how many of those were entered.

    Args:
        newest_first: carriers of codes, and whether each was entered.
    """
    counts: dict[str, tuple[int, int]] = {}
    for carrier, is_entered in newest_first:
        codes, entered = counts.get(carrier, (0, 0))
        if codes < CODES:
            counts[carrier] = (codes + 1, entered + is_entered)
    return counts
