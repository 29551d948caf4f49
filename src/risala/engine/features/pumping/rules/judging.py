"""What is said of a code that is asked for, by what became of others in its groups. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.features.pumping.rules.factor import (
    BEGINNING,
    SUSPICIOUS,
    Prior,
    factor,
    is_judged,
    usual_share,
)
from risala.engine.features.pumping.rules.groups import (
    DAY,
    NARROW,
    RECORD,
    CodeGroup,
    CodesSeen,
    FadingCounts,
    GroupKind,
)

GROUPS_MAX: Final = 1000
"""Cells of an organization; the one unused for longest is forgotten. About 500 KB."""
TAGS_MAX: Final = 200
"""Different tags of an organization; all others count as one (contract §16)."""
OTHER_TAGS: Final = ""
MISSED_MIN: Final = 5.0
"""Fewer missed codes are never suspicious."""
MISSED_PER_ENTERED_MIN: Final = 2.0
"""Where a third is entered, nothing is: however many codes there are, and whatever is usual, the
factor then stays near what is suspicious, or far below. So most codes are judged without it."""
GOOD_ENTERED: Final = 3.0
"""Entered codes from which a group has a good record."""
GOOD_SHARE: Final = 0.75
"""A record is good from this part of the usual share on."""
OVER: Final = 10.0
"""A group that was suspicious stays so until its factor is below this: that it is held back must
not by itself make it look better."""
PROBE_MIN_MS: Final = 5 * 60_000
"""How soon after a group was held back one code passes all the same, to learn whether it is
entered: so a mistake mends itself."""
PROBE_MAX_MS: Final = 8 * 3_600_000
"""After each such code that is not entered the wait doubles, up to this; one that is entered lets
the next one pass at once."""
HISTORY: Final = CodeGroup(GroupKind.ORGANIZATION, "usual")
"""Where codes that were not suspicious are counted, of which the usual share is."""


@dataclass(frozen=True, slots=True)
class GroupSuspicion:
    """Why a code is suspicious: figures that one can check by hand."""

    group: CodeGroup
    window: int
    """Which of the counts shows it: its place in ``HALF_LIVES_MS``."""
    seen: CodesSeen
    usual: Prior
    factor: float


@dataclass(frozen=True, slots=True)
class Opinion:
    """What is said of a code that is asked for."""

    suspicion: GroupSuspicion | None
    """None: nothing is suspicious."""
    is_vouched: bool = False
    """A narrow group with a good record speaks for it."""


NOTHING_FOUND: Final = Opinion(None)


class Windows:
    """The counts of one organization."""

    def __init__(self) -> None:
        self.groups: OrderedDict[CodeGroup, FadingCounts] = OrderedDict()
        self.held: set[CodeGroup] = set()
        """Cells that are suspicious since they were, and not again as usual."""
        self.passes: dict[CodeGroup, int] = {}
        """Cells that somebody let pass, and until when (UTC epoch milliseconds)."""
        self.changed: set[CodeGroup] = set()
        """Cells whose counts are not written yet."""
        self._probes: dict[GroupKind, _Probe] = {}
        self._tags: set[CodeGroup] = set()

    def usual(self, now_ms: int) -> Prior:
        """What is usual in the organization: the slowest count without that of a day, so that what
        happens today cannot make itself usual."""
        counts = self.groups.get(HISTORY)
        if counts is None:
            return BEGINNING
        record, day = (counts.seen(now_ms)[each] for each in (RECORD, DAY))
        missed = max(0.0, record.missed - day.missed)
        entered = max(0.0, record.entered - day.entered)
        return usual_share(missed + entered, entered)

    def counted(self, groups: Iterable[CodeGroup]) -> tuple[CodeGroup, ...]:
        """The groups as they are counted: tags beyond :data:`TAGS_MAX` are one group."""
        return tuple(
            CodeGroup(GroupKind.TAG, OTHER_TAGS)
            if each.kind is GroupKind.TAG and self._is_beyond(each)
            else each
            for each in groups
        )

    def _is_beyond(self, tag: CodeGroup) -> bool:
        if tag in self._tags:
            return False
        if len(self._tags) < TAGS_MAX:
            self._tags.add(tag)
            return False
        return True

    def put(self, group: CodeGroup, counts: FadingCounts, *, is_held: bool) -> None:
        """Take counts over that were stored."""
        self.groups[group] = counts
        if is_held:
            self.held.add(group)
        if group.kind is GroupKind.TAG:
            self._tags.add(group)

    def count(
        self, groups: Iterable[CodeGroup], now_ms: int, *, missed: float = 0.0, entered: float = 0.0
    ) -> None:
        """Count what became of a code."""
        for group in groups:
            counts = self.groups.get(group)
            if counts is None:
                if len(self.groups) >= GROUPS_MAX:
                    self._forget_one()
                counts = self.groups[group] = FadingCounts(now_ms)
            counts.add(now_ms, missed=missed, entered=entered)
            self.groups.move_to_end(group)
            self.changed.add(group)

    def _forget_one(self) -> None:
        gone = next(each for each in self.groups if each != HISTORY)
        del self.groups[gone]
        self.held.discard(gone)
        self._tags.discard(gone)
        self.changed.add(gone)

    def judge(self, groups: Sequence[CodeGroup], now_ms: int) -> Opinion:
        """The first group, from the narrowest on, in which codes are suspicious.

        Args:
            groups: as :func:`~risala.engine.features.pumping.rules.groups.groups_of` has them.
        """
        narrow: list[FadingCounts] = []
        for group in groups:
            counts = self.groups.get(group)
            if self.passes.get(group, 0) > now_ms:
                return NOTHING_FOUND
            if counts is None:
                continue
            if group in self.held or counts.may_be_suspicious(MISSED_MIN, MISSED_PER_ENTERED_MIN):
                usual = self.usual(now_ms)
                suspicion = self._found(group, counts.seen(now_ms), usual)
                if suspicion is not None:
                    good = any(_is_good(each.seen(now_ms)[RECORD], usual) for each in narrow)
                    return Opinion(suspicion, good)
            if group.kind in NARROW:
                narrow.append(counts)
        return NOTHING_FOUND

    def is_held(self, group: CodeGroup, now_ms: int) -> bool:
        """Whether codes of a group are suspicious now."""
        counts = self.groups.get(group)
        if counts is None or self.passes.get(group, 0) > now_ms:
            return False
        return self._found(group, counts.seen(now_ms), self.usual(now_ms)) is not None

    def _found(
        self, group: CodeGroup, seen: Sequence[CodesSeen], usual: Prior
    ) -> GroupSuspicion | None:
        was_held = group in self.held
        needed, missed_min = (OVER, 0.0) if was_held else (SUSPICIOUS, MISSED_MIN)
        most: GroupSuspicion | None = None
        for window, each in enumerate(seen if is_judged(usual) else ()):
            if each.missed >= missed_min:
                value = factor(each.missed, each.entered, usual)
                if value >= needed and (most is None or value > most.factor):
                    most = GroupSuspicion(group, window, each, usual, value)
        if (most is not None) != was_held:
            (self.held.discard if was_held else self.held.add)(group)
            self.changed.add(group)
        return most

    def probe_in_ms(self, kind: GroupKind, now_ms: int) -> int:
        """How long until a code passes though it is suspicious; 0: this one does."""
        probe = self._probes.setdefault(kind, _Probe(now_ms, PROBE_MIN_MS))
        wait_ms = probe.next_ms - now_ms
        if 0 < wait_ms <= PROBE_MAX_MS:
            return wait_ms
        self._probes[kind] = _Probe(now_ms + probe.after_ms, min(2 * probe.after_ms, PROBE_MAX_MS))
        return 0

    def probe_entered(self, kind: GroupKind, now_ms: int) -> None:
        """A code that passed by :meth:`probe_in_ms` was entered."""
        self._probes[kind] = _Probe(now_ms, PROBE_MIN_MS)


class _Probe(NamedTuple):
    next_ms: int
    after_ms: int


def counted_in(
    groups: Sequence[CodeGroup], opinion: Opinion, *, passes_by_itself: bool
) -> Sequence[CodeGroup]:
    """The groups in which a code that was sent counts.

    A code that passes by itself, because its number was verified before or a narrow group vouches
    for it, tells nothing of others in a group that is held back.
    """
    suspicion = opinion.suspicion
    if suspicion is None:
        return (*groups, HISTORY)
    return groups[: groups.index(suspicion.group)] if passes_by_itself else groups


def _is_good(record: CodesSeen, usual: Prior) -> bool:
    share = usual.entered / (usual.entered + usual.missed)
    return record.entered >= GOOD_ENTERED and record.entered >= GOOD_SHARE * share * record.codes
