"""What callers said of codes goes: with its number, with its organization, after thirty days."""

from __future__ import annotations

from dataclasses import asdict

import pytest
import trio

from patience import until_true
from risala.engine.features.own_data.retention import DAY_MS, rules
from risala.engine.features.session_details import stored
from risala.engine.model.commands import SendCode
from risala.engine.model.feature_work import WalkKind

NUMBER, OTHER = "+22236123456", "+22222999888"
SAID = {"clientIp": "203.0.113.9", "userAgent": "Firefox/133", "tags": ["web"]}


def count(house) -> int:
    reader = house.gateway.services.repositories._store.reader
    return reader.execute("SELECT count(*) FROM session_details").fetchone()[0]


async def send(house, to: str = NUMBER, principal=None) -> str:
    command = SendCode(to, beside=SAID)
    return await house.gateway.send_code(principal or house.principal, command)


@pytest.fixture
async def house(open_house, autojump_clock):
    async with open_house() as house:
        yield house


async def test_it_goes_with_its_number(house, autojump_clock):
    second = await house.organization()
    for _ in range(3):
        await send(house)
    await send(house, OTHER)
    await send(house, principal=second)
    mine = {"organization_id": house.principal.organization_id}
    await house.gateway.perform("number.forget", {"number": NUMBER, **mine})
    await until_true(lambda: count(house) == 2)


async def test_old_ones_go_a_few_at_a_time_and_later_ones_stay(house, autojump_clock):
    for _ in range(3):
        await send(house)
    await trio.sleep(1)
    services = house.gateway.services
    later = services.recorder.clock.now_ms()
    session = await send(house)
    (walk,) = (
        each
        for rule in rules(services.settings.retention)
        for each in rule.walks
        if each.kind is WalkKind.SESSION_DETAILS
    )
    assert walk.age_ms == 30 * DAY_MS

    def forget(conn):
        return [asdict(stored.forget_old(conn, walk, later, 2)) for _ in range(2)]

    forgot = await services.recorder.journal.commit(forget)
    assert [(each["rows"], each["done"]) for each in forgot] == [(2, False), (1, True)]
    assert house.gateway.get_verification(house.principal, session).details == {"tags": ["web"]}
    assert count(house) == 1


async def test_of_a_session_whose_details_are_gone_nothing_is_told(house, autojump_clock):
    session = await send(house)
    journal = house.gateway.services.recorder.journal
    await journal.commit(lambda conn: conn.execute("DELETE FROM session_details"))
    assert house.gateway.get_verification(house.principal, session).details == {}


async def test_an_owner_takes_it_along(house, autojump_clock):
    sessions = sorted([await send(house), await send(house, OTHER)])
    reader, whose = house.gateway.services.repositories._store.reader, house.principal
    first = stored.export(reader, whose.organization_id, "", 1)
    second = stored.export(reader, whose.organization_id, first.last, 1)
    rows = [*first.rows, *second.rows]
    assert [each["verificationId"] for each in rows] == sessions
    assert {tuple(each["tags"]) for each in rows} == {("web",)}
    assert "203.0.113" not in rows[0]["clientMark"]
    assert stored.export(reader, whose.organization_id, second.last, 1).rows == []


async def test_a_deleted_organization_s_goes_a_few_at_a_time(house, autojump_clock):
    for _ in range(3):
        await send(house)
    second = await house.organization()
    await send(house, principal=second)

    def clear(conn):
        mine = house.principal.organization_id
        return [asdict(stored.clear(conn, 2, mine)) for _ in range(2)]

    cleared = await house.gateway.services.recorder.journal.commit(clear)
    assert [(each["rows"], each["done"]) for each in cleared] == [(2, False), (1, True)]
    assert count(house) == 1
