"""A service that is killed at any instant: the database is as each commit left it, and the next
start brings one session to its end, with each charge once."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
import trio

from risala.engine.journal.store.writer import Journal
from risala.plugins.contract import Refused, Scope
from risala.plugins.testing.fake_driver import FakeDriver

pytestmark = pytest.mark.slow

FILE = "risala.db"


class Witness:
    """Keeps the database as each commit leaves it."""

    def __init__(self, folder, monkeypatch):
        self._path = folder / FILE
        self._commit = Journal._commit_batch
        self.states: list[tuple[int, bytes]] = []
        """Each with the time."""
        self.watches = False
        self.clock = None
        monkeypatch.setattr(Journal, "_commit_batch", self._watched())

    def _watched(self):
        def commit_batch(journal, conn, batch):
            done = self._commit(journal, conn, batch)
            if self.watches:
                with closing(sqlite3.connect(self._path)) as there:
                    self.states.append((self.clock.now_ms(), there.serialize()))
            return done

        return commit_batch


def put(folder, state: bytes) -> None:
    """A machine that came back: the file as it was, and nothing beside it."""
    for path in folder.glob(FILE + "*"):
        path.unlink()
    (folder / FILE).write_bytes(state)


def drivers(**answers) -> dict[str, FakeDriver]:
    made = {name: FakeDriver() for name in ("sms", "chat", "call", "email")}
    for name, answer in answers.items():
        made[name].always = answer
    return made


REFUSES = {"chat": Refused(Scope.FINAL, "NO_ACCOUNT")}


@pytest.mark.parametrize("answers", [{}, REFUSES], ids=["silent", "refused"])
async def test_at_each_instant(open_channels, quick, leap, tmp_path, monkeypatch, answers):
    witness = Witness(tmp_path, monkeypatch)
    use = {"channels": ["chat", "sms", "call"], "fallback_s": 20}
    async with open_channels(drivers(**answers), use=use) as codes:
        principal = codes.house.principal
        witness.clock, witness.watches = codes.house.clock, True
        verification_id = await codes.send()
        await trio.sleep(30)
        await codes.resend(verification_id, "call")
        await trio.sleep(60)
        assert await codes.check(verification_id, codes.code_in("call"))
        witness.watches = False
    assert len(witness.states) > 10
    for number, (at_ms, state) in enumerate(witness.states):
        put(tmp_path, state)
        witness.clock.ahead_ms += at_ms - witness.clock.now_ms()
        async with open_channels(drivers(**answers), use=use) as codes:
            codes.house.principal = principal
            await trio.sleep(120)
            status, deliveries = codes.told(verification_id)
            if status != "approved":
                # Where the first one refuses, the third began by itself before it was asked for.
                assert [name for name, _ in deliveries][:3] == ["chat", "sms", "call"], (
                    number,
                    status,
                    deliveries,
                )
            await leap(600)
            told = [each for each in await codes.events() if each.startswith("verify.")]
            assert told.count("verify.sent") <= 1, number
            assert sum(each != "verify.sent" for each in told) == 1, (number, told)
            assert codes.books() == (), number
