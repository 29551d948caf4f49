"""Databases that released versions wrote, opened by this one: nothing in them is lost."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import asynccontextmanager, closing
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio

from risala.config.load import load_settings
from risala.config.model import CarrierSection, StandbySection
from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.store.opening import open_reader, open_writer
from risala.engine.journal.store.schema.foreign import ForeignSchema, refuse_foreign
from risala.engine.journal.store.schema.migrations import known, migrate
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.rules.webhooks.schedule import ReceiverAnswer
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import Seams
from risala.plugins.manager import PluginManager
from risala.plugins.testing.fake_driver import FakeDriver

FILES = Path(__file__).parents[1] / "fixtures"
NAMES = sorted(path.name.removesuffix(".db.gz") for path in FILES.glob("*.db.gz"))
SETTINGS = FILES / "v1.0.toml"
"""With every setting of 1.0."""
PREFIXES = {"good": ("+2223",), "held": ("+2224",), "down": ("+2222",), "test": ()}
LATER_MS = 1000
"""How long the service was down."""
OWED_S = 3600
"""What an endpoint was owed when the service went down has been tried again by then."""


def unpack(name: str, directory: Path) -> Path:
    path = directory / "risala.db"
    (directory / "sealing.key").write_text("5e" * 32)  # of life.py
    path.write_bytes(gzip.decompress((FILES / f"{name}.db.gz").read_bytes()))
    return path


@pytest.mark.parametrize("name", NAMES)
def test_its_schema_is_as_its_version_makes_it(name, tmp_path):
    """As a restore and a takeover compare it: before it is brought over, and afterwards."""
    path = unpack(name, tmp_path)
    with closing(open_reader(path)) as conn:
        refuse_foreign(conn)
    open_writer(path, migrate).close()
    with closing(open_reader(path)) as conn:
        refuse_foreign(conn)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("CREATE INDEX planted ON message (status)")
    with closing(open_reader(path)) as conn, pytest.raises(ForeignSchema, match="'planted'"):
        refuse_foreign(conn)


class Endpoints:
    def __init__(self) -> None:
        self.bodies: dict[str, str] = {}
        """Of the calls, by event."""

    async def post(self, call) -> ReceiverAnswer:
        self.bodies[call.headers["webhook-id"]] = call.body.decode()
        return ReceiverAnswer(200, None, "ok")


@asynccontextmanager
async def reopened(path: Path, now_ms: int, endpoints: Endpoints):
    """Today's engine on an old file, with settings of 1.0 and the same carriers: all are well."""
    carriers = [
        CarrierSection.model_validate({"name": name, "driver": "fake", "prefixes": prefixes})
        for name, prefixes in PREFIXES.items()
    ]
    drivers = {name: FakeDriver(delivers=name == "down") for name in PREFIXES}
    settings = load_settings(SETTINGS, overrides={"storage.data_dir": path.parent}, environ={})
    settings = settings.model_copy(update={"standby": StandbySection()})  # its directories are none
    plugins = PluginManager(logs=False)
    plugins.load(installed=[])
    policies = {
        name: plugins.build_policy(name, table) for name, table in settings.policies.by_name.items()
    }
    clock = TrioClock(now_ms)
    seams = Seams(clock, IdSource(clock), inline_journal=True)
    outside = Connections(outbound=endpoints, policies=policies)
    async with open_engine(settings, carriers, drivers, seams, outside) as engine:
        yield SimpleNamespace(gateway=engine.gateway, drivers=drivers)


def told(path: Path) -> list[tuple[str, str]]:
    """Events that an endpoint was told, or is owed: endpoint and id."""
    with closing(sqlite3.connect(path)) as conn:
        return conn.execute("SELECT endpoint_id, event_id FROM webhook_deliveries").fetchall()


async def wait_statuses(gateway, message_ids: list[str], status: str) -> None:
    with gateway.watch() as life:
        while {gateway.show_message(each)[0].status for each in message_ids} != {status}:
            await anext(life)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
async def test_an_old_file_opens_agrees_and_goes_on(name, tmp_path, quick, leap):
    path = unpack(name, tmp_path)
    expected = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    with closing(sqlite3.connect(path)) as conn:
        statuses = dict(conn.execute("SELECT status, count(*) FROM messages GROUP BY 1"))
        (organization_id,) = conn.execute("SELECT id FROM organizations").fetchone()
        waiting = [
            row[0]
            for row in conn.execute(
                "SELECT id FROM messages WHERE status = 'pending' AND route = '+2222'"
            )
        ]
        unsettled = conn.execute(
            "SELECT message_id, carrier_id FROM segments JOIN messages ON id = message_id"
            " WHERE segments = 1 AND status = 'sent' AND kind = 'sms'"
        ).fetchall()
        assert statuses == expected["statuses"]
        assert len(waiting) == 2
    owed = told(path)
    endpoints = Endpoints()
    async with reopened(path, expected["nowMs"] + LATER_MS, endpoints) as house:
        gateway = house.gateway
        report = audit_file(path)
        assert report.faults == ()
        assert (report.organizations, report.messages, report.entries) == (
            expected["organizations"],
            expected["messages"],
            expected["entries"],
        )
        shown = await gateway.perform("org.show", {"organization_id": organization_id})
        assert round(float(shown["balance"]) * 100) == expected["balances"][organization_id]

        # The same key gives the same bytes.
        principal = Principal(organization_id, "key", KeyType.SECRET, Mode.LIVE)
        for key, answer in expected["responses"].items():
            again = SendMessage("+22236000001", "Salam", idempotency_key=key)
            assert (await gateway.send_message(principal, again)).decode() == answer

        # What waited goes out now; what was sent is still known by the carrier's id.
        await wait_statuses(gateway, waiting, "delivered")
        ((message_id, carrier_id),) = unsettled
        await house.drivers["good"].receipt(carrier_id)
        await wait_statuses(gateway, [message_id], "delivered")

        # What an endpoint was told it is told again in the same bytes.
        await leap(OWED_S)
        assert endpoints.bodies
        endpoints.bodies.clear()
        for endpoint_id, event_id in owed:
            what = {"endpoint_id": endpoint_id, "event_id": event_id}
            await gateway.perform("webhook.replay", what)
        await trio.sleep(1)
        assert expected["bodies"]
        assert {each: endpoints.bodies[each] for each in expected["bodies"]} == expected["bodies"]

        # A new message is sent and delivered.
        new = json.loads(
            await gateway.send_message(principal, SendMessage("+22226000001", "It goes on"))
        )
        await wait_statuses(gateway, [new["messageId"]], "delivered")
        assert house.drivers["down"].submitted[-1].text == "It goes on"
        report = audit_file(path)
        assert report.faults == ()
        assert report.messages == expected["messages"] + 1
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []


def test_every_migration_has_a_file_that_ends_with_it():
    seen = {name: json.loads((FILES / f"{name}.json").read_text())["migrations"] for name in NAMES}
    assert {applied[-1] for applied in seen.values()} == set(known()), (
        "run tests/engine/journal/fixtures/make.py; list its file in README.md"
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_a_file_is_what_is_in_it(name, tmp_path):
    expected = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    with closing(sqlite3.connect(unpack(name, tmp_path))) as conn:
        applied = conn.execute("SELECT name FROM _sqlite_migrations ORDER BY id").fetchall()
    assert [row[0] for row in applied] == expected["migrations"]
    assert f"`{name}`" in (FILES / "README.md").read_text(encoding="utf-8")
