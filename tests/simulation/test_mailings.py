"""What is told of mailings at the end of a history is true, and what is wrong with one is told."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace

import pytest
import trio
from tests.simulation import machine
from tests.simulation.checks import mailings
from tests.simulation.house import found
from tests.simulation.people.mailers import Mailers

from risala.engine.model.errors import EngineError
from risala.engine.wiring.foundation import DATABASE

MAILINGS = 4
SENT = "(SELECT mailing FROM mailing_rows WHERE state = 3 GROUP BY 1 HAVING count(*) > 1 LIMIT 1)"
"""A mailing that two people have got."""
FIRST = f"(SELECT min(row) FROM mailing_rows WHERE mailing = {SENT} AND state = 3)"
ROW = f"mailing = {SENT} AND row = {FIRST}"
MESSAGE = f"key = (SELECT message FROM mailing_rows WHERE {ROW})"
WRONG = {
    "is not noted": (f"UPDATE mailing_rows SET state = 0 WHERE {ROW}", "is ready, and has a mess"),
    "has none": (f"UPDATE message SET client_key = NULL WHERE {MESSAGE}", "accepted, and has no"),
    "is another's": (f"UPDATE mailing_rows SET message = 1 WHERE {ROW}", "names another message"),
    "is dearer": (f"UPDATE message SET price = price + 1 WHERE {MESSAGE}", "MISCHARGED"),
    "is free": (f"UPDATE message SET charge = NULL WHERE {MESSAGE}", "was not charged"),
    "has no row": (f"DELETE FROM mailing_rows WHERE {ROW}", "of rows that it does not have"),
    "is not counted": (f"UPDATE mailings SET accepted = 0 WHERE key = {SENT}", "and says"),
    "is summed up wrongly": (
        f"UPDATE mailings SET price = 1 WHERE key = {SENT}",
        "price, and says",
    ),
    "hangs": (f"UPDATE mailings SET state = 'sending' WHERE key = {SENT}", "hangs"),
    "is gone": (f"UPDATE mailings SET id = 'mlg_other' WHERE key = {SENT}", "was made"),
}
"""By what is wrong with a message, a row or a mailing: how, and what is told."""


async def sent(world):
    """Some mailings are made, and come to their end."""
    with machine.no_threads():
        async with world.engine() as engine:
            await send(world, engine)


async def send(world, engine):
    house = await found(world, engine)
    for carrier in world.carriers:
        carrier.kind = True
    person = Mailers(world, engine, house, "somebody")
    for _ in range(MAILINGS):
        with suppress(EngineError):
            await person.make_mailing()
    await trio.sleep(900)
    for mailing_id in world.mailings.told:
        with suppress(EngineError):
            await engine.gateway.perform("mailing.go_on", {"mailing_id": mailing_id})
    await trio.sleep(900)


def told(world):
    with closing(sqlite3.connect(world.folder / DATABASE)) as conn:
        conn.row_factory = sqlite3.Row
        return [*world.faults, *mailings.faults(world, None, conn)]


@pytest.mark.slow
async def test_what_is_wrong_with_a_mailing_is_told(new_world, autojump_clock):
    world = new_world(1)
    await sent(world)
    assert told(world) == []
    path = world.folder / DATABASE
    whole = path.read_bytes()
    for what, (statement, expected) in WRONG.items():
        with closing(sqlite3.connect(path)) as conn:
            conn.execute("PRAGMA foreign_keys = off")
            assert conn.execute(statement).rowcount == 1, what
            conn.commit()
        found_ = told(world)
        assert any(expected in each for each in found_), (what, found_)
        path.write_bytes(whole)


@pytest.mark.slow
async def test_a_person_who_gets_two_texts_is_told(new_world, autojump_clock):
    world = new_world(2)
    await sent(world)
    first, *_, last = [copy for carrier in world.carriers for copy in carrier.taken]
    number = first.segment.recipient
    last.segment = replace(last.segment, text=first.segment.text, recipient=number)
    assert any("DOUBLED: person" in each for each in told(world)), told(world)
