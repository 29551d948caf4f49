"""Two machines and a PostgreSQL: the primary is killed under load and its disk is gone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading

import httpx2
import pytest
from tests.flows.conftest import Premises, Service

from patience import until
from processes import run
from programs.postgresql_server import PostgresqlServer

pytestmark = [pytest.mark.slow, pytest.mark.long]

URL_ENV = "RISALA_FLOW_BEFORE_URL"
CLIENTS = 4
MORE = f"""
[http]
port = 0
[standby]
copy = "postgresql"
lease = "postgresql"
replicate = "before_answer"
answer_wait_s = 1
lease_s = 12
[standby.postgresql]
url_env = "{URL_ENV}"
installation = "prod"
"""


class Pair:
    def __init__(self, premises: Premises, server: PostgresqlServer) -> None:
        server.sql("DROP DATABASE IF EXISTS awaited")
        server.sql("CREATE DATABASE awaited")
        self.premises = premises
        self.simulator = premises.simulator()
        self.config = premises.config(self.simulator.port, MORE)
        self.config.with_name("secrets").write_text(f"{URL_ENV}='{server.url('awaited')}'\n")
        self.config.with_name("secrets").chmod(0o600)
        self.primary: Service = premises.service("--config", str(self.config))
        self.standby: Service = premises.service("--config", str(self.config), data="standby")

    def at(self, service: Service, *command: str) -> subprocess.CompletedProcess[str]:
        where = ("--config", str(self.config), "--data", str(service.data), "--json")
        risala = (sys.executable, "-m", "risala")
        return run((*risala, "standby", *command, *where), self.premises.path)

    def told(self, service: Service, *command: str) -> dict:
        done = self.at(service, *command)
        assert done.returncode == 0, done.stderr
        found: dict = json.loads(done.stdout)
        return found


@pytest.fixture
def pair(premises: Premises, postgresql: PostgresqlServer) -> Pair:
    made = Pair(premises, postgresql)
    assert made.told(made.primary, "init")["done"].startswith("The tables are made")
    return made


class Load:
    """Clients that send until the service is gone."""

    def __init__(self, service: Service, account) -> None:
        self.accepted: list[tuple[str, str]] = []
        self._service, self._account = service, account
        self._threads = [
            threading.Thread(target=self._send, args=(each,)) for each in range(CLIENTS)
        ]
        for each in self._threads:
            each.start()

    def _send(self, client: int) -> None:
        number = 0
        while True:
            text = f"{client}-{number}"
            try:
                answer = self._service.send(self._account, body=text)
            except httpx2.HTTPError:
                return
            if answer.status_code == 200:
                self.accepted.append((text, answer.json()["messageId"]))
            number += 1

    def end(self) -> None:
        for each in self._threads:
            each.join()


def test_a_primary_is_killed_with_its_disk_and_no_answer_is_missing(pair):
    pair.primary.start()
    account = pair.primary.organization("100000")
    assert pair.primary.command("carriers", "pause", "mattel").returncode == 0
    load = Load(pair.primary, account)
    until(lambda: len(load.accepted) > 60, "messages are accepted")
    pair.primary.kill()
    load.end()
    shutil.rmtree(pair.primary.data)

    taken = pair.told(pair.standby, "takeover", "--i-know-the-primary-is-dead")
    assert taken["hasAll"]
    assert taken["ended"] == 0
    assert taken["kept"] >= len(load.accepted)
    pair.standby.start()
    assert pair.standby.command("carriers", "resume", "mattel").returncode == 0
    texts = {text for text, _ in load.accepted}
    until(lambda: texts <= set(pair.simulator.texts()), "all that was accepted is sent")
    sent = pair.simulator.texts()
    assert all(sent[text] == 1 for text in texts)
    pair.standby.assert_books_agree()


HELD = """
CREATE FUNCTION risala_standby.hold() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
CREATE TRIGGER held BEFORE INSERT ON risala_standby.chunk
    FOR EACH ROW EXECUTE FUNCTION risala_standby.hold();
"""
IS_HELD = (
    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%chunk%' AND wait_event = 'PgSleep'"
)


def test_a_stop_while_the_whole_copy_is_made_is_an_end_like_any_other(pair, postgresql):
    postgresql.sql(HELD, "awaited")
    pair.primary.launch()
    until(lambda: postgresql.sql(IS_HELD) != "0", "the copy is under way")
    assert pair.primary.stop() == 0
    output = "".join([*pair.primary.process.lines, *pair.primary.process.errors])
    assert "Traceback" not in output
    assert "Risala is running" not in output
