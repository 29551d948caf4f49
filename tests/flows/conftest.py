"""The whole service as its users meet it: real processes, a real carrier over TCP, real HTTP.

A test gets a ``premises`` to start services and simulated carriers on; whatever it leaves running
is killed at the end. The simulator is a process of its own, so that it outlives a service that is
killed, like a carrier does.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trio
from tests.support.told import stored_events

from patience import HANG_S, until
from processes import Process, run
from risala.cli.reach.client import connect
from risala.engine.journal.messages import timeline
from risala.engine.model.following import OutboxEvent
from risala.engine.model.sentences import sentence

TABLES = ("messages", "segments", "timeline", "idempotency", "ledger", "events", "held_receipts")
FINAL = ("delivered", "undelivered", "failed", "canceled")


@dataclass
class Received:
    """A whole message as it reached the simulated phone."""

    text: str
    sender: str
    recipient: str
    segments: int


class Simulator(Process):
    """A carrier: ``risala simulate smsc``."""

    def __init__(self, cwd: Path, *options: str) -> None:
        command = ("simulate", "smsc", "--port", "0", "--json", *options)
        super().__init__((sys.executable, "-m", "risala", *command), cwd)
        self.port: int = json.loads(self.wait_line(lambda line: '"Listening"' in line))["port"]

    def events(self, kind: str) -> list[dict[str, Any]]:
        found = (json.loads(line) for line in list(self.lines))
        return [event for event in found if event["event"] == kind]

    def received(self) -> list[Received]:
        messages = (event["message"] for event in self.events("MessageReceived"))
        return [
            Received(each["text"], each["sender"], each["recipient"], each["segments"])
            for each in messages
        ]

    def texts(self) -> Counter[str]:
        """How often each text arrived."""
        return Counter(message.text for message in self.received())


@dataclass(frozen=True)
class Account:
    """An organization with a secret key."""

    organization_id: str
    secret_key: str
    key_id: str

    @property
    def headers(self) -> dict[str, str]:
        return {"x-api-key": self.secret_key}


@dataclass
class Service:
    """``risala serve`` on one data directory, as often as it is started."""

    data: Path
    options: tuple[str, ...]
    processes: list[Process]
    process: Process | None = None
    url: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    """What its processes have beside ours."""
    program: tuple[str, ...] = (sys.executable, "-m", "risala")
    _clients: list[httpx2.Client] = field(default_factory=list)

    # -- its life

    def start(self) -> None:
        """Start it and wait until it says where it is."""
        self.launch()
        assert self.process is not None
        line = self.process.wait_line(lambda line: line.startswith("Risala is running at "))
        self.url = line.removeprefix("Risala is running at ")

    def launch(self) -> None:
        command = ("serve", "--data", str(self.data), "--port", "0", *self.options)
        self.process = Process((*self.program, *command), self.data.parent, **self.environment)
        self.processes.append(self.process)

    def wait_ready(self) -> None:
        """Until a carrier is up."""
        until(lambda: self.get("/readyz").status_code == 200, "/readyz answers 200")

    def kill(self) -> None:
        """``kill -9``."""
        assert self.process is not None
        self.process.signal(signal.SIGKILL)
        assert self.process.wait_exit() == -signal.SIGKILL

    def stop(self) -> int:
        """SIGTERM; its exit status."""
        assert self.process is not None
        self.close()
        self.process.signal(signal.SIGTERM)
        return self.process.wait_exit()

    def restart(self) -> None:
        self.start()
        self.wait_ready()

    # -- its clients

    @property
    def client(self) -> httpx2.Client:
        """A client of the service as it runs now."""
        if not self._clients or str(self._clients[-1].base_url) != self.url:
            self._clients.append(httpx2.Client(base_url=self.url, **self._plain))
        return self._clients[-1]

    @property
    def _plain(self) -> dict[str, Any]:
        """Who speaks no TLS reads no certificates: that takes longer than most tests of a call."""
        return {"trust_env": False, "timeout": HANG_S, "verify": self.url.startswith("https:")}

    def async_client(self) -> httpx2.AsyncClient:
        """For many requests at once; use it in ``async with``."""
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        return httpx2.AsyncClient(base_url=self.url, limits=limits, **self._plain)

    def get(self, path: str) -> httpx2.Response:
        return self.client.get(path)

    def send(self, account: Account, **body: Any) -> httpx2.Response:
        """``POST /api/sms`` to a number of ours, unless ``to`` is another."""
        payload = {"to": "+22236123456", **body}
        return self.client.post("/api/sms", json=payload, headers=account.headers)

    def show(self, account: Account, message_id: str) -> dict[str, Any]:
        """``POST /api/sms/get``."""
        body = {"messageId": message_id}
        answer = self.client.post("/api/sms/get", json=body, headers=account.headers)
        assert answer.status_code == 200, answer.text
        shown: dict[str, Any] = answer.json()
        return shown

    def wait_status(self, account: Account, message_id: str, status: str) -> dict[str, Any]:
        def reached() -> dict[str, Any] | None:
            shown = self.show(account, message_id)
            assert shown["status"] == status or shown["status"] not in FINAL, shown
            return shown if shown["status"] == status else None

        shown: dict[str, Any] = until(reached, f"{message_id} is {status}")
        return shown

    # -- its operator

    def perform(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """An operation over the control socket, as the commands do it."""

        async def main() -> dict[str, Any]:
            async with connect(self.data) as gateway:
                return await gateway.perform(operation, arguments)

        # A thread, so that tests that are inside a Trio run may call it too.
        answers: list[Any] = []

        def work() -> None:
            try:
                answers.append(trio.run(main))
            except BaseException as error:  # noqa: BLE001 -- raised again below
                answers.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if isinstance(answers[0], BaseException):
            raise answers[0]
        result: dict[str, Any] = answers[0]
        return result

    def organization(self, balance: str | None = "1000", **fields: Any) -> Account:
        """An organization with a secret key and some money."""
        organization_id = self.perform("org.create", name="Test", **fields)["id"]
        if balance is not None:
            self.perform("topup", organization_id=organization_id, amount=balance)
        key = self.key(organization_id)
        return Account(organization_id, key["value"], key["key"]["id"])

    def key(self, organization_id: str, kind: str = "secret", mode: str = "live") -> dict[str, Any]:
        return self.perform("key.create", organization_id=organization_id, type=kind, mode=mode)

    def balance(self, account: Account) -> str:
        shown = self.perform("org.show", organization_id=account.organization_id)
        balance: str = shown["balance"]
        return balance

    def command(
        self, *arguments: str, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A command of the command line on this data directory; ``more``: of its environment."""
        command = (*self.program, *arguments, "--data", str(self.data))
        return run(command, self.data.parent, **(more or {}))

    def assert_books_agree(self) -> None:
        """``risala audit`` is clean."""
        audit = self.command("audit")
        assert audit.returncode == 0, audit.stdout + audit.stderr

    # -- what is on its disk

    def rows(self, query: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """Rows of the database, by a connection that cannot write."""
        with closing(self._reader()) as conn:
            return conn.execute(query, arguments).fetchall()

    def events(self) -> list[OutboxEvent]:
        """Events as they are told."""
        with closing(self._reader()) as conn:
            return stored_events(conn)

    def _reader(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{(self.data / 'risala.db').as_uri()}?mode=ro", uri=True)

    def counts(self) -> dict[str, int]:
        """Rows of each table that a send could touch, and all money, in one snapshot."""
        counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in TABLES)
        balances = "(SELECT coalesce(sum(balance), 0) FROM organizations)"
        (row,) = self.rows(f"SELECT {counts}, {balances}")
        return dict(zip((*TABLES, "balances"), row, strict=True))

    def timeline(self, message_id: str) -> list[str]:
        with closing(self._reader()) as conn:
            return [sentence(entry) for entry in timeline.read(conn, message_id)]

    def wait_settled(self) -> None:
        """Until every message is in a final state."""
        query = f"SELECT id, status FROM messages WHERE status NOT IN {FINAL} LIMIT 5"
        until(lambda: not self.rows(query), "every message is in a final state")

    def assert_whole(self) -> None:
        """Every message has its charge, its idempotency key and its first timeline entry."""
        rows = self.rows(  # one statement: one snapshot
            "SELECT 'message', id FROM messages"
            " UNION ALL SELECT 'paid', id FROM messages WHERE mode = 'live'"
            " UNION ALL SELECT 'keyed', id FROM messages WHERE kind = 'sms'"
            " UNION ALL SELECT 'charge', m.id FROM ledger l JOIN messages m ON m.charge = l.seq"
            " WHERE l.kind = 'charge'"
            " UNION ALL SELECT 'key', message_id FROM idempotency"
            " UNION ALL SELECT 'begin', message_id FROM timeline WHERE n = 1"
        )
        found: dict[str, list[str]] = {}
        for kind, message_id in rows:
            found.setdefault(kind, []).append(message_id)
        for ours, theirs in (("message", "begin"), ("paid", "charge"), ("keyed", "key")):
            assert sorted(found.get(theirs, [])) == sorted(found.get(ours, []))

    def assert_no_bug_logged(self) -> None:
        """Nothing that we did not foresee was logged."""
        assert self.process is not None
        told = [line for line in self.process.errors if "Traceback" in line or '"error"' in line]
        assert told == []

    def close(self) -> None:
        """Close our clients' connections to it."""
        while self._clients:
            self._clients.pop().close()


class Load:
    """Customers that send, each its next message as soon as it is answered, and remember it all.

    A message's text is its idempotency key, so that one name follows it everywhere.
    """

    def __init__(self, service: Service, account: Account, name: str, customers: int = 8) -> None:
        self.answers: dict[str, bytes] = {}
        """Bodies of the answers 200."""
        self.refused: dict[str, int] = {}
        self.unanswered: list[str] = []
        self._service = service
        self._account = account
        self._name = name
        self._customers = customers
        self._sent = 0
        self._answered = trio.Event()

    @property
    def keys(self) -> list[str]:
        return [*self.answers, *self.refused, *self.unanswered]

    async def run(self) -> None:
        """Until the service is gone or refuses."""
        async with self._service.async_client() as client, trio.open_nursery() as nursery:
            for _ in range(self._customers):
                nursery.start_soon(self._customer, client)

    async def wait_answers(self, count: int) -> None:
        with trio.fail_after(HANG_S):
            while len(self.answers) < count:
                self._answered = trio.Event()
                await self._answered.wait()

    async def _customer(self, client: httpx2.AsyncClient) -> None:
        while True:
            key = self._next_key()
            try:
                answer = await self.post(client, key)
            except httpx2.TransportError:
                self.unanswered.append(key)
                return
            if answer.status_code != 200:
                self.refused[key] = answer.status_code
                return
            self.answers[key] = answer.content
            self._answered.set()

    def _next_key(self) -> str:
        self._sent += 1
        # Every fourth is of three segments.
        padding = " رسالة" * 25 if self._sent % 4 == 0 else ""
        return f"{self._name} {self._sent:05d}{padding}"

    async def post(self, client: httpx2.AsyncClient, key: str) -> httpx2.Response:
        # A number each: the parts of two messages to one phone may carry the same reference.
        number = zlib.crc32(key.encode()) % 10_000_000
        body = {"to": f"+2223{number:07d}", "body": key, "idempotencyKey": key[:40]}
        return await client.post("/api/sms", json=body, headers=self._account.headers)

    async def repeat(self) -> None:
        """Send everything again, as careful customers do: what was accepted stays as it was."""
        async with self._service.async_client() as client:
            for key in self.keys:
                answer = await self.post(client, key)
                assert answer.status_code == 200, answer.text
                assert answer.content == self.answers.get(key, answer.content)
                self.answers[key] = answer.content


class Premises:
    """A place with services and carriers, cleared at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._processes: list[Process] = []
        self._services: list[Service] = []

    def simulator(self, *options: str) -> Simulator:
        simulator = Simulator(self.path, *options)
        self._processes.append(simulator)
        return simulator

    def service(self, *options: str, data: str = "data") -> Service:
        """A service that is not started yet."""
        service = Service(self.path / data, options, self._processes)
        self._services.append(service)
        return service

    def process(self, *command: str, cwd: Path | None = None, **more: str) -> Process:
        """Any process; ``more`` goes into its environment."""
        process = Process(command, cwd or self.path, **more)
        self._processes.append(process)
        return process

    def config(self, port: int, more: str = "", carrier: str = "") -> Path:
        """A settings file with one SMPP carrier at ``port``; ``carrier``: lines of its table."""
        path = self.path / "risala-test.toml"
        path.write_text(
            f"{more}\n"
            "[[carriers]]\n"
            'name = "mattel"\ndriver = "smpp"\nrate_per_s = 1000\n'
            f"{carrier}\n"
            "[carriers.smpp]\n"
            f'host = "127.0.0.1"\nport = {port}\nsystem_id = "risala"\nwindow_max = 50\n'
            "reconnect_first_s = 0.1\nreconnect_max_s = 0.5\n"
            # Longer than any test waits: no answer is late because the machine is slow.
            "response_timeout_s = 600\n"
            # Kills are about the policy: no receipt shall settle what it is to decide.
            "user_message_reference = false\n",
            encoding="utf-8",
        )
        return path

    def running(self, simulator: Simulator, more: str = "", carrier: str = "") -> Service:
        """A service whose carrier is the simulator, up and ready."""
        service = self.service("--config", str(self.config(simulator.port, more, carrier)))
        service.start()
        service.wait_ready()
        return service

    def close(self) -> None:
        for service in self._services:
            service.close()
        for process in self._processes:
            process.end()


@pytest.fixture
def premises(tmp_path: Path) -> Iterator[Premises]:
    place = Premises(tmp_path)
    try:
        yield place
    finally:
        place.close()


@pytest.fixture(scope="module")
def shared_premises(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    """For the tests of one file that leave the service as they found it."""
    place = Premises(tmp_path_factory.mktemp("premises"))
    try:
        yield place
    finally:
        place.close()


@pytest.fixture(scope="module")
def shared_service(shared_premises: Premises) -> Service:
    return shared_premises.running(shared_premises.simulator("--receipt-delay-s", "0.05"))


@pytest.fixture
def start_load() -> Callable[..., Load]:
    return Load


@pytest.fixture(name="until")
def until_fixture() -> Callable[..., Any]:
    return until
