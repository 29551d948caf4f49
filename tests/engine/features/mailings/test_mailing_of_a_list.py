"""A mailing takes its rows from a recipient list."""

import pytest
import trio

from risala.engine.features.lists.growing import ListGrowing
from risala.engine.features.mailings.records import MailingSource, MailingState, NewMailing
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.states import Mode

ONE, TWO = "+22236000001", "+22236000002"


def new(desk, list_id, text="Bonjour {{Nom}}"):
    return NewMailing(
        organization_id=desk.organization_id,
        mode=Mode.LIVE,
        created_by="amina",
        text=text,
        list_id=list_id,
    )


@pytest.fixture
async def desk(open_desk, autojump_clock: trio.testing.MockClock):
    async with open_desk() as opened:
        yield opened


async def test_each_person_of_a_list_gets_their_own_text(desk, autojump_clock):
    lists = desk.house.gateway.services.part(ListGrowing)
    made = (await lists.create(desk.organization_id, "Parents", None, None, who="amina")).list
    await lists.add_person(made.id, TWO, {"nom": "علي"})
    await lists.add_person(made.id, ONE, {"nom": "Amina", "classe": "4"})
    await desk.house.gateway.perform(
        "inbound.opt_outs", {"organization_id": desk.organization_id, "heeds": True}
    )
    await desk.house.gateway.perform(
        "inbound.opt_out", {"organization_id": desk.organization_id, "number": TWO}
    )
    mailing = await desk.service.create(new(desk, made.id))
    await desk.until(mailing.id, MailingState.DRAFT)
    found = desk.service.mailing(mailing.id)
    assert (found.name, found.source) == ("Parents", MailingSource.LIST)
    assert found.columns == ("number", "nom", "classe")
    assert (found.rows, found.ready, found.bad) == (2, 1, 1), "who opted out gets nothing"
    await desk.service.change(mailing.id, {"from_hour": 0, "to_hour": 24})
    await desk.service.start(mailing.id)
    await desk.until(mailing.id, MailingState.DONE)
    # The mailing keeps its rows when the list is gone.
    await desk.house.gateway.perform("list.delete", {"list_id": made.id})
    assert len((await desk.service.rows(mailing.id, None, 0, 10)).rows) == 2


async def test_nobody_and_others_lists_make_no_mailing(desk, autojump_clock):
    lists = desk.house.gateway.services.part(ListGrowing)
    empty = (await lists.create(desk.organization_id, "Nobody", None, None, who="amina")).list
    with pytest.raises(Conflict, match="nobody on this list"):
        await desk.service.create(new(desk, empty.id))
    other = (await desk.house.organization()).organization_id
    foreign = (await lists.create(other, "Parents", None, "36000001", who="amina")).list
    with pytest.raises(NotFound):
        await desk.service.create(new(desk, foreign.id))
