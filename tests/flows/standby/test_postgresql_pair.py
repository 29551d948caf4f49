"""Two machines and a PostgreSQL, as real processes: one is killed, the other goes on."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from tests.flows.conftest import Premises, Service

from patience import until
from processes import run
from programs.postgresql_server import PostgresqlServer
from risala.config.outward import StandbySection
from risala.engine.features.standby.named_stores import pieces_of
from risala.engine.features.standby.stored.copy import StandbyCopy

pytestmark = [pytest.mark.slow, pytest.mark.long]

URL_ENV = "RISALA_FLOW_STANDBY_URL"
MORE = f"""
[http]
port = 0
[standby]
copy = "postgresql"
lease = "postgresql"
every_s = 0.1
lease_s = 12
[standby.postgresql]
url_env = "{URL_ENV}"
installation = "prod"
"""


class Pair:
    def __init__(self, premises: Premises, server: PostgresqlServer) -> None:
        server.sql("DROP DATABASE IF EXISTS pair")
        server.sql("CREATE DATABASE pair")
        self.premises = premises
        self.simulator = premises.simulator()
        self.config = premises.config(self.simulator.port, MORE)
        self.config.with_name("secrets").write_text(f"{URL_ENV}='{server.url('pair')}'\n")
        self.config.with_name("secrets").chmod(0o600)
        self.primary: Service = premises.service("--config", str(self.config))
        self.standby: Service = premises.service("--config", str(self.config), data="standby")

    def command(self, *command: str) -> subprocess.CompletedProcess[str]:
        where = ("--config", str(self.config), "--data", str(self.standby.data), "--json")
        risala = (sys.executable, "-m", "risala")
        return run((*risala, "standby", *command, *where), self.premises.path)

    def told(self, *command: str) -> dict:
        done = self.command(*command)
        assert done.returncode == 0, done.stderr
        found: dict = json.loads(done.stdout)
        return found


@pytest.fixture
def pair(premises: Premises, postgresql: PostgresqlServer, monkeypatch) -> Pair:
    monkeypatch.setenv(URL_ENV, postgresql.url("pair"))  # for the test's own looks
    return Pair(premises, postgresql)


def is_pending(pair: Pair, message_id: str) -> bool:
    """The message is in the copy as another machine would have it."""
    named = {"url_env": URL_ENV, "installation": "prod"}
    section = StandbySection(copy="postgresql", lease="postgresql", postgresql=named)
    look = pair.premises.path / "look"
    store = pieces_of(section, look)
    assert store is not None
    copy = StandbyCopy(look, store)
    if copy.follow(_unheard) is None:
        return False
    copy.settled(look / "look.db")
    with closing(sqlite3.connect(look / "look.db")) as conn:
        found = conn.execute("SELECT status FROM messages WHERE id = ?", (message_id,)).fetchone()
    return found == ("pending",)


def test_a_primary_is_killed_and_what_was_pending_goes_on(pair):
    pair.primary.launch()
    # Without tables the service waits, and says so.
    pair.primary.process.wait_error(lambda line: "risala standby init" in line)
    assert pair.told("init")["done"].startswith("The tables are made")
    line = pair.primary.process.wait_line(lambda line: line.startswith("Risala is running at "))
    pair.primary.url = line.removeprefix("Risala is running at ")
    pair.primary.wait_ready()
    account = pair.primary.organization("100000")
    following = (sys.executable, "-m", "risala", "standby", "watch", "--config", str(pair.config))
    watch = pair.premises.process(*following, "--data", str(pair.standby.data))
    watch.wait_line(lambda line: line.startswith("Following PostgreSQL at "))
    assert "The lease has number 1" in doctor(pair)
    assert pair.primary.command("carriers", "pause", "mattel").returncode == 0
    sent = pair.primary.send(account, body="goes on").json()["messageId"]
    until(lambda: is_pending(pair, sent), "the message is in PostgreSQL")
    pair.primary.kill()

    taken = pair.told("takeover", "--i-know-the-primary-is-dead", "--resend-pending")
    assert watch.wait_exit() == 0
    assert (taken["epoch"], taken["entriesBehind"], taken["ended"]) == (2, 0, 0)
    pair.standby.start()
    assert pair.standby.show(account, sent)["status"] == "pending"
    assert pair.standby.command("carriers", "resume", "mattel").returncode == 0
    until(lambda: pair.simulator.texts()["goes on"] == 1, "the pending message is sent")
    status = pair.told("status")
    assert (status["leaseEpoch"], status["leaseReleased"]) == (2, False)

    pair.primary.launch()
    assert pair.primary.process.wait_exit() == 1
    assert any("holds the lease, number 2" in line for line in pair.primary.process.errors)
    pair.standby.assert_books_agree()
    assert pair.simulator.texts()["goes on"] == 1


def doctor(pair: Pair) -> str:
    """What it says of the standby."""
    told = pair.primary.command("doctor", "--json", "--config", str(pair.config))
    found = [each for each in json.loads(told.stdout)["checks"] if each["name"] == "standby"]
    assert "fail" not in [each["state"] for each in found], found
    return " ".join(each["text"] for each in found)


def test_without_an_address_the_service_says_so_and_ends(pair):
    pair.config.with_name("secrets").unlink()
    pair.primary.launch()
    assert pair.primary.process.wait_exit() == 1
    (line,) = pair.primary.process.errors
    assert line.startswith(f"The variable {URL_ENV} is not set.")


def _unheard(step: str, done: int, total: int) -> None:
    pass
