"""One service on a machine that goes wrong when it is told, and what everybody saw of it."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from proofs.faults.row import Fault
from proofs.faults.rows import FAULTS

from bad_machine import BadMachine, built, compiler
from patience import until

RESULTS = os.environ.get("RISALA_FAULTS")
"""A file that takes a line of JSON for each fault: ``make faults`` asks for it."""
SETTINGS = """
[log]
format = "json"
[mail]
host = "localhost"
port = {mail_port}
security = "none"
[webhooks]
allow_insecure = true
"""
GIVEN_BACK = ("failed", "canceled")
"""What ends so is refunded in full."""
ROWS = {each.name: each for group in FAULTS.values() for each in group}


def told(answer: httpx2.Response) -> str:
    """An answer of the API, as the table has it."""
    if answer.status_code == 200:
        return "200"
    body = answer.json()
    parts = [f"{answer.status_code} {body['code']}"]
    if "retry-after" in answer.headers:
        parts.append(f"Retry-After: {answer.headers['retry-after']}")
    if code := body["data"].get("code"):
        parts.append(code)
    return ", ".join(parts)


@dataclass
class Trial:
    """What a fault did, as its test saw it."""

    row: Fault
    stand: Stand
    seen: set[tuple[str, str]] = field(default_factory=set)
    acknowledged: list[str] = field(default_factory=list)
    """Texts, each of its own, of the messages that were accepted."""
    doubtful: list[str] = field(default_factory=list)
    injected: int = 0
    seconds: float = 0.0
    _sent: int = 0
    _errors_before: int = 0
    _balance: int = 0

    def saw(self, where: str, text: str) -> None:
        """Somebody saw this: it has to be what the table says of it."""
        declared = self.row.expects(where, text)
        assert declared is not None, f"{self.row.name}: {where} told {text!r}"
        self.seen.add((where, declared))

    def send(self) -> httpx2.Response:
        """A message of its own; what was answered is held against the table."""
        text = f"{self.row.name} {self._sent:04d}"
        self._sent += 1
        answer = self.post(text)
        self.saw("API", told(answer))
        return answer

    def send_quietly(self) -> httpx2.Response:
        """Before it goes wrong, or after."""
        text = f"{self.row.name} {self._sent:04d}"
        self._sent += 1
        return self.post(text)

    def post(self, text: str) -> httpx2.Response:
        answer = self.stand.service.send(self.stand.account, body=text, idempotencyKey=text)
        if answer.status_code == 200:
            self.acknowledged.append(text)
        elif answer.json()["data"].get("code") == "OUTCOME_UNKNOWN":
            self.doubtful.append(text)
        return answer

    def log(self, event: str) -> list[dict[str, Any]]:
        """Lines of the log since this fault began."""
        return [line for line in self.stand.log[self._errors_before :] if line["event"] == event]

    def saw_carrier(self) -> None:
        """What the operator is told of the carrier, once the driver has tried it again."""
        where = "`risala carriers`"

        def declared() -> str | None:
            (found,) = self.stand.service.perform("carriers")["carriers"]
            text = f"{found['state']}: {found['text']}"
            return text if self.row.expects(where, text) else None

        self.saw(where, until(declared, f"{self.row.name}: the carrier's text is the table's"))

    def saw_not_ready(self) -> None:
        """What ``/readyz`` says, once it says something."""
        service = self.stand.service
        answer = until(
            lambda: found if (found := service.get("/readyz")).status_code == 503 else None,
            "/readyz answers 503",
        )
        self.saw("`/readyz`", answer.json()["data"]["reasons"][0])

    def saw_log(self, event: str, *fields: str) -> None:
        """A line of the log since this fault began."""

        line = until(lambda: self.log(event), f"{event} is logged")[0]
        more = " ".join(str(line[name]) for name in fields)
        self.saw("log", f"{event}: {more}" if more else event)

    def saw_alert(self) -> None:
        """The row's alert is raised. Alerts are looked for once a minute: `make faults` waits."""
        if RESULTS:
            kind = self.row.alert

            def raised() -> bool:
                alerts = self.stand.service.perform("alert.list")["alerts"]
                return any(each["kind"] == kind for each in alerts)

            until(raised, f"the alert {kind}")

    def saw_command(self, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        """What a command says on standard error, and how it ends."""
        done = self.stand.service.command(*arguments, more=environment)
        said = " ".join(done.stderr.split()).replace(str(self.stand.service.data), "DIR")
        for argument in arguments[1:]:
            said = said.replace(argument, "FILE")
        self.saw(f"`risala {arguments[0]}`", f"exit {done.returncode}: {said}")

    def saw_start(
        self, place: Path, environment: Mapping[str, str] | None = None, port: int = 0
    ) -> None:
        """What a start there says before it ends."""
        command = ("serve", "--data", str(place), "--port", str(port))
        process = self.stand.premises.process(
            sys.executable, "-m", "risala", *command, **(environment or {})
        )
        status = process.wait_exit()
        (sentence,) = [line for line in process.errors if not line.startswith("{")]
        said = re.sub(r"(process |127\.0\.0\.1:)\d+", r"\1N", sentence)
        self.saw("`risala serve`", f"exit {status}: {said.replace(str(place), 'DIR')}")

    def saw_doctor(self, check: str) -> None:
        """What ``risala doctor`` has to say about it."""
        checks = json.loads(self.stand.service.command("doctor", "--json").stdout)["checks"]
        (found,) = [each for each in checks if each["name"] == check]
        text = found["text"].replace(str(self.stand.service.data), "DIR")
        self.saw("doctor", text)

    def begin(self) -> None:
        self._balance = self.stand.balance()
        self._errors_before = len(self.stand.log)
        self.injected -= self.stand.machine.all_hits()

    def wait_whole(self) -> None:
        """The fault is over: until all is well, how long that takes, and what became of all."""
        self.injected += self.stand.machine.all_hits()
        began = time.monotonic()
        until(lambda: self.send_quietly().status_code == 200, "messages are accepted again")
        self.stand.service.wait_ready()
        self.seconds = time.monotonic() - began
        for text in self.doubtful:  # as whoever was told OUTCOME_UNKNOWN does
            assert (
                self.stand.service.send(
                    self.stand.account, body=text, idempotencyKey=text
                ).status_code
                == 200
            )
            self.acknowledged.append(text)

    def end(self) -> dict[str, Any]:
        """Hold everything against everything."""
        missing = {
            (where, text)
            for where, texts in self.row.sees.items()
            for text in texts
            if (where, text) not in self.seen
        }
        assert not missing, f"{self.row.name}: nobody saw {sorted(missing)}"
        stand = self.stand
        accepted = set(self.acknowledged)
        until(lambda: accepted <= set(stand.taken()), "all are at the carrier")
        stand.service.wait_settled()
        taken = stand.taken()
        lost = len(accepted - set(taken))
        doubled = sum(count > 1 for text, count in taken.items() if text.startswith(self.row.name))
        charged = stand.charged(self.row.name)
        wrong = sum(len(charged.get(text, ())) != 1 for text in accepted | set(charged))
        kept = [amount for ((status, amount),) in charged.values() if status not in GIVEN_BACK]
        wrong += kept.count(0)
        assert self._balance - stand.balance() == sum(kept), charged
        audit = stand.service.perform("audit")
        assert audit["clean"], audit["faults"]
        assert (lost, doubled, wrong) == (0, 0, 0), (accepted, taken, charged)
        return {
            "name": self.row.name,
            "injected": self.injected,
            "acknowledged": len(accepted),
            "lost": lost,
            "doubled": doubled,
            "wrong": wrong,
            "seconds": round(self.seconds, 1),
        }


@dataclass
class Stand:
    """A service, its carrier and its machine."""

    premises: Any
    service: Any
    simulator: Any
    machine: BadMachine
    account: Any
    mail_port: int
    """Where its mail server would be."""
    before: Counter[str] = field(default_factory=Counter)
    """What simulators that ended had taken."""

    @property
    def address(self) -> tuple[str, int]:
        """Where the API listens."""
        parts = urlsplit(self.service.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    @property
    def log(self) -> list[dict[str, Any]]:
        """What the service logged, before a restart too."""
        lines = [line for each in self.service.processes for line in list(each.errors)]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def taken(self) -> Counter[str]:
        """How often each text came to the carrier."""
        taken: Counter[str] = self.before + self.simulator.texts()
        return taken

    def stop_simulator(self) -> None:
        self.before = self.taken()
        self.simulator.end()

    def start_simulator(self) -> None:
        """Another one, where the last one was."""
        if self.simulator.popen.poll() is not None:
            port = str(self.simulator.port)
            self.simulator = self.premises.simulator("--receipt-delay-s", "0.05", "--port", port)

    def charged(self, beginning: str) -> dict[str, list[tuple[str, int]]]:
        """Of each message whose text begins so: its status, and what was taken for it."""
        rows = self.service.rows(
            "SELECT m.body, m.status, coalesce(-l.amount, 0) FROM messages m"
            " LEFT JOIN ledger l ON l.seq = m.charge WHERE m.body LIKE ?",
            f"{beginning}%",
        )
        found: dict[str, list[tuple[str, int]]] = {}
        for body, status, amount in rows:
            found.setdefault(body, []).append((status, amount))
        return found

    def balance(self) -> int:
        """In minor units, as the ledger has it at its end."""
        ((balance,),) = self.service.rows(
            "SELECT balance_after FROM ledger WHERE organization_id = ? ORDER BY seq DESC LIMIT 1",
            self.account.organization_id,
        )
        return int(balance)

    @contextmanager
    def trial(self, name: str) -> Iterator[Trial]:
        """A fault of the table: what is seen in the block is all that there is to be seen."""
        trial = Trial(ROWS[name], self)
        trial.begin()
        yield trial
        result = trial.end()
        if RESULTS:
            with open(RESULTS, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


@pytest.fixture(scope="session")
def bad_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library between a process and its libc; skips, aloud, where it cannot be compiled."""
    if compiler() is None:
        pytest.skip("NOT TRIED: faults of the machine need a C compiler (gcc, libc6-dev)")
    return built(tmp_path_factory.mktemp("bad-machine"))


@pytest.fixture(scope="session")
def make_machine(
    bad_library: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], BadMachine]:
    def make(home: Path) -> BadMachine:
        return BadMachine(bad_library, tmp_path_factory.mktemp("orders") / "orders", home)

    return make


@pytest.fixture(scope="module")
def stand(
    request: pytest.FixtureRequest, shared_premises: Any, make_machine: Callable[[Path], BadMachine]
) -> Iterator[Stand]:
    """Shared by a file's tests: each leaves the machine whole. ``MORE`` of the file: settings,
    which may name the data directory."""
    simulator = shared_premises.simulator("--receipt-delay-s", "0.05")
    with socket.create_server(("127.0.0.1", 0)) as free:
        mail_port = free.getsockname()[1]
    settings = SETTINGS + getattr(request.module, "MORE", "")
    told = settings.format(mail_port=mail_port, data=shared_premises.path / "data")
    config = shared_premises.config(simulator.port, told)
    service = shared_premises.service("--config", str(config))
    machine = make_machine(service.data)
    service.environment = machine.environment
    service.start()
    service.wait_ready()
    account = service.organization(balance="100000")
    yield Stand(shared_premises, service, simulator, machine, account, mail_port)
    service.assert_books_agree()
