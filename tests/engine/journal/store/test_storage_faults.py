"""A disk that refuses for a while: nothing leaves unwritten, and nothing is forgotten."""

from __future__ import annotations

import sqlite3

from risala.plugins.testing.fake_driver import FakeDriver

ARABIC_200 = ("رسالة عربية طويلة جدا " * 10)[:200]


class BadDisk:
    """Makes the journal's next commits fail as a full disk does."""

    def __init__(self, journal):
        self._journal = journal
        self._commit = journal.commit
        self.failures = 0

    async def commit(self, unit):
        if self.failures == 0:
            return await self._commit(unit)
        self.failures -= 1

        def full(conn):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

        return await self._commit(full)


async def test_an_attempt_that_cannot_be_written_does_not_leave_and_comes_again(
    open_house, quick, monkeypatch
):
    async with open_house() as house:
        disk = BadDisk(house.gateway.services.recorder.journal)
        monkeypatch.setattr(house.gateway.services.recorder.journal, "commit", disk.commit)
        house.driver.hold()
        message_id = await house.send()
        disk.failures = 1
        house.driver.let_go()
        await house.wait_status(message_id, "sent")
        assert len(house.driver.submitted) == 1


async def test_an_outcome_is_written_when_the_disk_is_well_again(open_house, quick, monkeypatch):
    driver = FakeDriver()
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        disk = BadDisk(house.gateway.services.recorder.journal)
        monkeypatch.setattr(house.gateway.services.recorder.journal, "commit", disk.commit)
        message_id = await house.send(ARABIC_200)
        await driver.wait_submitted(1)
        disk.failures = 5
        driver.let_go()
        await house.wait_status(message_id, "sent")
        assert [segment.number for segment in driver.submitted] == [1, 2, 3]
