"""Two machines, as two data directories with real processes: one sends, the other takes over.

The carrier is one for both, so that it would show a message that both have sent. The lease is long
enough that a busy machine's service renews it: what it promises does not depend on that.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio
from tests.flows.conftest import Load, Premises, Service, Simulator

from patience import until, until_true
from processes import Process, run
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.piece_store import PieceDirectory

pytestmark = [pytest.mark.slow, pytest.mark.long]

MORE = """
[http]
port = 0
[standby]
directory = "{shipped}"
every_s = 0.1
lease_directory = "{lease}"
lease_s = 12
"""


KEYS = "SELECT count(*) FROM api_keys"


class Pair:
    """The primary, and what the standby's machine has."""

    def __init__(self, premises: Premises) -> None:
        self.premises = premises
        self.simulator: Simulator = premises.simulator()
        self.shipped = premises.path / "shipped"
        self.lease = premises.path / "lease"
        self.way = premises.path / "way-to-the-lease"
        """The primary's way to the lease, which a partition cuts."""
        self.shipped.mkdir()
        self.lease.mkdir()
        self.way.symlink_to(self.lease)
        self.primary = premises.running(self.simulator, self._more(self.way))
        self.config = premises.path / "standby.toml"
        told = (premises.path / "risala-test.toml").read_text()
        self.config.write_text(told.replace(str(self.way), str(self.lease)))
        self.standby: Service = premises.service("--config", str(self.config), data="standby")
        self.account = self.primary.organization("100000")

    def _more(self, lease: Path) -> str:
        return MORE.format(shipped=self.shipped, lease=lease)

    def watch(self) -> Process:
        process = self.premises.process(
            *(sys.executable, "-m", "risala", "standby", "watch", str(self.shipped)),
            *("--config", str(self.config), "--data", str(self.standby.data)),
        )
        process.wait_line(lambda line: line.startswith("Following "))
        return process

    def takeover(self, *options: str) -> subprocess.CompletedProcess[str]:
        command = ("standby", "takeover", str(self.shipped), "--config", str(self.config))
        where = ("--json", "--data", str(self.standby.data))
        risala = (sys.executable, "-m", "risala")
        return run((*risala, *command, *where, *options), self.premises.path)

    def taken(self, *options: str) -> dict:
        done = self.takeover(*options)
        assert done.returncode == 0, done.stderr
        told: dict = json.loads(done.stdout)
        return told

    def go_on(self) -> None:
        """The standby serves, and sends what it accepts."""
        self.standby.start()
        self.standby.wait_ready()
        self.go_on_sending()

    def go_on_sending(self) -> None:
        for number in range(10):
            text = f"after takeover {number}"
            answer = self.standby.send(self.account, body=text, idempotencyKey=text)
            assert answer.status_code == 200, answer.text
        # What was `sent` in the copy may stay so: its receipts went to the primary.
        wanted = {f"after takeover {number}" for number in range(10)}
        until(lambda: wanted <= set(self.simulator.texts()), "the standby sends")

    def assert_nothing_was_sent_twice(self) -> None:
        twice = {text: count for text, count in self.simulator.texts().items() if count > 1}
        assert twice == {}
        self.standby.assert_books_agree()


@pytest.fixture
def pair(premises: Premises) -> Pair:
    return Pair(premises)


async def loaded(pair: Pair, answers: int, then) -> Load:
    """Customers send; after so many answers something happens, by which they are cut off."""
    # What customers ask the standby by has to be in its copy, which lags.
    until(lambda: _copied(pair, KEYS) > 0, "the account is shipped")
    load = Load(pair.primary, pair.account, "early")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(load.run)
        await load.wait_answers(answers)
        await then()
    return load


async def test_the_primary_is_killed_under_load(pair):
    watch = pair.watch()

    async def die() -> None:
        pair.primary.kill()

    load = await loaded(pair, 300, die)
    told = await trio.to_thread.run_sync(pair.taken)
    assert watch.wait_exit() == 0  # the takeover has ended it
    in_copy = {row[0] for row in pair.standby.rows("SELECT id FROM messages")}
    accepted = {json.loads(body)["messageId"] for body in load.answers.values()}
    missing = accepted - in_copy
    assert len(missing) < len(accepted), "nothing was shipped"
    # What is lost was accepted after the moment that it names.
    assert told["behindMs"] >= 0
    assert told["entriesBehind"] <= len(load.keys)
    open_ = "SELECT count(*) FROM messages WHERE status IN ('pending', 'processing')"
    assert pair.standby.rows(open_) == [(0,)]
    await trio.to_thread.run_sync(pair.go_on)
    pair.assert_nothing_was_sent_twice()
    line = pair.standby.command("audit-log", "--operation", "standby.takeover", "--json")
    (found,) = json.loads(line.stdout)["lines"]
    assert found["after"]["ended"] == told["ended"]
    # The machine that was dead comes back: it does not send.
    pair.primary.launch()
    assert pair.primary.process.wait_exit() == 1
    assert any("holds the lease, number" in line for line in pair.primary.process.errors)


async def test_a_primary_that_cannot_renew_ends_before_another_may_send(pair):
    ended: list[bool] = []

    async def cut() -> None:
        pair.way.unlink()

        def take() -> None:
            told = pair.taken()
            ended.append(pair.primary.process.popen.poll() is not None)
            assert told["epoch"] == 2

        thread = threading.Thread(target=take)
        thread.start()
        await until_true(lambda: not thread.is_alive())

    load = await loaded(pair, 100, cut)
    assert ended == [True], "the standby was there first"
    # The kernel ends it where it does not get to that by itself.
    assert pair.primary.process.wait_exit() in (1, 75, -signal.SIGKILL)
    # Before it ended it refused: whoever asked was told, or cut off.
    assert set(load.refused.values()) <= {503}
    await trio.to_thread.run_sync(pair.go_on)
    pair.assert_nothing_was_sent_twice()


async def test_a_primary_that_was_frozen_sends_nothing_when_it_goes_on(pair):
    early: list[dict[str, int]] = []

    async def freeze() -> None:
        process = pair.primary.process
        process.signal(signal.SIGSTOP)
        told = await trio.to_thread.run_sync(pair.taken)
        assert told["epoch"] == 2
        await trio.to_thread.run_sync(pair.go_on)
        early.append(sent_early())
        process.signal(signal.SIGCONT)
        assert await trio.to_thread.run_sync(process.wait_exit) == -signal.SIGKILL

    def sent_early() -> dict[str, int]:
        return {text: n for text, n in pair.simulator.texts().items() if text.startswith("early")}

    await loaded(pair, 100, freeze)
    assert early == [sent_early()], "it has sent after its lease"
    pair.assert_nothing_was_sent_twice()


def test_nothing_is_taken_from_a_primary_that_lives(pair):
    done = pair.takeover()
    assert done.returncode == 1
    assert "renews it" in json.loads(done.stderr)["message"]
    assert pair.primary.send(pair.account, body="still here").status_code == 200


def test_an_orderly_stop_loses_nothing_and_is_not_waited_for(pair):
    pair.watch()
    sent = [pair.primary.send(pair.account, body=f"early {n}").json() for n in range(20)]
    pair.primary.wait_settled()
    assert pair.primary.stop() == 0
    told = pair.taken()
    assert (told["entriesBehind"], told["ended"]) == (0, 0)
    in_copy = {row[0] for row in pair.standby.rows("SELECT id FROM messages")}
    assert {each["messageId"] for each in sent} <= in_copy
    pair.go_on()
    pair.assert_nothing_was_sent_twice()


def test_what_waits_at_an_orderly_stop_goes_on(pair):
    """What is due, which never was at the carrier, and what is to leave later."""
    assert pair.primary.command("carriers", "pause", "mattel").returncode == 0
    due = [pair.primary.send(pair.account, body=f"due {n}").json()["messageId"] for n in range(3)]
    at = (datetime.now(UTC) + timedelta(hours=3)).isoformat(timespec="seconds")
    later = pair.primary.send(pair.account, body="later", sendAt=at).json()["messageId"]
    assert pair.primary.stop() == 0
    told = pair.taken()
    assert (told["entriesBehind"], told["ended"]) == (0, 0)
    pair.standby.start()
    pair.standby.wait_ready()
    assert {pair.standby.show(pair.account, one)["status"] for one in (*due, later)} == {"pending"}
    assert pair.standby.command("carriers", "resume", "mattel").returncode == 0
    pair.go_on_sending()
    wanted = {f"due {n}" for n in range(3)}
    until(lambda: wanted <= set(pair.simulator.texts()), "what was due is sent")
    assert pair.standby.show(pair.account, later)["status"] == "pending"
    pair.assert_nothing_was_sent_twice()


def test_a_copy_that_lags_says_by_how_much(pair):
    """Nothing is shipped any more, and the primary goes on: that is what an asynchronous copy
    loses."""
    until(lambda: pieces.shipped(pair.shipped) is not None, "a copy is there")
    first = pair.primary.send(pair.account, body="in the copy").json()["messageId"]
    pair.primary.wait_settled()
    until(lambda: _delivered(pair), "it is shipped")
    away = pair.shipped.with_name("away")
    pair.shipped.rename(away)
    renewals = _renewals(pair)
    for number in range(7):
        assert pair.primary.send(pair.account, body=f"lost {number}").status_code == 200
    pair.primary.wait_settled()
    # The lease tells of the ledger; two renewals later it has told of these.
    until(lambda: _renewals(pair) >= renewals + 2, "the lease is renewed")
    pair.primary.kill()
    away.rename(pair.shipped)
    told = pair.taken("--i-know-the-primary-is-dead")
    assert told["entriesBehind"] == 7
    assert told["behindMs"] > 0
    assert {row[0] for row in pair.standby.rows("SELECT id FROM messages")} == {first}
    pair.go_on()
    # Whoever asks for a lost one again with the same key gets it sent again: this is the window.
    texts = pair.simulator.texts()
    assert all(texts[f"lost {number}"] == 1 for number in range(7))


def _renewals(pair: Pair) -> int:
    (path,) = pair.lease.glob("[0-9]*.json")
    return int(json.loads(path.read_text())["count"])


def _delivered(pair: Pair) -> bool:
    """The first message is in the copy with its end, so that nothing of it is lost."""
    return _copied(pair, "SELECT count(*) FROM messages WHERE status = 'delivered'") == 1


def _copied(pair: Pair, query: str) -> int:
    """A number in the copy as it is shipped; 0 where nothing is shipped yet."""
    copy, target = (
        StandbyCopy(pair.premises.path / "look", PieceDirectory(pair.shipped)),
        pair.premises.path,
    )
    if copy.follow(_unheard) is None:
        return 0
    copy.settled(target / "look.db")
    with closing(sqlite3.connect(target / "look.db")) as conn:
        return int(conn.execute(query).fetchone()[0])


def _unheard(step: str, done: int, total: int) -> None:
    pass
