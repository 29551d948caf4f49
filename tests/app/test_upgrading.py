"""A service whose database is brought over: what it answers meanwhile, and how it is stopped."""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx2
import pytest
import structlog
import trio
from click.testing import CliRunner, Result

import stones
from patience import HANG_S, until_true
from risala.app.stop import Stop
from risala.app.upgrading import unshown, upgrade_while_answering
from risala.cli.main import cli
from risala.cli.reach.client import connect
from risala.cli.reach.refused import CommandRefused
from risala.config.model import Settings, StorageSection
from risala.engine.journal.store.lock import DataLock
from risala.engine.journal.upkeep.upgrade.upgrade import is_due
from risala.engine.upkeep import upgrade
from risala.http.server.server import BoundAddress
from risala.http.server.sockets import base_url, listen_tcp
from stones import StonesMove, write_stones

pytestmark = pytest.mark.slow
STONES = 60
SENTENCE = "The database is being upgraded to this version: moving rows, 0 %"


class HeldMove(StonesMove):
    """Waits before its first step until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.holds = threading.Event()
        self.may_go = threading.Event()

    def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
        self.holds.set()
        assert self.may_go.wait(HANG_S)
        return super().step(conn, rows_max)


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """A command within the test's own process sets up what is logged."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data directory of before, held as a service holds it."""
    with stones.migrations(), DataLock(tmp_path):
        write_stones(tmp_path / "risala.db", STONES)
        yield tmp_path


@pytest.fixture
def stop(data: Path) -> Stop:
    return Stop(Settings(storage=StorageSection(data_dir=data)))


@pytest.fixture
def sock() -> Iterator[socket.socket]:
    with listen_tcp("127.0.0.1", 0) as sock:
        yield sock


@pytest.fixture
def move() -> Iterator[HeldMove]:
    move = HeldMove()
    yield move
    move.may_go.set()


async def held(nursery: trio.Nursery, stop: Stop, sock, move: HeldMove) -> None:
    """Start, and wait until it is in the middle of it."""
    nursery.start_soon(upgrade_while_answering, stop, [BoundAddress(sock)], unshown, [move])
    await until_true(move.holds.is_set)


async def test_it_lives_tells_how_far_it_is_and_hands_its_address_over(data, stop, sock, move):
    url = base_url(sock)
    async with trio.open_nursery() as nursery:
        await held(nursery, stop, sock, move)
        async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=HANG_S) as client:
            assert (await client.get("/healthz")).status_code == 200
            ready = await client.get("/readyz")
            assert ready.status_code == 503
            assert ready.json()["data"]["upgrading"]["step"] == "moving rows"
            assert ready.json()["data"]["upgrading"]["total"] == STONES
            refused = await client.post("/api/sms", json={"to": "+22236000000", "body": "Salam"})
            assert refused.status_code == 503
            assert int(refused.headers["retry-after"]) > 0
            assert refused.json()["message"].startswith(SENTENCE)
        move.may_go.set()
    assert not is_due(data / "risala.db", [StonesMove()])
    assert not (data / "control.sock").exists()
    # What connects now waits in the same queue, and is the real service's.
    stream = await trio.open_tcp_stream(*sock.getsockname())
    accepted, _ = sock.accept()
    accepted.close()
    await stream.aclose()


async def test_commands_are_told_by_the_control_socket(data, stop, sock, move):
    async with trio.open_nursery() as nursery:
        await held(nursery, stop, sock, move)
        async with connect(data) as gateway:
            with pytest.raises(CommandRefused, match=SENTENCE):
                await gateway.perform("org.list", {})
        command = partial(CliRunner().invoke, cli, ["org", "list", "--data", str(data)])
        done = await trio.to_thread.run_sync(command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(SENTENCE)
        command = partial(CliRunner().invoke, cli, ["doctor", "--json", "--data", str(data)])
        checks = json.loads((await trio.to_thread.run_sync(command)).stdout)["checks"]
        [service] = [check["text"] for check in checks if check["name"] == "service"]
        assert service.startswith(SENTENCE)
        move.may_go.set()


async def test_a_stop_ends_it_and_the_next_start_goes_on(data, stop, sock, move):
    async with trio.open_nursery() as nursery:
        await held(nursery, stop, sock, move)
        stop.ordered.set()
        move.may_go.set()
    assert is_due(data / "risala.db", [StonesMove()])
    assert not (data / "control.sock").exists()
    again = Stop(stop.settings)
    await upgrade_while_answering(again, [BoundAddress(sock)], moves=[StonesMove()])
    assert not is_due(data / "risala.db", [StonesMove()])
    assert len([*data.glob("risala-before-*.db")]) == 1


def test_a_command_brings_it_over_as_well(tmp_path, monkeypatch):
    def run(*words: str) -> Result:
        return CliRunner().invoke(cli, [*words, "--data", str(tmp_path)])

    moves = [StonesMove()]
    monkeypatch.setattr(upgrade, "bring_over", partial(upgrade.bring_over, moves=moves))
    monkeypatch.setattr(upgrade, "is_due", lambda path, moves=moves: is_due(path, moves))
    with stones.migrations():
        write_stones(tmp_path / "risala.db", STONES)
        done = run("org", "list", "--json")
        assert (done.exit_code, done.stderr) == (0, "")
        assert '"balance"' in done.stdout
        assert not is_due(tmp_path / "risala.db", [StonesMove()])
        assert run("audit").exit_code == 0
    with closing(sqlite3.connect(tmp_path / "risala.db")) as conn:
        assert conn.execute("SELECT count(*) FROM polished").fetchone() == (STONES,)
    assert len([*tmp_path.glob("risala-before-*.db")]) == 1


async def test_a_database_of_today_is_none_of_its_business(data, stop, sock, capsys):
    await upgrade_while_answering(stop, [BoundAddress(sock)], moves=[StonesMove()])
    capsys.readouterr()
    await upgrade_while_answering(stop, [BoundAddress(sock)], moves=[StonesMove()])
    assert capsys.readouterr().out == ""
