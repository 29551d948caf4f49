"""A service that is killed at any instant: a number is approved once, and told once, whether the
carrier brings the text again or not."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from risala.engine.journal.store.writer import Journal
from risala.engine.model.records.verify.sessions import Method

pytestmark = pytest.mark.slow
FILE = "risala.db"
TO = "+22236123456"


@pytest.mark.parametrize("method", Method)
async def test_at_each_instant(open_reverse, quick, tmp_path, monkeypatch, method):
    states, commit = [], Journal._commit_batch

    def commit_batch(journal, conn, batch):
        done = commit(journal, conn, batch)
        with closing(sqlite3.connect(tmp_path / FILE)) as there:
            states.append(there.serialize())
        return done

    async def comes(reverse, started) -> None:
        if method is Method.MISSED_CALL:
            await reverse.ring()
        else:
            await reverse.text(started.text, carrier_id="once")

    async with open_reverse() as reverse:
        principal = reverse.house.principal
        monkeypatch.setattr(Journal, "_commit_batch", commit_batch)
        started = await reverse.start(method=method)
        await comes(reverse, started)
        monkeypatch.undo()
        assert reverse.status(started) == "approved"
    assert len(states) >= 2
    for state in states:
        for path in tmp_path.glob(FILE + "*"):
            path.unlink()
        (tmp_path / FILE).write_bytes(state)
        async with open_reverse() as reverse:
            reverse.house.principal = principal
            await comes(reverse, started)
            await comes(reverse, started)
            assert reverse.status(started) == "approved"
            assert await reverse.events(started) == [
                ("verify.sent", TO),
                ("verify.approved", TO),
            ]


async def test_a_text_that_the_disk_refuses_proves_nothing_yet(open_reverse, quick, monkeypatch):
    """Neither the text nor the approval is there: the carrier brings it again."""
    async with open_reverse() as reverse:
        started = await reverse.start()

        def full(*_):
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr("risala.engine.journal.messages.verifications.settle", full)
        with pytest.raises(Exception, match="could not be stored"):
            await reverse.text(started.text, carrier_id="once")
        monkeypatch.undo()
        assert reverse.status(started) == "pending"
        await reverse.text(started.text, carrier_id="once")
        assert reverse.status(started) == "approved"
