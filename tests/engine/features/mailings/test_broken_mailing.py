"""A mailing whose rows break the task that stores them holds up no other organization's."""

from __future__ import annotations

import json

import pytest
import trio
from structlog.testing import capture_logs
from tests.engine.features.mailings.people_tables import table

from mailing_book import ON_LOOP, read_on_loop, write_on_loop
from patience import until_true
from risala.engine.features.mailings import checking as mailing_checking
from risala.engine.features.mailings.mailing_sending import MailingSending
from risala.engine.features.mailings.records import MailingState, NewMailing
from risala.engine.features.mailings.service import mailing_service
from risala.engine.features.tables.reading import TableProcesses, table_processes
from risala.engine.model.states import Mode
from risala.engine.upkeep.metrics import render

MARK = b"break"
ROWS = {
    "beyond_64_bits": [10**30, '["x"]', "+22236000001", None, None, 1],
    "not_a_number": [float("nan"), '["x"]', "+22236000001", None, None, 1],
    "a_surrogate": [1, '["x"]', "\ud800", None, None, 1],
    "unknown_fault": [1, '["x"]', None, "no such fault", None, 1],
    "too_short": [1],
    "empty": [],
}


def reads(row):
    """Parts with a reader that writes this row for a file with the mark, as it should not."""

    async def read(request):
        found = await read_on_loop(request)
        if MARK in request.path.read_bytes():
            request.rows_path.write_text(f"{json.dumps(row)}\n")
        return found

    return {table_processes: TableProcesses(read, write_on_loop)}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_a_row_that_breaks_the_task(open_house, quick, row):
    async def drafts(house):
        service = house.gateway.services.part(mailing_service)

        async def new(content):
            mine = house.principal.organization_id
            upload = await service.uploads.keep(mine, content, "people.csv")
            given = {"organization_id": mine, "mode": Mode.LIVE, "upload": upload}
            return await service.create(NewMailing(created_by="a", text="Hello", **given))

        async def checked(mailing_id):
            with trio.fail_after(100):
                while True:
                    if service.mailing(mailing_id).state is not MailingState.CHECKING:
                        return
                    await trio.sleep(0.1)

        return new, checked

    with capture_logs() as logs:
        async with open_house(parts=reads(row)) as house:
            new, checked = await drafts(house)
            broken = await new(MARK + b";36000009\n" + table(1))
            await checked((await new(table(3))).id)
            services = house.gateway.services
            (status,) = (each for each in services.set_aside.statuses() if each.items)
            assert (status.loop, status.items) == ("mailing_rows", (broken.id,))
            await trio.sleep(150)  # alerts are looked for each minute
            (alert,) = (await house.gateway.perform("alert.list", {"open": True}))["alerts"]
            assert alert["kind"] == "item_set_aside"
            assert broken.id in alert["text"]["en"]
            page = render(services, ready=True).decode()
            assert 'risala_items_set_aside{loop="mailing_rows"} 1.0' in page
        async with open_house(parts=reads(row)) as house:
            new, checked = await drafts(house)
            await checked((await new(table(2))).id)
            assert (
                house.gateway.services.part(mailing_service).mailing(broken.id).state
                is MailingState.CHECKING
            )
            await house.gateway.services.part(mailing_service).delete(broken.id)
    said = [each for each in logs if each["event"] == "item.set_aside"]
    assert {each["item"] for each in said} == {broken.id}
    assert len(said) == 2, "once in each life"
    assert not [each for each in logs if each["event"] == "crashed"]


async def test_a_mailing_whose_turn_breaks_holds_no_other_up(open_desk, quick, monkeypatch):
    turn, broken = MailingSending._turn, set()

    async def turn_or_break(sending, sender):
        if sender.mailing_id in broken:
            raise OverflowError("Python int too large to convert to SQLite INTEGER")
        await turn(sending, sender)

    monkeypatch.setattr(MailingSending, "_turn", turn_or_break)
    async with open_desk() as desk:
        made = await desk.draft(table(1))
        broken.add(made.id)
        await desk.service.start(made.id)
        other = await desk.start(2)
        await desk.until(other.id, MailingState.DONE)
        (status,) = (
            each for each in desk.house.gateway.services.set_aside.statuses() if each.items
        )
        assert (status.loop, status.items) == ("mailings", (made.id,))
        broken.clear()
        await desk.until(made.id, MailingState.DONE)


async def test_one_organization_s_many_mailings_hold_no_other_s_up(open_house, quick, monkeypatch):
    monkeypatch.setattr(mailing_checking, "AT_ONCE_MAX", 2)
    monkeypatch.setattr(mailing_checking, "ROWS_AT_ONCE", 1)
    async with open_house(parts=ON_LOOP) as house:
        service, other = house.gateway.services.part(mailing_service), await house.organization()

        async def new(whose, rows):
            upload = await service.uploads.keep(whose.organization_id, table(rows), "people.csv")
            given = {"organization_id": whose.organization_id, "mode": Mode.LIVE, "upload": upload}
            return await service.create(NewMailing(created_by="a", text="Hello", **given))

        many = [await new(house.principal, 30) for _ in range(4)]
        one = await new(other, 2)
        await until_true(lambda: service.mailing(one.id).state is not MailingState.CHECKING)
        states = [service.mailing(each.id).state for each in many]
        assert states == [MailingState.CHECKING] * 4
