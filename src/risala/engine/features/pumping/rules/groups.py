"""What codes are counted by, and counts that fade. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple

from risala.sms.numbering.countries import UNKNOWN, network

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
HALF_LIVES_MS: Final = (HOUR_MS, DAY_MS, 7 * DAY_MS)
"""After so long a code counts half: the first count shows an attack of this hour behind a good
record, the second one a slow one, the third one is the record."""
DAY: Final = 1
"""The count of a day."""
RECORD: Final = len(HALF_LIVES_MS) - 1
"""The slowest count."""
BLOCK_DIGITS: Final = 5
"""National digits that are a block, of numbers with at most eight digits: a thousand numbers."""
BLOCK_DIGITS_LONG: Final = 6
"""Leading digits of longer numbers."""
LONG_DIGITS: Final = 9


class GroupKind(StrEnum):
    """What codes are counted by, from the narrowest to the widest."""

    BLOCK = "block"
    ADDRESS = "address"
    TAG = "tag"
    KEY = "key"
    NETWORK = "network"
    ORGANIZATION = "organization"


NARROW: Final = frozenset((GroupKind.BLOCK, GroupKind.ADDRESS))
"""Kinds whose good record speaks for a code though a wider one is suspicious."""


class CodeGroup(NamedTuple):
    """One block, network, address and so on."""

    kind: GroupKind
    name: str
    """What the members share; for an address, its keyed mark."""


def block_of(number: str) -> str:
    """The block of a number: ``+22241234567`` is in ``+22241234``."""
    of = network(number)
    code = len("+222") if not of.startswith("+") else len(of)
    national = len(number) - code
    digits = BLOCK_DIGITS_LONG if national >= LONG_DIGITS else BLOCK_DIGITS
    return number[: code + digits]


def groups_of(
    number: str, *, address: str | None, key: str | None, tags: Iterable[str] = ()
) -> tuple[CodeGroup, ...]:
    """The groups in which a code counts.

    Args:
        address: the mark of its user's address; None: it is not known.
        key: the id of the API key that asked.
    """
    groups = [CodeGroup(GroupKind.BLOCK, block_of(number))]
    if address is not None:
        groups.append(CodeGroup(GroupKind.ADDRESS, address))
    groups += [CodeGroup(GroupKind.TAG, tag) for tag in tags]
    if key is not None:
        groups.append(CodeGroup(GroupKind.KEY, key))
    of = network(number)
    if of != UNKNOWN:
        groups.append(CodeGroup(GroupKind.NETWORK, of))
    return (*groups, CodeGroup(GroupKind.ORGANIZATION, ""))


class CodesSeen(NamedTuple):
    """Codes as they count now."""

    missed: float
    entered: float

    @property
    def codes(self) -> float:
        return self.missed + self.entered


class FadingCounts:
    """Codes of a group whose end is known, each by how long it counts."""

    __slots__ = ("at_ms", "entered", "missed")

    def __init__(
        self,
        at_ms: int,
        missed: Iterable[float] = (0.0, 0.0, 0.0),
        entered: Iterable[float] = (0.0, 0.0, 0.0),
    ) -> None:
        self.at_ms = at_ms
        self.missed = list(missed)
        self.entered = list(entered)

    def add(self, now_ms: int, *, missed: float = 0.0, entered: float = 0.0) -> None:
        """Count codes, or take some back: a count never goes below nothing."""
        self._fade(now_ms)
        for at in range(len(HALF_LIVES_MS)):
            self.missed[at] = max(0.0, self.missed[at] + missed)
            self.entered[at] = max(0.0, self.entered[at] + entered)

    def may_be_suspicious(self, missed_min: float, per_entered_min: float) -> bool:
        """Whether one of its counts has so many missed codes, and for each entered one so many.
        Fading changes neither which is greater, nor makes a count greater."""
        return any(
            missed >= missed_min and missed > per_entered_min * entered
            for missed, entered in zip(self.missed, self.entered, strict=True)
        )

    def seen(self, now_ms: int) -> tuple[CodesSeen, ...]:
        """As they count now, by :data:`HALF_LIVES_MS`."""
        self._fade(now_ms)
        return tuple(map(CodesSeen, self.missed, self.entered))

    def _fade(self, now_ms: int) -> None:
        passed = now_ms - self.at_ms
        if passed <= 0:  # the clock was set back: they fade again from there
            self.at_ms = min(self.at_ms, now_ms)
            return
        for at, half_ms in enumerate(HALF_LIVES_MS):
            left = 0.5 ** (passed / half_ms)
            self.missed[at] *= left
            self.entered[at] *= left
        self.at_ms = now_ms
