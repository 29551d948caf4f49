"""What is said of a number's deletion is true, and a deletion that leaves something is told."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
import trio
from tests.simulation import machine
from tests.simulation.answering import OURS
from tests.simulation.house import found

from risala.engine.features.own_data.records import ErasureStep
from risala.engine.features.own_data.stored import erasing
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.wiring.foundation import DATABASE
from risala.plugins.contract import Inbound

NUMBER = "+22230000001"


async def forgotten(world, engine):
    """All that there can be of a number is there, and its owner wants it gone."""
    house = await found(world, engine)
    organization_id = house.organizations[0]
    principal = world.principal(organization_id)
    for carrier in world.carriers:
        carrier.kind = True
    await engine.gateway.send_message(principal, SendMessage(to=NUMBER, body="hello"))
    await engine.gateway.send_code(principal, SendCode(NUMBER))
    world.carriers[0].bring(Inbound(NUMBER, OURS, "hello", world.now_ms(), ("in1",)), 0)
    await trio.sleep(60)
    world.erased.wishes.add((house.numbers[organization_id], NUMBER))
    given = {"organization_id": organization_id, "number": NUMBER}
    owner = house.owner(organization_id)
    made = await engine.gateway.perform("number.forget", given, owner)
    world.erased.told[made["id"]] = (organization_id, NUMBER)
    await trio.sleep(600)


LEFT = {
    None: [],
    ErasureStep.EVENTS: ["event "],
    ErasureStep.INBOUND: ["mo_"],
    ErasureStep.SESSIONS: ["ver_"],
    ErasureStep.MESSAGES: ["sms_"],
}
FEW = (None, ErasureStep.MESSAGES)
"""What `make test` leaves out too."""


@pytest.mark.parametrize(
    "left_out",
    [each if each in FEW else pytest.param(each, marks=pytest.mark.long) for each in LEFT],
)
async def test_what_is_left_is_told(new_world, autojump_clock, monkeypatch, left_out):
    if left_out is not None:
        done = erasing._Stepped({}, "", done=True)
        monkeypatch.setattr(erasing, "_WORK", {**erasing._WORK, left_out: lambda *_: done})
    world = new_world(1)
    with machine.no_threads():
        async with world.engine() as engine:
            await forgotten(world, engine)
    with closing(sqlite3.connect(world.folder / DATABASE)) as conn:
        conn.row_factory = sqlite3.Row
        faults = [*world.faults, *world.erased.faults(conn)]
    assert bool(faults) == bool(LEFT[left_out]), faults
    assert all(any(what in fault for fault in faults) for what in LEFT[left_out]), faults
