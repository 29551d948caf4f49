"""Rows that break what reads them: each is named, and the loops go on with all others."""

from __future__ import annotations

import pytest
import trio
from structlog.testing import capture_logs
from tests.support.poison import BROKEN_EVENTS, LARGEST, POISONS, erasure, mail, message

from risala.config.alerts import AlertsSection
from risala.engine.actors.set_aside import AGAIN_FIRST_S, SETTLED_S
from risala.engine.features.own_data.stored.erasing import ErasureRepository
from risala.engine.journal.store import meta
from risala.engine.model.commands import SendMessage
from risala.engine.model.following import OutboxEvent, What
from risala.engine.model.numbers import DELIVERED
from risala.engine.rules.webhooks.schedule import ReceiverAnswer
from risala.engine.wiring.connections import Connections
from risala.plugins.contract import Inbound, NotStoredError

LOOK_S = 400.0
"""The longest that a loop waits before it looks by itself."""


class Receiver:
    """The servers that are called."""

    async def post(self, _):
        return ReceiverAnswer(200, None, "")


OUTSIDE = Connections(outbound=Receiver())
ALERTS = AlertsSection(webhook_url=("https://alerts.example/",))


def planted(name):
    """Writes a row of each kind, and what is whole beside it; the loops and ids that are named."""

    def unit(conn, organization, sender):
        found = {}
        for number, each in enumerate(POISONS):
            # An organization whose messages wait is not erased before they have ended.
            whose = sender if each.table == "message" else organization
            found[each.loop, str(each.plant(conn, whose, f"{name}_{number}"))] = each
        whole = mail(details='{"head": "h", "line": 1}')(conn, organization, "")
        erasure()(conn, organization, "ers_whole")
        return found, whole

    return unit


def set_aside(house):
    statuses = house.gateway.services.set_aside.statuses()
    return {(each.loop, item) for each in statuses for item in each.items}


@pytest.mark.slow
async def test_a_row_that_cannot_be_read_is_named_and_in_nobodys_way(open_house, quick):
    with capture_logs() as logs:
        async with open_house(outside=OUTSIDE, alerts=ALERTS) as house:
            await house.gateway.send_message(house.principal, SendMessage("+22236000001", "Hi"))
            await trio.sleep(5)
            journal = house.gateway.services.recorder.journal
            plant = planted("a")
            mine, sender = house.principal.organization_id, await house.organization()
            await house.send(principal=sender)
            found, whole = await journal.commit(
                lambda conn: plant(conn, mine, sender.organization_id)
            )
            await trio.sleep(LOOK_S)
            now = {key for key, each in found.items() if not each.by_start}
            assert now - set_aside(house) == set()
        async with open_house(outside=OUTSIDE, alerts=ALERTS) as house:
            later = await house.send(principal=sender)  # behind those that cannot be read
            await trio.sleep(LOOK_S)
            assert found.keys() - set_aside(house) == set()
            assert house.status(later) == "sent"
            stored = house.gateway.services.repositories
            assert whole not in [each.seq for each in stored.mails.due(99, 0, lambda *_: None)]
            assert stored.part(ErasureRepository).find("ers_whole").ended_at is not None
            await trio.sleep(AGAIN_FIRST_S)
            assert found.keys() - set_aside(house) == set()
            await trio.sleep(4 * SETTLED_S)  # nobody forgets what is still there
            assert found.keys() - set_aside(house) == set()
    assert not [line for line in logs if "crash" in line["event"]]


async def test_an_event_that_cannot_be_read_is_named_and_its_followers_go_on(open_house, quick):
    """Those who follow the feed now, who come back to it, and who read by a cursor."""
    async with open_house() as house:
        start = house.clock.now_ms()
        mine = house.principal.organization_id

        def plant(conn):
            return [each.plant(conn, mine, f"event_{n}") for n, each in enumerate(BROKEN_EVENTS)]

        with house.gateway.follow(What.EVENTS, None, None) as now:
            await house.send()
            before = await first_event(now)  # what is planted has a place behind it
            cursor = await house.engine.cursors.open("test:consumer")
            keys = await house.gateway.services.recorder.journal.commit(plant)
            sent = await house.send()
            told = await first_event(now)
        with house.gateway.follow(What.EVENTS, None, str(start)) as back:
            assert [await first_event(back) for _ in range(2)] == [before, told]
        assert [each.body for each in await cursor.next(10)] == [told]
        assert sent in told
        assert {("feed", str(each)) for each in keys} == set_aside(house)


async def first_event(follower):
    while not isinstance(told := await anext(follower), OutboxEvent):
        pass
    return told.body


async def test_who_wrote_last_is_found_behind_a_message_that_cannot_be_read(open_house, quick):
    async with open_house() as house:
        mine = house.principal.organization_id
        await house.send()
        await trio.sleep(1)
        plant = message(mode=LARGEST, status=DELIVERED)
        journal = house.gateway.services.recorder.journal
        await journal.commit(lambda conn: plant(conn, mine, "broken"))
        await house.gateway.perform("inbound.opt_outs", {"organization_id": mine, "heeds": True})
        await trio.sleep(1)
        reader = house.gateway.services.repositories._store.reader
        (key,) = reader.execute("SELECT key FROM message WHERE mode = ?", (LARGEST,)).fetchone()
        assert set_aside(house) == {("opt_outs", str(key))}
        assert reader.execute("SELECT recipient FROM last_writers").fetchall() == [
            ("+22236123456",)
        ]
        assert meta.get(reader, "opt_outs.look_back") is None


@pytest.mark.parametrize(
    "broken",
    [{"text": "half \ud800"}, {"received_at_ms": 2**70}, {"carrier_ids": ("\udfff",)}],
    ids=["text", "time", "id"],
)
async def test_a_text_that_cannot_be_stored_ends_no_link(open_house, quick, broken):
    whole = {"sender": "+22236123456", "recipient": None, "text": "Hi", "received_at_ms": 0}
    async with open_house() as house:
        with pytest.raises(NotStoredError):
            await house.driver.context.inbound(Inbound(**{**whole, **broken}))
        ((loop, named),) = set_aside(house)
        assert loop == "inbound"
        assert named.isascii()
        await house.driver.context.inbound(Inbound(**whole))
