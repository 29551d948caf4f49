"""Killed at every step of deliveries: each event still reaches its endpoints, and the log tells.

The disk as it was after each single step of any task is kept beside what had arrived by then. Each
of those is what a kill at that instant would have left: an engine is started on it.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
import trio

from risala.engine.journal.store.sealing_key import KEY_FILE
from risala.engine.rules.webhooks.schedule import AnswerContent, ReceiverAnswer, ReceiverFault
from risala.engine.wiring.foundation import DATABASE
from risala.plugins.contract import Inbound
from risala.plugins.testing.fake_driver import FakeDriver

pytestmark = pytest.mark.slow

GOOD = "https://good.example.com/"
SHAKY = "https://shaky.example.com/"
MENDED_AFTER_S = 3
"""The shaky endpoint refuses for so long."""


class Receivers:
    """Two endpoints: what arrives is counted, before the answer is on its way back."""

    def __init__(self, arrived: Counter[tuple[str, str]], broken_until_s: float) -> None:
        self.arrived = Counter(arrived)
        self._broken_until_s = broken_until_s

    async def post(self, call):
        await trio.sleep(0.01)
        event = (call.url, call.headers["webhook-id"])
        if call.url == SHAKY and trio.current_time() < self._broken_until_s:
            return ReceiverFault("NOT_CONNECTED", "It is down.")
        self.arrived[event] += 1
        await trio.sleep(0.01)
        return ReceiverAnswer(200, None, "thanks")


class Snapshots(trio.abc.Instrument):
    """After each step of any task: the disk, where it changed, and what had arrived."""

    def __init__(self, source: Path, into: Path, receivers: Receivers) -> None:
        self._source = sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)
        self._into = into
        self._keys = source.with_name(KEY_FILE)
        self._receivers = receivers
        self._seen: tuple[int, int] | None = None
        self.kept: list[tuple[Path, Counter[tuple[str, str]]]] = []

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        (version,) = self._source.execute("pragma data_version").fetchone()
        state = (version, self._receivers.arrived.total())
        if state == self._seen:
            return
        self._seen = state
        folder = self._into / f"kill{len(self.kept):03}"
        folder.mkdir()
        copy = sqlite3.connect(folder / DATABASE)
        self._source.backup(copy)
        copy.close()
        # The endpoints' secrets are sealed with it.
        shutil.copy(self._keys, folder)
        self.kept.append((folder, Counter(self._receivers.arrived)))

    def close(self) -> None:
        self._source.close()


@pytest.mark.parametrize(
    ("every", "again_min"), [(3, 1), pytest.param(1, 3, marks=pytest.mark.long)]
)
async def test_every_event_arrives_whatever_was_killed_when(
    open_house, quick, tmp_path, every, again_min
):
    receivers = Receivers(Counter(), trio.current_time() + MENDED_AFTER_S)
    async with open_house(receivers) as house:
        await house.endpoint(GOOD)
        await house.endpoint(SHAKY)
        snapshots = Snapshots(tmp_path / DATABASE, tmp_path, receivers)
        trio.lowlevel.add_instrument(snapshots)
        try:
            events = [*await house.happen(2), *await house.happen(1)]
            await house.send()
            await trio.sleep(20)
        finally:
            trio.lowlevel.remove_instrument(snapshots)
            snapshots.close()
    assert all(receivers.arrived[url, event] == 1 for url in (GOOD, SHAKY) for event in events)
    assert len(snapshots.kept) >= 25
    again = 0
    for folder, arrived in snapshots.kept[::every]:
        again += await _restart(open_house, folder, arrived)
    # Some kills fell between an arrival and its record: those events came twice.
    assert again >= again_min


async def _restart(open_house, folder: Path, arrived: Counter[tuple[str, str]]) -> int:
    """Start on what a kill left; how many events came a second time."""
    receivers = Receivers(arrived, 0)
    async with open_house(receivers, data_dir=folder) as house:
        await trio.sleep(60)
        reader = house.gateway.services.repositories._store.reader
        owed = reader.execute(
            "SELECT w.url, d.event_id, d.state, d.attempts FROM webhook_deliveries d"
            " JOIN webhook_endpoints w ON w.id = d.endpoint_id"
        ).fetchall()
        written = [row[0] for row in reader.execute("SELECT id FROM events")]
        assert {(url, event) for url, event, *_ in owed} == {
            (url, event) for url in (GOOD, SHAKY) for event in written
        }
        for url, event, state, attempts in owed:
            came = receivers.arrived[url, event]
            assert state == "delivered"
            assert came >= 1
            logged = reader.execute(
                "SELECT count(*), count(ended_at) FROM webhook_attempts a JOIN webhook_deliveries"
                " d ON d.seq = a.delivery JOIN webhook_endpoints w ON w.id = d.endpoint_id"
                " WHERE w.url = ? AND d.event_id = ?",
                (url, event),
            ).fetchone()
            # Never more arrivals than the log has attempts; one kill cuts at most one short.
            assert came <= logged[0] == attempts
            assert logged[0] - logged[1] <= 1
    return sum(count > 1 for count in receivers.arrived.values())


class Program(Receivers):
    """Replies to each message that comes in, each time with another text."""

    async def post(self, call):
        await trio.sleep(0.01)
        self.arrived[call.url, call.headers["webhook-id"]] += 1
        body = json.dumps({"reply": f"Reply {self.arrived.total()}"}).encode()
        await trio.sleep(0.01)
        return ReceiverAnswer(200, None, "", AnswerContent("application/json", body))


async def test_a_message_gets_one_reply_whatever_was_killed_when(open_house, quick, tmp_path):
    program, driver = Program(Counter(), 0), FakeDriver()
    async with open_house(program, driver=driver) as house:
        await house.endpoint(GOOD, types=["sms.received"], may_reply=True)
        await house.perform("inbound.route", organization_id=house.organization_id)
        snapshots = Snapshots(tmp_path / DATABASE, tmp_path, program)
        trio.lowlevel.add_instrument(snapshots)
        try:
            text = Inbound("+22236123456", "1234", "Hello?", 1_767_225_600_000, ("mo1",))
            await driver.context.inbound(text)
            await trio.sleep(20)
        finally:
            trio.lowlevel.remove_instrument(snapshots)
            snapshots.close()
        assert await _replies_sent(house) == ["Reply 1"]
    assert len(snapshots.kept) >= 6
    kept = [await _replies_after(open_house, *each) for each in snapshots.kept]
    # Some kills fell between the answer and its record: the program was asked again.
    assert ["Reply 2"] in kept
    assert kept[-1] == ["Reply 1"]
    assert [len(each) for each in kept] == [1] * len(kept)


async def _replies_sent(house) -> list[str]:
    reader = house.gateway.services.repositories._store.reader
    return [body for (body,) in reader.execute("SELECT body FROM message")]


async def _replies_after(open_house, folder: Path, arrived: Counter[tuple[str, str]]) -> list[str]:
    """Start on what a kill left; the replies that were sent by then."""
    async with open_house(Program(arrived, 0), data_dir=folder) as house:
        await trio.sleep(60)
        return await _replies_sent(house)


async def test_a_stop_waits_for_answers_and_cuts_short_what_takes_too_long(open_house, quick):
    class Slow:
        calls = 0
        takes_s = 1.0

        async def post(self, call):
            self.calls += 1
            await trio.sleep(self.takes_s)
            return ReceiverAnswer(200, None, "")

    slow = Slow()
    async with open_house(slow) as house:
        endpoint, _ = await house.endpoint(GOOD)
        (prompt,) = await house.happen()
        await trio.sleep(0.5)
    async with open_house(slow) as house:
        delivery, attempts = await house.log(endpoint, prompt)
        assert (delivery["state"], len(attempts)) == ("delivered", 1)
        slow.takes_s = 14.0
        (event,) = await house.happen()
        await trio.sleep(0.5)
        started = trio.current_time()
    assert trio.current_time() - started < 5
    slow.takes_s = 0.1
    async with open_house(slow) as house:
        await trio.sleep(1)
        delivery, attempts = await house.log(endpoint, event)
        assert (delivery["state"], delivery["attempts"]) == ("delivered", 2)
        assert [each["endedAt"] is None for each in attempts] == [True, False]
        assert slow.calls == 3
