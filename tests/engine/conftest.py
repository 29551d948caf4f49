"""A whole engine over a real SQLite file, with fake carriers and a clock that jumps."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
import trio
from sqlite_utils import Database

from fresh_files import fresh_files  # noqa: F401 -- a fixture of all below
from people_town import kept_mails, open_town, town  # noqa: F401 -- as well
from risala.config.model import (
    CarrierSection,
    DeliverySection,
    OnUncertain,
    Settings,
    StorageSection,
)
from risala.engine.journal.accounts.accounts import add_organization
from risala.engine.journal.accounts.ledger import top_up
from risala.engine.journal.messages import deadlines, delivery, receipts, timeline
from risala.engine.journal.messages.acceptance import accept_one
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.webhooks import outbox
from risala.engine.model.answers import answer
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.ids import IdSource, key_of, message_id
from risala.engine.model.lines import JUST_ACCEPTED
from risala.engine.model.records.attempts import (
    Arrival,
    Attempt,
    Decision,
    Lease,
    Started,
    SubmitAnswer,
)
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import Change, NewMessage, Stamp
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.sentences import sentence
from risala.engine.model.states import Mode
from risala.engine.rules.receiptgroups import Groups, alone
from risala.engine.rules.repeats import NO_MANNERS, resolution
from risala.engine.services import Parts
from risala.engine.wiring.connections import NO_OUTSIDE, Connections
from risala.engine.wiring.engine import Engine, open_engine
from risala.engine.wiring.foundation import Seams, unfenced
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.receipt import Receipt


class MovedClock:
    """Wall time on which days pass at once: to sleep through them would wake each service often."""

    def __init__(self) -> None:
        self._clock = TrioClock()
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self.ahead_ms


@dataclass
class House:
    """A running engine and what a test needs of it."""

    engine: Engine
    drivers: dict[str, FakeDriver]
    principal: Principal
    clock: MovedClock

    def pass_s(self, span_s: float) -> None:
        """Move the clock on the wall ahead."""
        self.clock.ahead_ms += round(span_s * 1000)

    @property
    def gateway(self):
        return self.engine.gateway

    @property
    def driver(self) -> FakeDriver:
        return next(iter(self.drivers.values()))

    async def organization(self, balance: str = "1000") -> Principal:
        organization = await self.gateway.perform("org.create", {"name": "Test"})
        if balance != "0":
            await self.gateway.perform(
                "topup", {"organization_id": organization["id"], "amount": balance}
            )
        return Principal(organization["id"], "key", KeyType.SECRET, Mode.LIVE)

    async def send(
        self, body: str = "hello", to: str = "+22236123456", principal=None, **fields: Any
    ) -> str:
        command = SendMessage(to=to, body=body, **fields)
        response = await self.gateway.send_message(principal or self.principal, command)
        return json.loads(response)["messageId"]

    def status(self, message_id: str) -> str:
        return self.gateway.show_message(message_id)[0].status

    def timeline(self, message_id: str) -> list[tuple[str, str | None]]:
        return [(entry.status, entry.raw) for entry in self.gateway.show_message(message_id)[1]]

    async def wait_status(self, message_id: str, *statuses: str) -> str:
        """Until the message is in one of these states."""
        with self.gateway.watch() as life:
            while (status := self.status(message_id)) not in statuses:
                assert status not in ("delivered", "undelivered", "failed", "canceled")
                await anext(life)
        return self.status(message_id)

    async def balance(self, principal=None) -> str:
        organization_id = (principal or self.principal).organization_id
        shown = await self.gateway.perform("org.show", {"organization_id": organization_id})
        return shown["balance"]

    async def events(self) -> list[dict]:
        reader = self.gateway.services.repositories._store.reader
        return [json.loads(event.body) for event in outbox.after(reader, 0, 10_000)]


OpenHouse = Callable[..., AbstractAsyncContextManager[House]]


def carrier(name: str = "fake", **fields: Any) -> CarrierSection:
    return CarrierSection.model_validate({"name": name, "driver": "fake", **fields})


@pytest.fixture(name="carrier")
def carrier_fixture() -> Callable[..., CarrierSection]:
    return carrier


@pytest.fixture
def open_house(tmp_path: Path) -> OpenHouse:
    """Opens (and opens again) the engine on one data directory."""
    clock = MovedClock()

    @asynccontextmanager
    async def open_one(
        *carriers: CarrierSection,
        drivers: dict[str, FakeDriver] | None = None,
        delivery: DeliverySection | None = None,
        balance: str = "1000",
        inline: bool = True,
        outside: Connections = NO_OUTSIDE,
        fence: Callable[[], None] = unfenced,
        parts: Parts | None = None,
        **sections: Any,
    ) -> AsyncIterator[House]:
        carriers = carriers or (carrier(),)
        drivers = drivers or {each.name: FakeDriver() for each in carriers}
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path),
            delivery=delivery or DeliverySection(),
            **sections,
        )
        ids = IdSource(clock)
        seams = Seams(clock, ids, inline_journal=inline, fence=fence, parts=parts or {})
        async with open_engine(settings, carriers, drivers, seams, outside) as engine:
            house = House(engine, drivers, None, clock)
            house.principal = await house.organization(balance)
            yield house

    return open_one


@pytest.fixture
async def house(open_house: OpenHouse, quick: trio.testing.MockClock) -> AsyncIterator[House]:
    """One for all cases of a sweep, none of which changes anything."""
    async with open_house() as opened:
        yield opened


@pytest.fixture
def quick(autojump_clock: trio.testing.MockClock) -> trio.testing.MockClock:
    """Minutes and hours pass at once."""
    return autojump_clock


LOUD: Final = (
    "billing/test_currencies.py",
    "features/alerts",
    "features/code_figures",
    "features/mailings/test_broken_mailing.py",
    "features/pumping",
    "features/mailings/test_storage.py",
    "upkeep",
)
"""Where tests show something of alerts."""


@pytest.fixture(autouse=True)
def seldom_alerts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere an engine looks once a day for what to alert of: each minute it is a third of the
    processor time of a test in which hours pass."""
    here = request.path.relative_to(Path(__file__).parent)
    if not any(here.is_relative_to(each) for each in LOUD):
        monkeypatch.setattr("risala.engine.features.alerts.service.LOOK_S", 86_400.0)


Leap = Callable[..., Awaitable[None]]


@pytest.fixture
def leap(quick: trio.testing.MockClock) -> Leap:
    """``await leap(seconds)``, beside ``quick``: hours and days pass by the half hour, or by
    ``every_s``.

    What is due within one happens at its end. Else an engine that has nothing to do looks around
    some ten thousand times a day.
    """

    async def leap(seconds: float, every_s: float = 1800) -> None:
        left_s = seconds
        while left_s > 0:
            step_s = min(left_s, every_s)
            quick.jump(max(step_s - 1, 0))
            await trio.sleep(min(step_s, 1))
            left_s -= step_s

    return leap


@pytest.fixture
def own_commits(monkeypatch: pytest.MonkeyPatch) -> Callable[[House], list[Any]]:
    """``own_commits(house)``: the units of work that the asking task commits from now on.

    What the engine writes meanwhile of its own accord (sweeps, notes) is not among them.
    """

    def watch(house: House) -> list[Any]:
        journal = house.gateway.services.recorder.journal
        asker = trio.lowlevel.current_task()
        seen: list[Any] = []

        async def commit(stock: Callable[[Any], Any], unit: Any) -> Any:
            answer = await stock(unit)
            if trio.lowlevel.current_task() is asker:
                seen.append(unit)
            return answer

        for name in ("commit", "commit_shielded"):
            monkeypatch.setattr(journal, name, partial(commit, getattr(journal, name)))
        return seen

    return watch


T = TypeVar("T")


class Book:
    """A journal without its writer: units of work one by one, at a time that the test sets."""

    def __init__(self, path: Path | str) -> None:
        self.conn = sqlite3.connect(path, isolation_level=None)
        self.conn.execute("pragma foreign_keys = on")
        self.conn.execute("pragma synchronous = off")  # nobody pulls the plug of a test
        migrate(Database(self.conn, execute_plugins=False))
        self.now_ms = 1_767_225_600_000
        self._numbers = count(1)

    def unit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Commit a unit of work; twice, and the first time in vain, as the writer may do it."""
        self.conn.execute("BEGIN IMMEDIATE")
        try:
            first = work(self.conn)
        finally:
            self.conn.execute("ROLLBACK")
        self.conn.execute("BEGIN IMMEDIATE")
        again = work(self.conn)
        self.conn.execute("COMMIT")
        assert again == first
        return again

    def recover(self, policy: OnUncertain, count_max: int = 10) -> int:
        """Clear up after a crash; returns how many messages it had interrupted."""
        found, how = deadlines.interrupted(self.conn, count_max), resolution(NO_MANNERS, policy)
        self.unit(lambda conn: deadlines.recover(conn, found, lambda *_: how, self.now_ms))
        return len(found)

    def id(self, prefix: str) -> str:
        number = next(self._numbers)
        if prefix == "sms":
            return message_id((self.now_ms << 15) + number, number)
        return f"{prefix}_{number:032d}"

    def stamp(self) -> Stamp:
        return Stamp(self.now_ms)

    def organization(self, balance: int = 1_000_000, **fields: Any) -> str:
        organization = Organization(
            **{
                "id": self.id("org"),
                "name": "Test",
                "status": "active",
                "balance": 0,
                "currency": "MRU",
                "price_per_segment": None,
                "smart_encoding": False,
                "lean_answers": False,
                "factor_required": False,
                "key_age_days": None,
                "sms_per_s": None,
                "low_balance": None,
                "operator_spend_cap": None,
                "owner_spend_cap": None,
                "spent_today": None,
                "time_zone": "Africa/Nouakchott",
                "created_at": self.now_ms,
                **fields,
            }
        )
        self.unit(lambda conn: add_organization(conn, organization))
        if balance:
            paid = self.id("pay")
            self.unit(lambda conn: top_up(conn, organization.id, balance, paid, self.now_ms))
        return organization.id

    def accept(self, organization_id: str, **fields: Any) -> str:
        """A pending message, paid and with its key; its id."""
        new = self.new_message(organization_id, **fields)
        self.unit(lambda conn: accept_one(conn, new, None))
        return new.id

    def begin(
        self, message_id: str, number: int = 1, carrier: str = "mattel", *, opens: bool = True
    ) -> Started | None:
        """A lane is about to submit a segment."""
        lease = Lease(message_id, number, carrier, opens)
        return self.unit(lambda conn: delivery.start(conn, [lease], self.now_ms))[0]

    def finish(
        self, attempt: Attempt, decision: Decision, *, live: bool = True, groups: Groups = alone
    ) -> tuple[Change, ...]:
        """Its carrier answered."""
        answer = SubmitAnswer(attempt, decision, self.stamp(), live)
        return self.unit(lambda conn: delivery.finish(conn, [answer], groups))[0]

    def record(
        self, receipt: Receipt, carrier: str = "mattel", groups: Groups = alone
    ) -> tuple[Change, ...]:
        """A receipt came."""
        arrival = Arrival(carrier, receipt, self.stamp())
        return self.unit(lambda conn: receipts.record(conn, [arrival], groups))[0]

    def new_message(self, organization_id: str, **fields: Any) -> NewMessage:
        message_id = self.id("sms")
        segments = fields.get("segments", 1)
        key = fields.get("idempotency_key", f"key-{message_id}")
        return NewMessage(
            **{
                "key": key_of(message_id),
                "id": message_id,
                "organization_id": organization_id,
                "mode": "live",
                "kind": "sms",
                "recipient": "+22236123456",
                "sender": "RISALA",
                "body": "hello",
                "encoding": "gsm7",
                "segments": segments,
                "price": 50 * segments,
                "currency": "MRU",
                "metadata": "{}",
                "priority": 1,
                "route": "+222",
                "due_at": self.now_ms,
                "valid_until": self.now_ms + 172_800_000,
                "send_at": None,
                "created_at": self.now_ms,
                "idempotency_key": f"key-{message_id}",
                "key_is_ours": False,
                "response": answer(message_id, key, organization_id, "RISALA", None),
                "line": JUST_ACCEPTED,
                "verification_id": None,
                "notice": None,
                **fields,
            }
        )

    def status(self, message_id: str) -> str:
        return self.one("SELECT status FROM messages WHERE id = ?", message_id)

    def one(self, query: str, *arguments: Any) -> Any:
        """The one value that a query gives."""
        ((value,),) = self.conn.execute(query, arguments).fetchall()
        return value

    def texts(self, message_id: str) -> list[str]:
        return [sentence(entry) for entry in timeline.read(self.conn, message_id)]

    def close(self) -> None:
        self.conn.close()


@pytest.fixture
def open_book() -> Iterator[Callable[[Path | str], Book]]:
    books: list[Book] = []

    def open_one(path: Path | str = ":memory:") -> Book:
        books.append(Book(path))
        return books[-1]

    yield open_one
    for book in books:
        book.close()


@pytest.fixture
def book(open_book: Callable[[], Book]) -> Book:
    """An empty journal in memory."""
    return open_book()
