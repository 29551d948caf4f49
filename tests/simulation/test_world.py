"""Whole histories by seed: whatever was killed when, the books agree and nothing is lost.

``make soak`` looks at more of them. A seed that fails fails again.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress

import pytest
import trio
from tests.support.told import told_bodies

from risala.engine.core import DATABASE
from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.answers import known_answer
from risala.engine.journal.upkeep.audit import audit_file
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.errors import (
    Conflict,
    Forbidden,
    InsufficientBalance,
    NotFound,
    RateLimited,
    Refusal,
    Unavailable,
)
from risala.engine.model.sentences import sentence

WORLDS = int(os.environ.get("RISALA_WORLDS", "12"))
FEW = 4
"""Of these, what `make test` plays too."""
LIVES = 5
ERRANDS = 25
"""Of each life, if it is long enough."""
STEPS = (150, 6000)
"""Of tasks, between a start and its kill."""
TEXTS = ("hello", "é€[~]" * 20, "x" * 400, "السلام عليكم " * 12)
COPIES_MAX = 3
"""Of a segment: as ``delivery.uncertain_submits_max`` is unless it is set."""
REFUSED = (
    Conflict,
    Forbidden,
    InsufficientBalance,
    NotFound,
    RateLimited,
    Unavailable,
)
FINAL = {"sent", "delivered", "undelivered", "failed", "canceled"}


class Customers:
    """Who uses the engine, in one life of it."""

    def __init__(self, world, engine, organizations):
        self.world = world
        self.gateway = engine.gateway
        self.organizations = organizations
        self.random = world.random

    async def run(self):
        errands = (
            *[self.send] * 3,
            *[self.verify] * 2,
            *(self.batch, self.cancel, self.top_up, self.suspend, self.gate),
        )
        for _ in range(ERRANDS):
            await trio.sleep(self.random.choice((0, 0, 0.01, 0.3, 3)))
            errand = self.random.choice(errands)
            with suppress(*REFUSED):
                await errand(self.random.choice(self.organizations))

    def message(self) -> SendMessage:
        choose = self.random.choice
        return SendMessage(
            to=f"+2223{self.random.randrange(10**7):07}",
            body=choose(TEXTS),
            idempotency_key=choose((None, f"key {self.random.randrange(30)}")),
            send_at=choose((None, None, self.now_ms() + self.random.randrange(60_000))),
            validity_s=choose((60, 300, 900)),
        )

    def now_ms(self) -> int:
        return self.gateway.services.recorder.clock.now_ms()

    async def send(self, organization_id):
        command = self.message()
        response = await self.gateway.send_message(self.world.principal(organization_id), command)
        self._told(organization_id, response, command.idempotency_key)

    def _told(self, organization_id, response, key=None):
        key = key or json.loads(response)["idempotencyKey"]
        self.world.answer(organization_id, key, response)

    async def batch(self, organization_id):
        commands = [self.message() for _ in range(self.random.randrange(1, 6))]
        answers = await self.gateway.send_batch(self.world.principal(organization_id), commands)
        for command, answer in zip(commands, answers, strict=True):
            if not isinstance(answer, Refusal):
                self._told(organization_id, answer, command.idempotency_key)

    async def verify(self, organization_id):
        principal = self.world.principal(organization_id)
        to = f"+2224{self.random.randrange(10**7):07}"
        session = await self.gateway.send_code(principal, SendCode(to))
        for _ in range(self.random.randrange(7)):
            await trio.sleep(self.random.choice((0, 0.1, 4, 20)))
            code = self.world.codes.get(to) if self.random.random() < 0.4 else "000000"
            good = await self.gateway.check_code(principal, session, code or "111111")
            if not self.world.dead:
                self.world.guesses[session] += not good
                self.world.approved[session] += good

    async def cancel(self, _):
        if self.world.accepted:
            message_id = self.random.choice([*self.world.accepted])
            await self.gateway.perform("message.cancel", {"message_id": message_id})

    async def top_up(self, organization_id):
        arguments = {"organization_id": organization_id, "amount": "7.50"}
        await self.gateway.perform("topup", arguments)

    async def suspend(self, organization_id):
        arguments = {"organization_id": organization_id}
        await self.gateway.perform("org.suspend", arguments)
        await trio.sleep(self.random.choice((0, 1)))
        await self.gateway.perform("org.resume", arguments)

    async def gate(self, _):
        carrier = {"carrier": self.random.choice(self.world.carriers).name}
        await self.gateway.perform(
            self.random.choice(("carriers.pause", "carriers.drain")), carrier
        )
        await trio.sleep(self.random.choice((0, 2)))
        await self.gateway.perform("carriers.resume", carrier)


async def live(world, organizations):
    """One life: customers at their errands until they are done, or the process is killed."""
    async with world.mortal_engine(world.random.randrange(*STEPS)) as engine:
        for organization_id in organizations:
            await engine.gateway.perform("org.resume", {"organization_id": organization_id})
        async with trio.open_nursery() as nursery:

            async def end_when_dead():
                await world.wait_dead()
                nursery.cancel_scope.cancel()

            nursery.start_soon(end_when_dead)
            async with trio.open_nursery() as customers:
                for _ in range(3):
                    customers.start_soon(Customers(world, engine, organizations).run)
            nursery.cancel_scope.cancel()


async def rest(world, organizations):
    """The last life: kind carriers, nobody is killed, and time for everything to end."""
    for carrier in world.carriers:
        carrier.kind = True  # and brings what it has in the post
    async with world.engine() as engine:
        for organization_id in organizations:
            await engine.gateway.perform("org.resume", {"organization_id": organization_id})
        await trio.sleep(1200)


async def found(world):
    async with world.engine() as engine:
        made = [await engine.gateway.perform("org.create", {"name": n}) for n in ("one", "two")]
        for organization in made:
            arguments = {"organization_id": organization["id"], "amount": "40"}
            await engine.gateway.perform("topup", arguments)
    return [organization["id"] for organization in made]


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    [n if n < FEW else pytest.param(n, marks=pytest.mark.long) for n in range(WORLDS)],
)
async def test_nothing_is_lost_doubled_or_mischarged(new_world, autojump_clock, seed):
    world = new_world(seed)
    organizations = await found(world)
    for _ in range(LIVES):
        await live(world, organizations)
    await rest(world, organizations)
    assert audit_file(world.folder / DATABASE).faults == ()
    conn = sqlite3.connect(world.folder / DATABASE)
    conn.row_factory = sqlite3.Row
    try:
        for check in (check_messages, check_copies, check_events, check_sessions):
            check(world, conn)
    finally:
        conn.close()


def check_messages(world, conn):
    rows = {row["id"]: row for row in conn.execute("SELECT * FROM messages")}
    assert set(world.accepted) <= set(rows), "a message that was answered for is gone"
    for (organization_id, key), response in world.told.items():
        assert known_answer(conn, organization_id, "live", key) == response
    for row in rows.values():
        assert row["status"] in FINAL, f"{row['id']} hangs in {row['status']}"


def check_copies(world, conn):
    taken = world.copies()
    for row in conn.execute("SELECT id, status, segments, error_code FROM messages"):
        copies = taken.pop(row["id"], {})
        told = [sentence(entry) for entry in timeline.read(conn, row["id"])]
        again = sum("may arrive twice" in text for text in told)
        for number, each in copies.items():
            assert 1 <= number <= row["segments"]
            assert len(each) <= 1 + again, f"{row['id']} was sent twice in silence: {told}"
            assert len(each) <= COPIES_MAX, f"{row['id']} was sent without end: {told}"
        if row["status"] in ("sent", "delivered", "undelivered"):
            assert set(copies) == set(range(1, row["segments"] + 1)), f"{row['id']} never left"
        if row["status"] == "delivered":
            assert all(any(c.state == "DELIVERED" for c in each) for each in copies.values())
        if row["status"] == "sent" and not again:
            states = [c.state for each in copies.values() for c in each]
            assert None in states, f"every receipt of {row['id']} came, and was not used: {told}"
        if row["status"] == "canceled" and not again:
            assert not copies, f"{row['id']} was withdrawn and sent: {told}"
        if row["status"] == "failed" and row["segments"] == 1 and not again:
            assert not copies or row["error_code"] == "UNCERTAIN", f"{row['id']}: {told}"
    assert not taken, "a carrier has what was never stored"


def check_events(world, conn):
    events = told_bodies(conn)
    of: dict[str, list[str]] = {}
    for event in events:
        if "messageId" in event:
            of.setdefault(event["messageId"], []).append(event["type"])
    for row in conn.execute("SELECT id, status, kind FROM messages"):
        types = of.get(row["id"], [])
        if row["kind"] == "code":
            assert types == []
            continue
        expected = {
            "sent": ["sms.sent"],
            "delivered": ["sms.sent", "sms.delivered"],
            "undelivered": ["sms.sent", "sms.failed"],
            "failed": ["sms.failed"],
            "canceled": [],
        }[row["status"]]
        assert types == expected, f"{row['id']} is {row['status']}"


def check_sessions(world, conn):
    for row in conn.execute("SELECT * FROM verifications"):
        assert row["status"] != "pending"
        assert world.approved[row["id"]] <= 1
        if world.approved[row["id"]]:
            assert row["status"] == "approved"
        assert row["attempts"] <= row["attempts_max"]
