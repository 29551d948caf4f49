"""The command line against a service that runs: a small operator behind a real control socket."""

import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import structlog
import trio
from click.testing import CliRunner, Result

from fake_mailing import FakeMailing
from patience import HANG_S
from risala.cli.main import cli
from risala.config.model import HttpSection
from risala.engine.journal.store.lock import DataLock
from risala.engine.model.callers import Caller
from risala.engine.model.errors import EngineError, NotFound
from risala.http.control.app import serve_control

AT = "2026-01-01T00:00:00.123Z"


GENERAL = {"pricePerSegment": "0.50", "smsPerSecond": None, "lowBalance": "100.00"}


def organization(number: int) -> dict[str, Any]:
    return {
        "id": f"org_{number}", "name": f"Shop {number}", "status": "active", "balance": "12.50",
        "currency": "MRU", "pricePerSegment": None, "smartEncoding": False, "smsPerSecond": None,
        "leanAnswers": False,
        "factorRequired": False,
        "keyAgeDays": None,
        "lowBalance": None,
        "spendCap": None,
        "operatorSpendCap": None,
        "ownerSpendCap": None,
        "spentToday": "0.00",
        "timeZone": "Africa/Nouakchott",
        "createdAt": AT,
        "lastSendAt": None,
        "owners": ["owner@example.com"],
        "partsToday": None,
        "partsPerDay": None,
    }  # fmt: skip


def key(type_: str = "secret", *, enabled: bool = True) -> dict[str, Any]:
    return {
        "id": "key_1", "organizationId": "org_1", "type": type_, "mode": "live", "name": None,
        "last4": "wxyz", "enabled": enabled, "createdAt": AT, "lastUsedAt": None,
        "allowedOrigins": None, "allowedAddresses": None, "oldLast4": None, "oldUntil": None,
        "withoutId": False, "contact": None, "expiresAt": None, "lastUsedAddress": None,
    }  # fmt: skip


def adjustment(amount: str) -> dict[str, Any]:
    return {
        "seq": 7, "organizationId": "org_1", "kind": "adjustment", "amount": amount,
        "balanceAfter": "110.00", "reference": "adj_1", "messages": None, "note": "a slip",
        "at": AT,
    }  # fmt: skip


def sender(status: str = "pending", *, cleared: bool = False) -> dict[str, Any]:
    return {
        "id": "snd_1", "organizationId": "org_1", "name": "Acme", "status": status,
        "cleared": cleared, "clearedAt": AT if cleared else None, "description": "receipts",
        "createdAt": AT, "updatedAt": AT,
        "reason": "Taken." if status == "denied" else None,
        "marks": [{"code": "generic", "text": "It is a generic name."}],
    }  # fmt: skip


MESSAGE = {
    "messageId": "sms_1", "id": "sms_1", "organizationId": "org_1", "to": "+22236123456",
    "from": "RISALA", "body": "two\nlines \x1b[31mred", "status": "sent", "segments": 1,
    "encoding": "gsm7", "price": "0.50", "currency": "MRU", "attempts": 1, "carrier": "mattel",
    "providerMessageId": "7f", "errorCode": None, "errorText": None, "carrierCode": None,
    "metadata": {}, "sendAt": None, "sentAt": AT, "deliveredAt": None,
    "createdAt": AT, "updatedAt": AT, "kind": "sms", "mode": "live", "keyId": None,
}  # fmt: skip
ENTRY = {
    "at": AT, "status": "sent", "text": "Acknowledged.", "code": "SENT", "cause": None,
    "values": {}, "carrier": "mattel", "attempt": 1, "segment": 1, "raw": "ESME_ROK",
}  # fmt: skip
ACCEPTED = {
    "accepted": True, "messageId": "sms_1", "idempotencyKey": "idk_1", "organizationId": "org_1",
    "from": "RISALA",
}  # fmt: skip
CARRIER = {
    "name": "m", "carrier": "m", "driver": "modem", "state": "up", "text": "Ready.", "gate": "open",
    "condition": {"code": "up", "values": {}}, "rate_max_per_s": 50.0, "priority": 0, "weight": 1,
    "numbers": {"prefixes": ["+222"], "networks": []}, "file": {"rate_per_s": 50.0, "weight": 1},
    "override": None, "queue": 0, "queue_is_longer": False, "oldest": None,
}  # fmt: skip


@dataclass
class FakeOperator:
    """Answers each operation with what ``answers`` has for it, and remembers what was asked."""

    organizations: int = 1
    senders: int = 1
    warning: str | None = None
    """Of an accepted message."""
    ignored: str | None = None
    """Why a mail is passed over."""
    refuse: EngineError | None = None
    clean: bool = True
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    uploads: list[tuple[str, str, bytes]] = field(default_factory=list)
    """Organization, name and content of each file."""
    mailing: FakeMailing = field(default_factory=FakeMailing)
    others: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Answers of further operations, by their names."""

    def _find_organization(self, name: str | None) -> dict[str, Any]:
        known = [organization(n + 1) for n in range(self.organizations)]
        found = [each["id"] for each in known if name in (None, each["name"])]
        return {"count": len(found), "organizationId": found[0] if len(found) == 1 else None}

    def _find_sender(self, name: str) -> dict[str, Any]:
        count = self.senders if name.casefold() == "acme" else 0
        return {"count": count, "senderId": "snd_1" if count == 1 else None}

    async def perform(self, name: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        self.asked.append((name, arguments))
        if self.refuse is not None:
            raise self.refuse
        answers: dict[str, Callable[[], dict[str, Any]]] = {
            "org.create": lambda: organization(1),
            "org.list": lambda: {
                "organizations": [organization(n) for n in range(self.organizations, 0, -1)],
                "newer": None, "older": None, "lookedTo": None,
            },
            "org.find": lambda: self._find_organization(arguments.get("name")),
            "org.show": lambda: organization(1) | {"general": GENERAL},
            "org.suspend": lambda: organization(1) | {"status": "suspended"},
            "org.resume": lambda: organization(1),
            "key.create": lambda: {"key": key(arguments["type"]), "value": "sk_live_value"},
            "key.list": lambda: {"keys": [key(), key("publishable")]},
            "key.enable": key,
            "key.disable": lambda: key(enabled=False),
            "key.delete": key,
            "topup": lambda: {
                "seq": 1, "organizationId": "org_1", "kind": "topup",
                "amount": arguments["amount"], "balanceAfter": "112.50", "reference": "r",
                "messages": None, "note": None, "at": AT,
            },
            "adjust": lambda: adjustment(arguments["amount"]),
            "ledger.list": lambda: {
                "organizationId": "org_1", "currency": "MRU", "balance": "110.00",
                "entries": [adjustment("-2.50")], "next": 7, "previous": None, "lookedTo": None,
                "spentADay": "0.00",
            },
            "org.set": lambda: (
                organization(1) | {"pricePerSegment": arguments.get("price_per_segment")}
            ),
            "price": lambda: {"perSegment": "0.50", "lowBalance": "100.00", "currency": "MRU"},
            "sender.request": sender,
            "sender.list": lambda: {"senders": [sender(), sender("denied")][: self.senders]},
            "sender.find": lambda: self._find_sender(arguments["name"]),
            "sender.clear": lambda: sender(cleared=True),
            "sender.waive": lambda: sender("approved"),
            "sender.deny": lambda: sender("denied"),
            "message.cancel": lambda: {"message": MESSAGE | {"status": "canceled"}},
            "send": lambda: ACCEPTED | ({"warning": self.warning} if self.warning else {}),
            "message.mail": lambda: {
                "messageId": None if self.ignored else "sms_1", "ignored": self.ignored,
            },
            "message.show": lambda: {"message": MESSAGE, "timeline": [ENTRY]},
            "audit": lambda: {
                "organizations": 1, "messages": 2, "entries": 3, "clean": self.clean,
                "faults": [] if self.clean else ["org_1: the balance is off by 0.50"],
                "lines": 2, "head": "0" * 64, "heads": 0, "remarks": [],
            },
            "carriers": lambda: {
                "carriers": [
                    CARRIER
                    | {
                        "driver": "smpp", "text": "Bound.", "gate": "paused", "in_flight": 2,
                        "window_max": 10, "rate_per_s": 4.5, "queue": 10000,
                        "queue_is_longer": True,
                    }
                ]
            },
            "carriers.show": lambda: CARRIER
            | {
                "details": {"signal_dbm": -73},
                "override": {
                    "rate_per_s": 20.0, "weight": None, "at": "2026-11-21T08:32:00.000Z",
                    "who": None,
                },
                "commands": [{"name": "ussd", "arguments": "CODE", "summary": "Dials it."}],
                "unmatched": {
                    "total": 7, "waiting": 2,
                    "latest": [
                        {
                            "at": "2026-11-21T08:31:00.456Z", "id": "1a2b", "says": "DELIVRD",
                            "recipient": None, "why": "several",
                        }
                    ],
                },
                "trace": [{"at": "2026-11-21T08:30:00.123Z", "text": "Recovery: soft reset."}],
            },
            "carriers.ask": lambda: {
                "carrier": "m", "command": "ussd", "answer": {"text": "Solde: 12 MRU"},
            },
        }  # fmt: skip
        answers |= {f"mailing.{verb}": answer for verb, answer in self.mailing.answers(arguments)}
        answers |= {each: partial(dict, told) for each, told in self.others.items()}
        if name not in answers:
            raise NotFound(f"There is no operation {name!r}.")
        return answers[name]()

    async def receive_upload(
        self, organization_id: str, chunks: AsyncIterator[bytes], name: str, caller: Caller
    ) -> str:
        self.uploads.append((organization_id, name, b"".join([each async for each in chunks])))
        return f"upl_{len(self.uploads)}"


@dataclass
class Service:
    """A thread that holds a data directory and serves its control socket."""

    operator: FakeOperator
    data_dir: Path
    delay_s: float = 0.0
    _ready: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        self._thread = threading.Thread(target=trio.run, args=(self._main,))
        self._thread.start()
        assert self._ready.wait(HANG_S)

    def stop(self) -> None:
        self._token.run_sync_soon(self._shutdown.set)
        self._thread.join(HANG_S)
        assert not self._thread.is_alive()

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._shutdown = trio.Event()
        http = HttpSection(graceful_stop_s=1)
        with DataLock(self.data_dir):
            if self.delay_s:  # starting: the lock is held and nobody listens yet
                self._ready.set()
                await trio.sleep(self.delay_s)
            async with trio.open_nursery() as nursery:
                serve = partial(
                    serve_control, self.operator, http, self.data_dir, shutdown=self._shutdown
                )
                await nursery.start(serve)
                self._ready.set()


@pytest.fixture
def operator() -> FakeOperator:
    return FakeOperator()


@pytest.fixture
def make_service(operator: FakeOperator) -> Callable[..., AbstractContextManager[Service]]:
    @contextmanager
    def make(data_dir: Path, delay_s: float = 0.0) -> Iterator[Service]:
        service = Service(operator, data_dir, delay_s)
        service.start()
        try:
            yield service
        finally:
            service.stop()

    return make


@pytest.fixture
def service(make_service, tmp_path: Path) -> Iterator[Service]:
    with make_service(tmp_path / "data") as service:
        yield service


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings of the machine, and no trace of a command's logging in other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RISALA_DATA", raising=False)
    monkeypatch.delenv("RISALA_CONFIG", raising=False)
    yield
    structlog.reset_defaults()


@pytest.fixture
def risala() -> Callable[..., Result]:
    """Run the command as a shell would, less the process."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments, prog_name="risala", catch_exceptions=False)

    return run


@pytest.fixture
def asked(service: Service, risala: Callable[..., Result]) -> Callable[..., Result]:
    """Run a command against the service that runs."""

    def run(*arguments: str) -> Result:
        return risala(*arguments, "--data", str(service.data_dir))

    return run


_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def in_terminal() -> Callable[[int, list[str]], str]:
    """Runs the command in this process, in a terminal of a width."""
    return _in_terminal


def _in_terminal(places: int, arguments: list[str]) -> str:
    """What the command shows, without its colours."""
    master, slave = os.openpty()
    told = bytearray()

    def read() -> None:
        try:
            while chunk := os.read(master, 65536):
                told.extend(chunk)
        except OSError:  # EIO: the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with (
            open(slave, "w", encoding="utf-8") as terminal,
            redirect_stdout(terminal),
            mock.patch.dict(os.environ, {"COLUMNS": str(places)}),
        ):
            cli.main(arguments, prog_name="risala", standalone_mode=False)
    finally:
        reader.join()
        os.close(master)
    return _STYLE.sub("", told.decode()).replace("\r\n", "\n")
