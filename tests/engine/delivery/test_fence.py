"""Whether this machine may still send is asked as late as can be."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from risala.engine.wiring.foundation import DATABASE
from risala.plugins.testing.fake_driver import FakeDriver, FakePoster


@pytest.mark.parametrize("kind", [FakeDriver, FakePoster])
async def test_it_is_asked_after_the_commit_and_before_anything_leaves(open_house, tmp_path, kind):
    driver, asked = kind(), []

    def fence() -> None:
        with closing(sqlite3.connect(tmp_path / DATABASE)) as conn:
            query = "SELECT count(*) FROM messages WHERE status = 'processing'"
            under_way = conn.execute(query).fetchone()[0]
        asked.append((under_way, len(driver.submitted)))

    async with open_house(drivers={"fake": driver}, fence=fence) as house:
        await house.wait_status(await house.send("one"), "sent", "delivered")
        await house.wait_status(await house.send("two"), "sent", "delivered")
    assert asked == [(1, 0), (1, 1)]
