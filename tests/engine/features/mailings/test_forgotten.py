"""What a running service forgets of mailings: old ones' rows and files, an erased number, and those
of a deleted organization."""

from __future__ import annotations

import pytest
import trio
from tests.engine.features.mailings.people_tables import table

from patience import until_true
from risala.engine.features.mailings.records import MailingState
from risala.engine.features.tables.uploads import FOLDER
from risala.engine.model.errors import Conflict, NotFound

HOUR_S = 3600


def files(desk):
    """Names of uploads whose files are there."""
    folder = desk.house.gateway.services.repositories._store.journal.path.parent / FOLDER
    return {path.name for path in folder.glob("*.file")}


def row_count(desk):
    reader = desk.house.gateway.services.repositories._store.reader
    return reader.execute("SELECT count(*) FROM mailing_rows").fetchone()[0]


@pytest.mark.slow
async def test_after_thirty_days_rows_and_file_are_gone_and_counts_are_not(open_desk, quick, leap):
    async with open_desk() as desk:
        sent = await desk.start(3)
        await desk.until(sent.id, MailingState.DONE)
        draft = await desk.draft(table(2))
        assert len(files(desk)) == 2
        await trio.sleep(10)
        quick.jump(29 * 86_400)
        await leap(2 * HOUR_S)
        assert (row_count(desk), len(files(desk))) == (5, 2)
        quick.jump(86_400)
        await leap(2 * HOUR_S)
        assert (row_count(desk), files(desk)) == (0, set())
        kept = desk.service.mailing(sent.id)
        assert (kept.accepted, kept.keeps_rows) == (3, False)
        outcomes = (await desk.service.view(sent.id)).outcomes
        assert outcomes.sent + outcomes.delivered + outcomes.failed == 3
        with pytest.raises(Conflict, match="no longer kept"):
            await desk.service.start(draft.id)


@pytest.mark.slow
async def test_an_erased_number_gets_nothing_of_a_mailing_that_waits(open_desk, quick, leap):
    async with open_desk() as desk:
        draft = await desk.draft(table(3))
        erased = desk.service.mailing(draft.id)
        (first, *_) = (await desk.service.rows(draft.id, None, 0, 9)).rows
        mine = {"organization_id": desk.organization_id}
        asked = await desk.house.gateway.perform("number.forget", {"number": first.number, **mine})
        while True:
            done = await desk.house.gateway.perform("erasure.run", {"erasure_id": asked["id"]})
            if done["erasure"]["state"] == "done":
                break
        assert done["erasure"]["gone"]["mailing rows"] == 1
        await desk.service.start(erased.id)
        await desk.until(erased.id, MailingState.DONE)
        assert desk.counts(erased.id) == (0, 0, 1, 2, 0)
        assert len(desk.messages()) == 2
        quick.jump(86_400)
        await leap(2 * HOUR_S)
        assert files(desk) == set()


@pytest.mark.slow
async def test_a_deleted_organizations_mailing_sends_no_further(open_desk, quick, leap):
    async with open_desk() as desk:
        going = await desk.start(50, pace=10)
        await desk.when(going.id, lambda mailing: mailing.accepted > 0)
        mine = {"organization_id": desk.organization_id}
        await desk.house.gateway.perform("org.delete", {**mine, "name": "Test"})
        with pytest.raises(NotFound):
            desk.service.mailing(going.id)
        sent = len(desk.messages())
        await until_true(lambda: row_count(desk) == 0)
        await leap(HOUR_S)
        assert len(desk.messages()) == sent < 50
