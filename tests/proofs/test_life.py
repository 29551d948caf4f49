"""A service under a load of every face is stopped, told to read its settings anew, and frozen."""

from __future__ import annotations

import pytest
from proofs.crashes.rounds import Lives
from proofs.life import ending
from proofs.process.house import in_thread, opened_house

pytestmark = [pytest.mark.slow, pytest.mark.long]

FROZEN_S = 1.0
GRACE_S = 100.0
"""For what is under way at a stop: no carrier is that late, however slow the machine."""
SETTINGS = f"[engine]\ndrain_s = {GRACE_S}\n"


async def test_nothing_is_lost_by_those_who_run_it(tmp_path):
    async with opened_house(tmp_path, more=SETTINGS) as house:
        lives = Lives(house, 1, lambda *_: None, None)
        await lives.start({})
        await in_thread(house.furnish)
        await ending.stopped(lives, 1, deadline_s=10 + GRACE_S)
        await ending.stopped_twice(lives)
        accepted = await ending.reloaded(lives)
        assert accepted > 0
        await ending.frozen(lives, FROZEN_S)
        books = await lives.judge(0)
        assert all(each.lost == each.unsaid == 0 for each in books.tallies.values())
