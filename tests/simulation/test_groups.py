"""Kills in the middle of groups: between lease, sync, submit, answer and receipt.

What a carrier has taken was on the disk before; what it was told that we have is on the disk. So
the disk of the very instant of a kill is looked at, and what becomes of it in the next lives.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest
import trio
from tests.simulation.checks.standby import Standby

from risala.engine.journal import carriers
from risala.engine.journal.audit.books import audit_file
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.lines import Kind
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.wiring.foundation import DATABASE
from risala.plugins.contract import (
    Accepted,
    Capabilities,
    Health,
    HealthState,
    NotStoredError,
    Receipt,
    ReceiptState,
    Unsent,
)

WORLDS = int(os.environ.get("RISALA_WORLDS", "12"))
FEW = 2
"""Of these, what `make test` plays too."""
LIVES = 6
MESSAGES = 60
WINDOW = 16
STEPS = (20, 1500)
"""Of tasks, between a start and its kill."""
MOMENTS = ("post", "taken", "answer", "stored")
"""Other ends of a life: at the so-manieth of them."""
TURN_S = 0.01
"""The carrier answers, and delivers, what has gathered for so long."""
IDLE_S = 0.5
REST_S = 400.0
"""Longer than any uncertainty, resent as often as may be."""
WORD = "stat:DELIVRD"
COPIES_MAX = 3
"""Of a segment: as ``delivery.uncertain_submits_max`` is unless it is set."""


class Office:
    """What the carrier knows; it outlives the kills."""

    def __init__(self, world):
        self.world = world
        self.dice = world.plan.stream("office")
        self.taken = {}
        """By the carrier's id: the message."""
        self.undelivered = {}
        """Receipts that nobody has acknowledged, by id."""
        self.acknowledged = set()
        self.moment, self.left = None, 0

    def arm(self):
        """This life ends by a kill at some moment."""
        self.moment = self.dice.choice(MOMENTS)
        self.left = self.dice.randrange(1, 2 * WINDOW)

    def reach(self, moment):
        """True where the process has died, now or before."""
        if moment == self.moment:
            self.left -= 1
            if self.left == 0:
                self.world.die("kills-at-moments")
        return self.world.dead

    def take(self, segment):
        carrier_id = f"c{len(self.taken)}"
        self.taken[carrier_id] = segment.message_id
        # It names the submit, so that it finds one whose answer was lost with a kill.
        receipt = Receipt(
            carrier_id,
            ReceiptState.DELIVERED,
            WORD,
            recipient=segment.recipient,
            reference=segment.submit_reference,
        )
        self.undelivered[carrier_id] = receipt
        return carrier_id


OFFICES = {}


class GroupLine:
    """Answers and delivers in groups, as a link does that reads many PDUs at once."""

    capabilities = Capabilities(
        alphanumeric_sender=True,
        receipts=True,
        inbound=False,
        query=False,
        validity=True,
        window_max=WINDOW,
    )

    def __init__(self, carrier):
        self._office = OFFICES[carrier.world.plan.seed]
        self._life, self._world = carrier.world.life, carrier.world
        self._due, self._under_way = [], set()

    @property
    def cut(self):
        return self._world.dead or self._world.life != self._life

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        task_status.started()
        context.health(Health(HealthState.UP, "Up."))
        while True:
            idle = not self._due and not self._office.undelivered
            await trio.sleep(IDLE_S if idle else TURN_S)
            due, self._due = self._due, []
            for carrier_id, answered in due:
                if self.cut or self._office.reach("answer"):
                    break
                answered(Accepted(carrier_id))
            for carrier_id, receipt in list(self._office.undelivered.items()):
                if self.cut:
                    break
                if carrier_id not in self._under_way and self._office.dice.random() < 0.5:
                    self._bring(context, carrier_id, receipt)

    def _bring(self, context, carrier_id, receipt):
        def stored(is_stored):
            self._under_way.discard(carrier_id)
            # A kill before our answer leaves: the carrier brings it again.
            if is_stored and not self.cut and not self._office.reach("stored"):
                self._office.undelivered.pop(carrier_id, None)
                self._office.acknowledged.add(carrier_id)

        self._under_way.add(carrier_id)
        try:
            context.receipt_soon(receipt, stored)
        except NotStoredError:
            self._under_way.discard(carrier_id)

    def post(self, segment, answered):
        if self.cut or self._office.reach("post"):
            answered(Unsent("the process is gone"))
            return
        self._due.append((self._office.take(segment), answered))
        self._office.reach("taken")

    async def submit(self, segment):
        raise AssertionError("who can be posted to is never asked to submit")

    async def query(self, carrier_id, *, sender):
        return None


@pytest.fixture
def world(new_world, request):
    world = new_world(request.param)
    world.standby = Standby(world)  # no answer waits for another machine
    world.line = GroupLine
    # Of the two the one fails what is uncertain, the other sends it again.
    world.carriers = [world.plan.stream("carriers").choice(world.carriers)]
    world.carriers[0].rate_per_s = 100_000.0
    world.channels = []  # its line would bring the carrier's receipts as its own
    OFFICES[world.plan.seed] = Office(world)
    yield world
    del OFFICES[world.plan.seed]


def look(world, office):
    """The disk as the kill left it, against what the carrier saw until then."""
    with closing(sqlite3.connect(world.folder / DATABASE)) as conn:
        for carrier_id, message_id in office.taken.items():
            (leases,) = conn.execute(
                "SELECT count(*) FROM timeline WHERE message_id = ? AND kind = ?",
                (message_id, Kind.ATTEMPT.value),
            ).fetchone()
            copies = sum(1 for one in office.taken.values() if one == message_id)
            assert leases >= copies, f"{carrier_id} left before its lease was on disk"
        for carrier_id in office.acknowledged:
            (known,) = conn.execute(
                "SELECT (SELECT count(*) FROM timeline WHERE message_id = ? AND raw = ?)"
                " + (SELECT count(*) FROM held_receipts WHERE carrier_id = ?)",
                (office.taken[carrier_id], WORD, carrier_id),
            ).fetchone()
            assert known, f"{carrier_id} was acknowledged, and is not on disk"


async def queue(world):
    async with world.engine() as engine:
        made = await engine.gateway.perform("org.create", {"name": "one"})
        arguments = {"organization_id": made["id"], "amount": "1000"}
        await engine.gateway.perform("topup", arguments)
        name = world.carriers[0].name
        await engine.gateway.perform("carriers.pause", {"carrier": name})
        principal = Principal(made["id"], "key", KeyType.SECRET, Mode.LIVE)
        commands = [SendMessage(to=f"+2223612{n:04}", body="hello") for n in range(MESSAGES)]
        await engine.gateway.send_batch(principal, commands)
        # The next life sends what waits: on the disk the carrier is open again.
        journal = engine.gateway.services.recorder.journal
        await journal.commit(lambda conn: carriers.open_gate(conn, name))


@pytest.mark.slow
@pytest.mark.parametrize(
    "world",
    [n if n < FEW else pytest.param(n, marks=pytest.mark.long) for n in range(WORLDS)],
    indirect=True,
)
async def test_a_kill_within_a_group_loses_and_doubles_nothing(world, autojump_clock):
    office = OFFICES[world.plan.seed]
    await queue(world)
    for _ in range(LIVES):
        by_steps = office.dice.random() < 0.5
        office.moment = None
        if not by_steps:
            office.arm()
        steps = office.dice.randrange(*STEPS) if by_steps else 1_000_000
        async with world.mortal_engine(steps):
            with trio.move_on_after(office.dice.uniform(1, 60)):
                await world.wait_dead()
        look(world, office)
    office.moment = None
    async with world.engine():
        await trio.sleep(REST_S)
    look(world, office)
    assert audit_file(world.folder / DATABASE).faults == ()
    assert office.undelivered == {}
    with closing(sqlite3.connect(world.folder / DATABASE)) as conn:
        rows = conn.execute(
            "SELECT id, status, (SELECT count(*) FROM timeline WHERE message_id = id AND raw = ?)"
            " FROM messages",
            (WORD,),
        ).fetchall()
    taken = list(office.taken.values())
    assert len(rows) == MESSAGES
    for message_id, status, told in rows:
        # One whose receipt came only after its carrier's policy had ended it says so.
        assert status in ("delivered", "failed")
        assert bool(told) == (message_id in taken), message_id
        assert status == "failed" or message_id in taken
        assert taken.count(message_id) <= COPIES_MAX
