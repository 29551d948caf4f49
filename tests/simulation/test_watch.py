"""What looks at every transaction sees each wrong one: a look that is blind finds nothing."""

from __future__ import annotations

import pytest
import trio
from tests.simulation import machine
from tests.simulation.answering import OURS
from tests.simulation.house import OPERATOR, found

from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.numbers import STATUSES
from risala.plugins.contract import Inbound

LAST = "seq = (SELECT max(seq) FROM entry)"
SENT, DELIVERED = STATUSES.number("sent"), STATUSES.number("delivered")
WRONG = {
    # First: the events of what is forgotten may be gone.
    "LOST: event ": ("DELETE FROM event WHERE typeof(subject) = 'integer'",),
    "went from delivered to sent": (
        f"UPDATE message SET status = {DELIVERED}",
        f"UPDATE message SET status = {SENT}",
    ),
    "attempts: ": ("UPDATE message SET attempts = attempts - 1",),
    "went from expired to pending": (
        "UPDATE verifications SET status = 'expired'",
        "UPDATE verifications SET status = 'pending'",
    ),
    "guesses: ": ("UPDATE verifications SET attempts = attempts_max + 1",),
    "went from refused to begun": (
        "UPDATE payments SET state = 'refused'",
        "UPDATE payments SET state = 'begun'",
    ),
    "an entry of -5 after": (
        "INSERT INTO entry (organization, kind, amount, balance_after)"
        f" SELECT organization, kind, -5, balance_after FROM entry WHERE {LAST}",
    ),
    "changed entry: ": (f"UPDATE entry SET amount = amount + 1 WHERE {LAST}",),
    "lost entry: ": (f"DELETE FROM entry WHERE {LAST}",),
    "cursor: ": ("UPDATE event_cursors SET seq = seq - 1 WHERE seq > 0",),
    "LOST: the number of sms_": ("UPDATE message SET recipient = 'forgotten'",),
    "LOST: the number of ver_": ("UPDATE verifications SET recipient = 'forgotten'",),
    "LOST: mo_": ("DELETE FROM inbound",),
    "of nobody, which nobody wanted to go": ("DELETE FROM event WHERE type NOT IN (0, 1, 2, 6)",),
    "has 0, its ledger": (
        "UPDATE organizations SET balance = 0;"
        "INSERT INTO entry (organization, kind, amount, balance_after)"
        f" SELECT organization, kind, 0, balance_after FROM entry WHERE {LAST}",
    ),
}
"""What is told of it, and of nothing before it, and how it comes about: each text is one
transaction."""


async def lived(world, engine):
    """There is one of everything that can be wrong."""
    house = await found(world, engine)
    principal = world.principal(house.organizations[0])
    await engine.gateway.send_message(principal, SendMessage(to="+22230000001", body="hello"))
    await engine.gateway.send_code(principal, SendCode("+22240000001"))
    given = {"organization_id": house.organizations[0], "method": "bankily", "amount": "5"}
    await engine.gateway.perform("payment.begin", given, OPERATOR)
    for carrier in world.carriers:
        carrier.kind = True
    letter = Inbound("+22230000001", OURS, "hello", world.now_ms(), ("in1",))
    world.carriers[0].bring(letter, 0)
    await trio.sleep(60)


async def test_each_wrong_transaction_is_told(new_world, autojump_clock):
    world = new_world(1)
    said, blind = [], []
    with machine.no_threads():
        async with world.engine() as engine:
            await lived(world, engine)
            assert world.faults == []
            for told, texts in WRONG.items():
                for text in texts:
                    said += world.faults
                    world.faults.clear()
                    await engine.gateway.services.recorder.journal.commit(
                        lambda conn, text=text: [conn.execute(each) for each in text.split(";")]
                    )
                is_told = any(told in fault for fault in world.faults)
                if not is_told or any(told in fault for fault in said):
                    blind.append((told, world.faults[:]))
    assert blind == []


async def test_what_is_rolled_back_was_never_wrong(new_world, autojump_clock):
    world = new_world(1)

    def refused(conn):
        conn.execute(WRONG["an entry of -5 after"][0].replace("-5", "0"))
        raise ZeroDivisionError

    with machine.no_threads():
        async with world.engine() as engine:
            await lived(world, engine)
            with pytest.raises(ZeroDivisionError):
                await engine.gateway.services.recorder.journal.commit(refused)
            await engine.gateway.perform(
                "topup",
                {"organization_id": _one(engine), "amount": "1"},
                OPERATOR,
            )
    assert world.faults == []


def _one(engine):
    return engine.gateway.services.repositories._store.reader.execute(
        "SELECT id FROM organizations"
    ).fetchone()[0]
