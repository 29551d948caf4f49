"""The whole service at a glance, and the facts of its machine."""

from pathlib import Path

import pytest
import trio

from risala import __version__
from risala.engine.journal.recorder import MINUTES_EVERY_S
from risala.engine.journal.store.schema.migrations import known
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Forbidden, Invalid
from risala.engine.wiring.connections import Connections

OPERATOR = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)


def do(house, name, /, **arguments):
    return house.gateway.perform(name, arguments, OPERATOR)


FILE = Path("/etc/risala.toml")


@pytest.fixture
async def house(open_house):
    async with open_house(outside=Connections(settings_file=FILE)) as opened:
        yield opened


async def test_live_messages_are_counted_as_they_go(house, autojump_clock):
    lines = [await house.send() for _ in range(3)]
    await house.gateway.perform("verify.send", {**mine(house), "to": "+22236123456"})
    test = {**mine(house), "to": "+22236123400", "body": "x", "mode": "test"}
    await house.gateway.perform("send", test)
    later = {**mine(house), "to": "+22236123456", "body": "x", "send_at": "2026-01-02T00:00:00Z"}
    held = await house.gateway.perform("send", later)
    await do(house, "message.cancel", message_id=held["messageId"])
    for each in lines:
        await house.wait_status(each, "sent")
    found = await do(house, "console.overview")
    assert found["lastHour"]["accepted"] == found["today"]["accepted"] == 5
    assert found["lastHour"]["canceled"] == 1
    assert len(found["series"]) == 60
    assert sum(each["accepted"] for each in found["series"]) == 5
    hours = await do(house, "console.overview", by="hour", count=3)
    assert [each["accepted"] for each in hours["series"]] == [0, 0, 5]
    assert hours["series"][-1]["at"] == "2026-01-01T00:00:00.000Z"


def mine(house):
    return {"organization_id": house.principal.organization_id}


async def test_counts_outlive_a_restart(open_house, autojump_clock):
    async with open_house() as house:
        await house.send()
        await trio.sleep(MINUTES_EVERY_S + 1)
        assert house.gateway.services.recorder.minutes.take() == ({}, {})
        await house.send()
    async with open_house() as house:
        found = await do(house, "console.overview")
    assert found["today"]["accepted"] == 2


async def test_what_waits_and_what_is_behind_is_told(house, autojump_clock):
    found = await do(house, "console.overview")
    assert found["webhooks"] == {"behind": 0, "isCut": False, "endpoints": 0, "oldestAt": None}
    assert found["mails"] == {"waiting": 0, "failing": 0, "oldestAt": None}
    assert found["unserved"] == {"messages": 0, "prefixes": []}
    assert (found["failures"], found["decide"]) == (
        [],
        {"senders": 0, "payments": 0, "approvals": 0},
    )
    hook = {**mine(house), "url": "https://example.com/hook", "types": ["sms.sent"]}
    await house.gateway.perform("webhook.create", hook)
    await house.wait_status(await house.send(), "sent")
    await trio.sleep(120)
    found = await do(house, "console.overview")
    assert (found["webhooks"]["behind"], found["webhooks"]["endpoints"]) == (1, 1)


async def test_the_machine_is_told_by_facts(house, autojump_clock, tmp_path):
    await trio.sleep(100)
    found = await do(house, "system.show")
    assert (found["version"], found["schema"][:4]) == (__version__, known()[-1][:4])
    assert found["uptimeS"] == 100
    assert found["settingsFile"] == str(FILE)
    assert found["dataDir"] == str(tmp_path)
    assert found["databaseBytes"] > 0
    assert 0 < found["diskFreeBytes"] <= found["diskTotalBytes"]
    assert found["backup"] is None
    assert found["clock"]["ok"]
    assert found["lastUpkeepAt"] is not None


async def test_both_leave_no_line_and_are_for_operators_alone(house, autojump_clock):
    before = len((await do(house, "audit.list", **mine(house)))["lines"])
    for name in ("console.overview", "system.show"):
        await do(house, name)
        member = Caller("m", CallerKind.DASHBOARD, Role.OWNER, house.principal.organization_id)
        with pytest.raises(Forbidden):
            await house.gateway.perform(name, {}, member)
    assert len((await do(house, "audit.list", **mine(house)))["lines"]) == before
    with pytest.raises(Invalid, match="hour"):
        await do(house, "console.overview", by="day")
