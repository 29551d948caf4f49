"""Counts that fade, and what is said of a code by them."""

from __future__ import annotations

import pytest

from risala.engine.features.pumping.rules.groups import (
    DAY_MS,
    HOUR_MS,
    CodeGroup,
    FadingCounts,
    GroupKind,
    block_of,
    groups_of,
)
from risala.engine.features.pumping.rules.judging import (
    GROUPS_MAX,
    HISTORY,
    OTHER_TAGS,
    PROBE_MIN_MS,
    TAGS_MAX,
    Windows,
    counted_in,
)

NOW = 1_800_000_000_000
NUMBER = "+22237100042"
BLOCK = CodeGroup(GroupKind.BLOCK, "+22237100")
NETWORK = CodeGroup(GroupKind.NETWORK, "mattel")


def groups(number: str = NUMBER, address: str | None = None) -> tuple[CodeGroup, ...]:
    return groups_of(number, address=address, key="key_1")


def made(**counts: int) -> Windows:
    """An organization of whose codes 85 % are usual."""
    windows = Windows()
    for days in range(40, 1, -1):
        windows.count([HISTORY], NOW - days * DAY_MS, missed=15, entered=85)
    return windows


@pytest.mark.parametrize(
    ("number", "block"),
    [
        (NUMBER, "+22237100"),
        ("+221771234567", "+221771234"),
        ("+33612345678", "+33612345"),
        ("+12025550123", "+1202555"),
    ],
)
def test_a_block_is_the_first_digits_of_a_country(number, block):
    assert block_of(number) == block


def test_counts_fade_by_half_and_never_below_nothing():
    counts = FadingCounts(NOW)
    counts.add(NOW, missed=8, entered=4)
    hour, day, _ = counts.seen(NOW + HOUR_MS)
    assert (hour.missed, hour.entered) == (4, 2)
    assert 7.7 < day.missed < 8
    counts.add(NOW + HOUR_MS, missed=-20)
    assert counts.seen(NOW + HOUR_MS)[0].missed == 0
    assert counts.seen(NOW - HOUR_MS)[0].entered == 2  # the clock was set back


def test_a_block_of_missed_codes_is_suspicious_and_others_are_not():
    windows = made()
    windows.count(groups(), NOW, missed=8)
    suspicion = windows.judge(groups(), NOW).suspicion
    assert suspicion is not None
    assert suspicion.group == BLOCK
    other = windows.judge(groups("+22226123456"), NOW).suspicion
    assert other is None or other.group.kind is GroupKind.KEY


def test_who_has_a_good_record_passes_though_its_network_is_suspicious():
    windows = made()
    windows.count(groups("+22236120001")[:1], NOW - DAY_MS, entered=6, missed=1)
    windows.count([NETWORK], NOW, missed=30)
    bad = windows.judge(groups(), NOW)
    assert bad.suspicion is not None
    assert not bad.is_vouched
    good = windows.judge(groups("+22236120002"), NOW)
    assert good.suspicion is not None
    assert good.is_vouched
    assert NETWORK not in counted_in(groups("+22236120002"), good, passes_by_itself=True)


def test_what_was_suspicious_stays_so_until_it_is_as_usual():
    windows = made()
    windows.count([BLOCK], NOW, missed=8)
    assert windows.is_held(BLOCK, NOW)
    windows.count([BLOCK], NOW, entered=2)
    assert windows.is_held(BLOCK, NOW)  # below what made it suspicious
    windows.count([BLOCK], NOW, entered=6)
    assert not windows.is_held(BLOCK, NOW)


def test_somebody_lets_a_block_pass_for_a_time():
    windows = made()
    windows.count([BLOCK], NOW, missed=20)
    windows.passes[BLOCK] = NOW + HOUR_MS
    assert windows.judge(groups(), NOW).suspicion is None
    assert windows.judge(groups(), NOW + HOUR_MS).suspicion is not None


def test_today_cannot_make_itself_usual():
    windows = Windows()
    windows.count([HISTORY], NOW, missed=500)
    assert windows.usual(NOW).entered > 6
    windows.count([*groups(), HISTORY], NOW, missed=30)
    assert windows.judge(groups(), NOW).suspicion is not None


def test_one_passes_at_times_more_seldom_if_it_is_missed_and_at_once_if_it_is_entered():
    windows, kind = Windows(), GroupKind.BLOCK
    assert windows.probe_in_ms(kind, NOW) == 0
    assert windows.probe_in_ms(kind, NOW) == PROBE_MIN_MS
    assert windows.probe_in_ms(kind, NOW + PROBE_MIN_MS) == 0
    assert windows.probe_in_ms(kind, NOW + PROBE_MIN_MS) == 2 * PROBE_MIN_MS
    windows.probe_entered(kind, NOW + PROBE_MIN_MS + 1)
    assert windows.probe_in_ms(kind, NOW + PROBE_MIN_MS + 1) == 0


def test_groups_and_tags_have_an_end():
    windows = made()
    for number in range(GROUPS_MAX + 10):
        windows.count([CodeGroup(GroupKind.ADDRESS, str(number))], NOW, missed=1)
    assert len(windows.groups) == GROUPS_MAX
    assert HISTORY in windows.groups
    tags = [CodeGroup(GroupKind.TAG, str(number)) for number in range(TAGS_MAX + 1)]
    assert windows.counted(tags)[-1] == CodeGroup(GroupKind.TAG, OTHER_TAGS)
    assert windows.counted(tags)[:-1] == tuple(tags[:-1])
