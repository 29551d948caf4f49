"""A day in the life of a service, lived by whatever version of Risala is on the path.

Run by ``make.py`` with an old version's ``src``; so it uses only what all of them have, and looks
before it uses what came later. It ends as a power cut would: the copy is taken in the middle.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import trio
import trio.testing

from risala.config.model import CarrierSection, DeliverySection, Settings, StorageSection
from risala.engine.engine import Engine, Seams, open_engine
from risala.engine.journal.upkeep.audit import audit_file
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import KeyType, Mode, Principal, SendMessage
from risala.engine.model.ids import IdSource
from risala.engine.operations import OPERATIONS
from risala.plugins.contract import Inbound, ReceiptState, Refused, Scope, Uncertain
from risala.plugins.testing.fake_driver import FakeDriver

STARTED_MS = 1_767_225_600_000
GOOD, HELD, DOWN = "+22236000{:03d}", "+22246000{:03d}", "+22226000{:03d}"
"""Numbers that three carriers serve: one that is well, one that never answers, one that is down."""
LONG = "رسالة طويلة " * 15
"""Three segments."""
KEY = "known-key-0001"


class Endpoints:
    """Where webhooks go: one end takes them, the other is broken."""

    async def post(self, call: Any) -> object:
        from risala.engine.rules.webhooks.schedule import Answer

        status = 500 if "broken" in call.url else 200
        return Answer(status, None, "a word of the endpoint's")


class Life:
    def __init__(self, engine: Engine, drivers: dict[str, FakeDriver]) -> None:
        self._gateway = engine.gateway
        self._drivers = drivers
        self.organization_id = ""
        self.responses: dict[str, str] = {}

    async def perform(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """An operation; does nothing where this version has none of that name."""
        if operation not in OPERATIONS:
            return {}
        return await self._gateway.perform(operation, arguments)

    def principal(self, mode: Mode = Mode.LIVE) -> Principal:
        return Principal(self.organization_id, "key", KeyType.SECRET, mode)

    async def send(self, to: str, body: str = "Salam", *, test: bool = False, **more: Any) -> str:
        mode = Mode.TEST if test else Mode.LIVE
        command = SendMessage(to=to, body=body, **more)
        response = await self._gateway.send_message(self.principal(mode), command)
        await trio.sleep(0.5)
        if command.idempotency_key:
            self.responses[command.idempotency_key] = response.decode()
        return str(json.loads(response)["messageId"])

    async def receipt(self, state: ReceiptState, submitted: int | None = None) -> None:
        """A receipt for a submit of the good carrier, by its number; the last by default."""
        driver = self._drivers["good"]
        await driver.receipt(str(submitted or len(driver.submitted)), state)

    # -- what happened

    async def accounts(self) -> None:
        made = await self.perform("org.create", name="Customs of Nouadhibou")
        self.organization_id = made["id"]
        await self.perform("topup", organization_id=made["id"], amount="500", note="cash 1")
        await self.perform("topup", organization_id=made["id"], amount="0.25", note="cash 2")
        for kind in ("secret", "publishable"):
            for mode in ("live", "test"):
                args = {"organization_id": made["id"], "type": kind, "mode": mode, "name": "web"}
                last = await self.perform("key.create", **args)
        await self.perform("key.disable", key_id=last["key"]["id"])
        for name in ("ACME", "Acme Pay", "Bank"):
            args = {"organization_id": made["id"], "name": name, "description": "orders"}
            sender = await self.perform("sender.request", **args)
            if sender and name == "ACME":
                await self.perform("sender.waive", sender_id=sender["id"])
            if sender and name == "Bank":
                await self.perform("sender.deny", sender_id=sender["id"], reason="misleading")
        await self.perform("org.set", organization_id=made["id"], smart_encoding=True)
        for where in ("taken", "broken"):
            url, types = f"https://example.com/{where}", ["sms.sent", "sms.failed"]
            args = {"organization_id": made["id"], "url": url, "types": types}
            await self.perform("webhook.create", **args)
        await self.perform("inbound.route", organization_id=made["id"])
        await self.perform("inbound.opt_outs", organization_id=made["id"], heeds=True)

    async def messages(self) -> None:
        good = self._drivers["good"]
        await self.send(GOOD.format(1), idempotency_key=KEY, metadata={"order": "7"})
        await self.receipt(ReceiptState.DELIVERED)
        await self.send(GOOD.format(2), sender="ACME" if "sender.waive" in OPERATIONS else None)
        await self.receipt(ReceiptState.UNDELIVERABLE)
        await self.send(GOOD.format(3))
        await self.send(GOOD.format(4), LONG)
        await self.receipt(ReceiptState.DELIVERED)
        good.answers = [Refused(Scope.FINAL, "ESME_RINVDSTADR", "The number is not valid.")]
        await self.send(GOOD.format(5))
        good.answers = [Uncertain("the link broke")]
        await self.send(GOOD.format(6))
        await self.send(GOOD.format(0), test=True)
        await good.receipt("nobody-knows-it")
        assert good.context is not None
        stop = Inbound(GOOD.format(1), "1717", "STOP", STARTED_MS, ("77",))
        await good.context.inbound(stop)
        note = Inbound(GOOD.format(8), None, "Where is my parcel?", STARTED_MS, ("78",))
        await good.context.inbound(note)
        if hasattr(good.context, "remember"):
            await good.context.remember({"quota": "12"})
        if "message.cancel" in OPERATIONS:
            at = STARTED_MS + 86_400_000
            canceled = await self.send(GOOD.format(9), send_at=at)
            await self.perform("message.cancel", message_id=canceled)
            await self.send(GOOD.format(10), send_at=at)

    async def codes(self) -> None:
        if "verify.send" not in OPERATIONS:
            return
        from risala.engine.model.commands import SendCode

        async def send(number: int) -> str:
            command = SendCode(GOOD.format(number))
            made: str = await self._gateway.send_code(self.principal(), command)
            await trio.sleep(0.5)
            return made

        await send(20)
        await trio.sleep(660)  # over the ten minutes of its life
        approved = await send(21)
        code = re.search(r"\d{6}", self._drivers["good"].submitted[-1].text)
        assert code is not None
        assert await self._gateway.check_code(self.principal(), approved, code.group())
        guessed = await send(22)
        for _ in range(5):
            await self._gateway.check_code(self.principal(), guessed, "wrong")
        await send(23)
        await self._gateway.check_code(self.principal(), await send(24), "wrong")

    async def cut_short(self) -> None:
        """What is on its way at the end."""
        good = self._drivers["good"]
        good.answers = [Uncertain("the link broke")]
        await self.send(GOOD.format(30))
        self._drivers["held"].hold()
        await self.send(HELD.format(31))
        await self.send(HELD.format(32), LONG)
        await self.send(DOWN.format(33), metadata={"order": "8"})
        await self.send(DOWN.format(34), LONG)


def _outside() -> dict[str, Any]:
    try:
        from risala.engine.outside import Outside
    except ImportError:
        return {}
    return {"outside": Outside(outbound=Endpoints())}


async def live(data: Path, copy: Path) -> None:
    """Live the day in ``data``, and copy the database as it is at the end."""
    names = {"good": "+2223", "held": "+2224", "down": "+2222"}
    carriers = [
        CarrierSection.model_validate({"name": name, "driver": "fake", "prefixes": [prefix]})
        for name, prefix in names.items()
    ]
    drivers = {name: FakeDriver() for name in names}
    if _has_test_mode():
        carriers.append(
            CarrierSection.model_validate({"name": "test", "driver": "test", "prefixes": ()})
        )
        drivers["test"] = FakeDriver(delivers=True)
    settings = Settings(storage=StorageSection(data_dir=data), delivery=DeliverySection())
    clock = TrioClock(STARTED_MS)
    seams = Seams(clock, IdSource(clock), inline_journal=True)
    async with open_engine(settings, carriers, drivers, seams, **_outside()) as engine:
        from risala.plugins.contract import HealthState

        await trio.testing.wait_all_tasks_blocked()
        drivers["down"].set_health(HealthState.DOWN)
        life = Life(engine, drivers)
        steps: tuple[Callable[[], Awaitable[None]], ...] = (
            life.accounts,
            life.messages,
            life.codes,
            life.cut_short,
        )
        for step in steps:
            await step()
        with (
            closing(sqlite3.connect(data / "risala.db")) as now,
            closing(sqlite3.connect(copy)) as kept,
        ):
            now.backup(kept)
            expected = _expected(kept, copy, clock.now_ms())
        expected["responses"] = life.responses
        copy.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")
        drivers["held"].let_go()


def _has_test_mode() -> bool:
    import risala.engine.rules.router as router

    return hasattr(router, "TEST_ROUTE")


def _expected(conn: sqlite3.Connection, path: Path, now_ms: int) -> dict[str, Any]:
    report = audit_file(path)
    assert report.faults == (), report.faults
    migrations = conn.execute("SELECT name FROM _sqlite_migrations ORDER BY name").fetchall()
    by_status = "SELECT status, count(*) FROM messages GROUP BY status ORDER BY status"
    return {
        "nowMs": now_ms,
        "migrations": [row[0] for row in migrations],
        "organizations": report.organizations,
        "messages": report.messages,
        "entries": report.entries,
        "statuses": dict(conn.execute(by_status).fetchall()),
        "balances": dict(conn.execute("SELECT id, balance FROM organizations").fetchall()),
    }


if __name__ == "__main__":
    trio.run(
        live,
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        clock=trio.testing.MockClock(autojump_threshold=0),
    )
