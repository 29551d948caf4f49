"""A commit that fails in its sync: stored or not, nobody knows, and that is what is said."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
import trio

from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.store.writer import PROBE_S
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.errors import OutcomeUnknown, StorageFailed

KEY = "a-key-of-theirs"


class FailingSync:
    """The writer's connection, over a disk whose sync fails; the frames survive, or do not."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self.code = sqlite3.SQLITE_IOERR_FSYNC
        self.failures = 0
        self.survives = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conn, name)

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if sql == "commit" and self.failures:
            self.failures -= 1
            self._conn.execute("commit" if self.survives else "rollback")
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = self.code
            raise error
        return self._conn.execute(sql, *arguments)


def failing(house) -> FailingSync:
    journal = house.gateway.services.recorder.journal
    journal._conn = FailingSync(journal._conn)
    house.engine._board.stop_leasing()  # nobody else's commits
    return journal._conn


def books(house) -> tuple[int, int]:
    report = audit_file(house.gateway.services.recorder.journal.path)
    assert report.faults == ()
    return report.messages, report.entries


@pytest.mark.parametrize("survives", [True, False])
@pytest.mark.parametrize("key", [KEY, None])
async def test_the_same_key_tells_the_truth(open_house, quick, survives, key):
    async with open_house() as house:
        disk = failing(house)
        disk.failures, disk.survives = 1, survives
        command = SendMessage("+22236123456", "Salam", idempotency_key=key)
        with pytest.raises(OutcomeUnknown) as raised:
            await house.gateway.send_message(house.principal, command)
        (told,) = raised.value.keys
        assert told == KEY if key else told.startswith("idk_")
        again = SendMessage("+22236123456", "Salam", idempotency_key=told)
        first = await house.gateway.send_message(house.principal, again)
        assert await house.gateway.send_message(house.principal, again) == first
        assert json.loads(first)["idempotencyKey"] == told
        assert books(house) == (1, 2)
        assert await house.balance() == "999.50"


async def test_a_batch_tells_the_key_of_each_item(open_house, quick):
    async with open_house() as house:
        disk = failing(house)
        known = SendMessage("+22236123456", "known", idempotency_key="known-key")
        await house.gateway.send_message(house.principal, known)
        commands = [
            known,
            SendMessage("+22236123456", "ours"),
            SendMessage("+22236123456", "refused", sender="NOBODYS"),
            SendMessage("+22236123456", "theirs", idempotency_key=KEY),
        ]
        disk.failures, disk.survives = 1, True
        with pytest.raises(OutcomeUnknown) as raised:
            await house.gateway.send_batch(house.principal, commands)
        keys = raised.value.keys
        assert (keys[0], keys[2], keys[3]) == ("known-key", None, KEY)
        assert keys[1].startswith("idk_")
        again = [
            SendMessage(each.to, each.body, sender=each.sender, idempotency_key=key)
            for each, key in zip(commands, keys, strict=True)
        ]
        answers = await house.gateway.send_batch(house.principal, again)
        told = [json.loads(each)["idempotencyKey"] for each in answers if isinstance(each, bytes)]
        assert told == [keys[0], keys[1], keys[3]]
        assert books(house) == (3, 3), "a charge of the first, and one of the batch"


async def test_a_code_has_no_key(open_house, quick):
    async with open_house() as house:
        failing(house).failures = 1
        with pytest.raises(OutcomeUnknown) as raised:
            await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        assert raised.value.keys == ()
        assert await house.gateway.send_code(house.principal, SendCode("+22236123456"))


async def test_a_full_disk_leaves_no_doubt(open_house, quick):
    async with open_house() as house:
        disk = failing(house)
        disk.failures, disk.code = 1, sqlite3.SQLITE_FULL
        with pytest.raises(StorageFailed) as raised:
            await house.send()
        assert not isinstance(raised.value, OutcomeUnknown)
        assert house.gateway.services.recorder.journal.doubts == 0


async def test_it_is_counted_for_those_who_hold_in_memory_what_is_on_the_disk(open_house, quick):
    async with open_house() as house:
        journal = house.gateway.services.recorder.journal
        failing(house).failures = 1
        with pytest.raises(OutcomeUnknown):
            await house.send()
        assert journal.doubts == journal.statistics().doubts == 1
        await house.send()
        assert journal.doubts == 1


async def test_it_is_not_ready_until_a_write_holds_and_then_by_itself(open_house, quick):
    async with open_house() as house:
        disk = failing(house)
        disk.failures = 3
        with pytest.raises(OutcomeUnknown):
            await house.send()
        readiness = house.gateway.readiness()
        assert readiness.reasons == ("the disk that holds the database fails (disk I/O error)",)
        # Nobody sends to who is not ready: the service tries by itself.
        await trio.sleep(4 * PROBE_S)
        assert house.gateway.readiness().ready
        assert disk.failures == 0
