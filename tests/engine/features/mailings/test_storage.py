"""What an organization stores in mailings and lists is counted, bounded and shown."""

from __future__ import annotations

import pytest
import trio
from tests.engine.features.mailings.people_tables import table

from risala.engine.features.lists.growing import ListGrowing
from risala.engine.features.mailings.records import MailingState
from risala.engine.features.mailings.stored.mailings import BYTES_MIN
from risala.engine.features.tables.records import Chosen
from risala.engine.model.errors import Conflict
from risala.engine.model.records.people.organizations import STORED_FULL

LIMIT = {"limits": {"stored_mb": 1}}
MB = 1_000_000
WIDE = b"name;phone\n" + b"".join(b"%s;3600%04d\n" % (b"x" * 900, each) for each in range(100))
"""A quarter of a megabyte; its rows take as much again."""
ALERT_S = 700
"""Alerts about organizations are looked for every ten minutes."""
CLEARED_S = 7200
"""What is deleted is gone by then."""


async def stored(desk):
    """What the page shows: by kind, how many, rows and bytes."""
    asked = {"organization_id": desk.organization_id}
    found = await desk.house.gateway.perform("kept.show", asked)
    assert found["storedBytesMax"] == MB
    return {each["name"]: (each["count"], each["rows"], each["bytes"]) for each in found["stored"]}


async def more(desk, made):
    """Drafts, until one is refused."""
    while len(made) < 20:
        made.append(await desk.draft(WIDE))


async def fill(desk):
    """All drafts that an organization may have."""
    made = []
    with pytest.raises(Conflict, match=STORED_FULL):
        await more(desk, made)
    return made


async def grow(lists, list_id):
    """A list, until it is refused."""
    for each in range(1200):
        await lists.add_person(list_id, f"+2223600{each:04}", {"name": "z" * 900})


async def test_a_mailing_counts_with_its_file_and_rows_until_they_are_gone(open_desk, quick, leap):
    async with open_desk(**LIMIT) as desk:
        made = await fill(desk)
        count, rows, size = (await stored(desk))["mailings"]
        assert (count, rows) == (len(made), 100 * len(made))
        assert size > len(made) * (2 * 100 * 900 + BYTES_MIN)
        assert size <= MB
        await desk.service.delete(made[0].id)
        await leap(CLEARED_S)
        assert (await stored(desk))["mailings"][0] == len(made) - 1
        for upload in {*desk.service.uploads._folder.glob("*.json")}:
            if upload.stem not in desk.service.uploads.held():
                await desk.service.uploads.drop(upload.stem)
        await desk.draft(WIDE)


async def test_an_ended_mailing_counts_too(open_desk, quick):
    async with open_desk(**LIMIT) as desk:
        made = await desk.draft(WIDE)
        await desk.service.start(made.id)
        await desk.service.stop(made.id)
        assert (await stored(desk))["mailings"][0] == 1
        assert len(await fill(desk)) == 3


async def test_another_reading_is_bounded_too(open_desk, quick, monkeypatch):
    async with open_desk(**LIMIT) as desk:
        made = await desk.draft(WIDE)

        async def size(*_):
            return MB

        monkeypatch.setattr(desk.service._files, "size", size)
        with pytest.raises(Conflict, match=STORED_FULL):
            await desk.service.read(made.id, Chosen(has_header=True))
        assert desk.service.mailing(made.id).state is MailingState.DRAFT


async def test_the_people_of_a_list_are_counted_as_they_come_and_go(open_desk, quick, leap):
    async with open_desk(**LIMIT) as desk:
        lists = desk.house.gateway.services.part(ListGrowing)
        made = (await lists.create(desk.organization_id, "A", None, None, who="a")).list
        await lists.add_person(made.id, "+22236000001", {"name": "x" * 900})
        await lists.add_person(made.id, "+22236000002", {"name": "y" * 900})
        count, people, size = (await stored(desk))["lists"]
        assert (count, people) == (1, 2)
        assert size == 2 * (900 + len("+22236000001") + len('[""]'))
        await lists.add_person(made.id, "+22236000001", {"name": ""})
        one = {"list_id": made.id, "number": "+22236000002"}
        await desk.house.gateway.perform("list.remove", one)
        assert (await stored(desk))["lists"] == (1, 1, len("+22236000001") + len('[""]'))
        number = {"organization_id": desk.organization_id, "number": "+22236000001"}
        await desk.house.gateway.perform("number.forget", number)
        await leap(CLEARED_S)
        assert (await stored(desk))["lists"] == (1, 0, 0)
        with pytest.raises(Conflict, match=STORED_FULL):
            await grow(lists, made.id)


async def test_an_alert_names_who_stores_much(open_desk, quick):
    async with open_desk(**LIMIT) as desk:
        await desk.draft(table(3))
        await trio.sleep(ALERT_S)
        assert not (await desk.house.gateway.perform("alert.list", {}))["alerts"]
        await fill(desk)
        lists = desk.house.gateway.services.part(ListGrowing)
        made = (await lists.create(desk.organization_id, "A", None, None, who="a")).list
        with pytest.raises(Conflict, match=STORED_FULL):
            await grow(lists, made.id)
        await trio.sleep(ALERT_S)
        found = await desk.house.gateway.perform("alert.list", {})
        (alert,) = [each for each in found["alerts"] if each["kind"] == "storage_full"]
        assert alert["subject"] == desk.organization_id
