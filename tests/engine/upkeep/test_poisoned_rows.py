"""Rows that break what reads them: each is named, and the loops go on with all others."""

from __future__ import annotations

import pytest
import trio
from structlog.testing import capture_logs
from tests.support.poison import POISONS, erasure, mail

from risala.config.alerts import AlertsSection
from risala.engine.actors.set_aside import AGAIN_FIRST_S
from risala.engine.model.commands import SendMessage
from risala.engine.rules.webhooks.schedule import ReceiverAnswer
from risala.engine.wiring.connections import Connections

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

    def unit(conn, organization):
        found = {
            (each.loop, str(each.plant(conn, organization, f"{name}_{number}"))): each
            for number, each in enumerate(POISONS)
        }
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
            mine = house.principal.organization_id
            found, whole = await journal.commit(lambda conn: plant(conn, mine))
            await trio.sleep(LOOK_S)
            now = {key for key, each in found.items() if not each.by_start}
            assert now - set_aside(house) == set()
        async with open_house(outside=OUTSIDE, alerts=ALERTS) as house:
            await trio.sleep(LOOK_S)
            assert found.keys() - set_aside(house) == set()
            stored = house.gateway.services.repositories
            assert whole not in [each.seq for each in stored.mails.due(99, lambda *_: None)]
            assert stored.erasures.find("ers_whole").ended_at is not None
            await trio.sleep(AGAIN_FIRST_S)
            assert found.keys() - set_aside(house) == set()
    assert not [line for line in logs if "crash" in line["event"]]
